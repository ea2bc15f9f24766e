import { openAiJobs } from '../../formats/jobs/openai-jobs.ts'

/** By the guide to batches at platform.kimi.ai. It states no bounds, so they are the smallest of its kind. */
export const moonshotBatchJobs = openAiJobs({
  name: 'moonshot',
  limits: { items: 10_000, bytes: 100_000_000, windowMs: 86_400_000 },
  formats: ['chat'],
  operations: { '/chat/completions': '/v1/chat/completions' },
  listedJobs: 20,
})
