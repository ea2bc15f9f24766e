import { openAiJobs } from '../../formats/jobs/openai-jobs.ts'

/**
 * The batch service of Zhipu's domestic address (open.bigmodel.cn), with OpenAI's files and batches for chat; the
 * international address has none. It would delete the input file itself, which the gateway does. Its SDK (PyPI zhipuai
 * 2.1.5.20250825) has the same paths and members; its type of `endpoint` has OpenAI's addresses, and the page `/v4`.
 * https://docs.bigmodel.cn/cn/guide/tools/batch
 */
export const zhipuBatchJobs = openAiJobs({
  name: 'zhipu',
  limits: { items: 50_000, bytes: 100_000_000, windowMs: 86_400_000 },
  formats: ['chat'],
  operations: { '/chat/completions': '/v4/chat/completions' },
  window: null,
  members: { auto_delete_input_file: false },
})
