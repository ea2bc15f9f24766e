import { openAiJobs } from '../../formats/jobs/openai-jobs.ts'

/** OpenAI's files and batches at a server of the operator's; what differs there the configuration says. */
export const customBatchJobs = openAiJobs({
  name: 'custom',
  limits: { items: 50_000, bytes: 100_000_000, texts: 50_000, windowMs: 86_400_000 },
  formats: ['chat', 'embeddings'],
  operations: { '/chat/completions': '/v1/chat/completions', '/embeddings': '/v1/embeddings' },
})
