import { expect, test } from 'bun:test'
import { fromTemplate, toTemplate } from './answer-template.ts'

const sourceId = 'gen-1750000000-00abcdefghijklmnopqr'
const generationId = 'gen-1750000900-00zyxwvutsrqponmlkji'
const nowMs = 1_750_000_900_500

async function again(body: string, isStreamed = false): Promise<string | null> {
  const template = await toTemplate(Buffer.from(body), { generationId: sourceId, isStreamed })
  return template === null ? null : fromTemplate(template, { sourceId, generationId, nowMs })
}

test('an answer keeps its bytes but for id, time, usage and metadata', async () => {
  const body = `{"id":"${sourceId}","created":1750000000,"x":1.50,"choices":[{"message":{"content":"created\\":1 \\u00e9"}}],"usage":{"a":7,"b":{"c":1e-7,"d":null,"e":true}},"openrouter_metadata":{"a":1},"n":12345678901234567890}`
  expect(await again(body)).toBe(
    `{"id":"${generationId}","created":1750000900,"x":1.50,"choices":[{"message":{"content":"created\\":1 \\u00e9"}}],"usage":{"a":0,"b":{"c":0,"d":null,"e":true}},"n":12345678901234567890}`,
  )
})

test('an input of a tool that is called created stays', async () => {
  const body = `{"id":"${sourceId}","content":[{"type":"tool_use","input":{"created":1750000000,"usage":{"a":5}}}],"usage":{"input_tokens":5}}`
  expect(await again(body)).toContain('"input":{"created":1750000000,"usage":{"a":5}}')
})

test('a stream keeps its frames, and members of the answer within an event change too', async () => {
  const stream = [
    'event: response.created',
    `data: {"type":"response.created","response":{"id":"${sourceId}","created_at":1750000000,"completed_at":null,"usage":null}}`,
    '',
    ': a comment',
    'event: response.completed',
    `data: {"type":"response.completed","response":{"id":"${sourceId}","created_at":1750000000,"completed_at":1750000002,"output":[{"id":"msg_${sourceId}-0"}],"usage":{"input_tokens":3,"cost":0.1}}}`,
    '',
    'data: [DONE]',
    '',
  ].join('\n')
  expect(await again(stream, true)).toBe(
    [
      'event: response.created',
      `data: {"type":"response.created","response":{"id":"${generationId}","created_at":1750000900,"completed_at":null,"usage":null}}`,
      '',
      ': a comment',
      'event: response.completed',
      `data: {"type":"response.completed","response":{"id":"${generationId}","created_at":1750000900,"completed_at":1750000900,"output":[{"id":"msg_${generationId}-0"}],"usage":{"input_tokens":0,"cost":0}}}`,
      '',
      'data: [DONE]',
      '',
    ].join('\n'),
  )
})

test('an answer that failed or cannot be read is not kept', async () => {
  expect(await again('{"error":{"code":500}}')).toBeNull()
  expect(await again('{"id":')).toBeNull()
  expect(await again('data: {"choices":[],"error":{"code":502}}\n\n', true)).toBeNull()
  expect(await again('event: error\ndata: {"type":"error"}\n\n', true)).toBeNull()
  expect(await again('event: response.failed\ndata: {"type":"response.failed"}\n\n', true)).toBeNull()
  expect(await again('{"error":null,"id":"x"}')).not.toBeNull()
})
