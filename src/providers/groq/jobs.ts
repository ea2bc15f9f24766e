import { openAiJobs } from '../../formats/jobs/openai-jobs.ts'

/**
 * Chat alone, in files of 100 MB, as its SDK (npm groq-sdk 1.6.0) says; other sources have 200 MB. The path in a line lacks
 * the `/openai` of the live one. https://console.groq.com/docs/batch
 */
export const groqBatchJobs = openAiJobs({
  name: 'groq',
  limits: { items: 50_000, bytes: 100_000_000, windowMs: 86_400_000 },
  formats: ['chat'],
  operations: { '/chat/completions': '/v1/chat/completions' },
  isListedWhole: true,
})
