import { openAiJobs } from '../../formats/jobs/openai-jobs.ts'

/** Its bounds are not documented, so they are the smallest of its kind. https://deepinfra.com/blog/batch-api */
export const deepinfraBatchJobs = openAiJobs({
  name: 'deepinfra',
  limits: { items: 50_000, bytes: 100_000_000, windowMs: 86_400_000 },
  formats: ['chat', 'embeddings'],
  operations: { '/chat/completions': '/v1/chat/completions', '/embeddings': '/v1/embeddings' },
})
