import { openAiJobs } from '../../formats/jobs/openai-jobs.ts'

/** https://platform.openai.com/docs/guides/batch */
export const openAiBatchJobs = openAiJobs({
  name: 'openai',
  limits: { items: 50_000, bytes: 200_000_000, texts: 50_000, windowMs: 86_400_000 },
  operations: {
    '/chat/completions': '/v1/chat/completions',
    '/responses': '/v1/responses',
    '/embeddings': '/v1/embeddings',
  },
})
