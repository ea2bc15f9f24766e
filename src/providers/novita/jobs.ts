import { openAiJobs } from '../../formats/jobs/openai-jobs.ts'

/**
 * OpenAI's files and batches for chat. The request that creates a batch takes no metadata, so that a lost one is found by its
 * file. No bounds are stated, so they are the smallest of its kind; the window is 24 or 48 hours, by the page.
 * https://novita.ai/docs/guides/llm-batch-api
 */
export const novitaBatchJobs = openAiJobs({
  name: 'novita',
  limits: { items: 50_000, bytes: 100_000_000, windowMs: 86_400_000 },
  formats: ['chat'],
  operations: { '/chat/completions': '/v1/chat/completions' },
  hasBareLines: true,
  foundBy: 'file',
})
