import { expect, test } from 'bun:test'
import { zhipuBatchJobs as jobs } from './jobs.ts'

test('creates a batch as the page of Zhipu’s domestic address has it, and keeps the input until it is removed', () => {
  const operation = jobs.operationOf({ path: '/chat/completions', headers: {}, model: 'glm-4-flash' }) ?? ''
  const { method, path, body } = jobs.create({ nonce: 'abc', operation, fileId: 'file-1', lines: null })
  expect([method, path, JSON.parse(String(body))]).toEqual([
    'POST',
    '/batches',
    {
      input_file_id: 'file-1',
      endpoint: '/v4/chat/completions',
      metadata: { headrace_job: 'abc' },
      auto_delete_input_file: false,
    },
  ])
  const line = jobs.encodeLine({ id: 'h1_0', operation, body: Buffer.from('{}') })
  expect(JSON.parse(Buffer.from(line).toString())).toEqual({
    custom_id: 'h1_0',
    method: 'POST',
    url: '/v4/chat/completions',
    body: {},
  })
})
