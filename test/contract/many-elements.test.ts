import { afterAll, describe, expect, test } from 'bun:test'
import { leanOf } from '../../src/json/set-aside-texts.ts'
import { at, readAnswer, startTestGateway, until } from '../support/gateway.ts'

// A million tiny messages are 30 MB, and parsing them would block all other calls: a request has at most 100,000
// messages, parts, calls and tools together.

const gateway = await startTestGateway()
afterAll(() => gateway.stop())

const most = 100_000
const times = (count: number, each: string): string => Array.from({ length: count }, () => each).join()

const part = '{"type":"text","text":"x"}'
const call = '{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}'
const tool = '{"type":"function","function":{"name":"f"}}'
const ask = '{"role":"user","content":"x"}'

const chat = (messages: string, more = '') => `{"model":"openai/gpt-4o-mini","messages":[${messages}]${more}}`
const responses = (input: string) => `{"model":"openai/gpt-4o-mini","input":[${input}]}`
const messages = (content: string) =>
  `{"model":"openai/gpt-4o-mini","max_tokens":9,"messages":[{"role":"user","content":[${content}]}]}`

/** Bodies with one element more than a request may have, by the path and the member that has them. */
const tooMany: readonly [path: string, member: string, what: string, body: string][] = [
  ['/chat/completions', 'messages', 'messages', chat(times(most + 1, ask))],
  ['/chat/completions', 'messages', 'a million messages', chat(times(1_000_000, ask))],
  ['/chat/completions', 'messages', 'parts', chat(`{"role":"user","content":[${times(most, part)}]}`)],
  [
    '/chat/completions',
    'messages',
    'calls',
    chat(`${ask},{"role":"assistant","content":null,"tool_calls":[${times(most, call)}]}`),
  ],
  ['/chat/completions', 'tools', 'tools', chat(ask, `,"tools":[${times(most, tool)}]`)],
  ['/responses', 'input', 'items', responses(times(most + 1, ask))],
  [
    '/responses',
    'input',
    'parts',
    responses(`{"role":"user","content":[${times(most, '{"type":"input_text","text":"x"}')}]}`),
  ],
  ['/messages', 'messages', 'blocks', messages(times(most, part))],
]

describe('a request of more elements than it may have is 400', () => {
  test.each(tooMany)('POST %s names %s that has too many %s', async (path, member, _, body) => {
    const { status, json } = await readAnswer(await gateway.request(path, { method: 'POST', body }))
    expect([status, String(at(json, 'error.message'))]).toEqual([
      400,
      expect.stringContaining(`"${member}" brings the request to more than 100000 elements`),
    ])
  })
})

test('a request of as many elements as it may have is read, whatever its texts say', async () => {
  const text = String.raw`{"type":"text","text":"[{[{[{,{,{ \" ,{"}`
  const body = chat(`{"role":"user","content":[${times(most - 1, text)}]}`)
  expect(await leanOf(Buffer.from(body))).not.toBeNull()
})

test('a batch item of more elements fails by itself', async () => {
  const few = `{"custom_id":"a","body":{"messages":[${ask}]}}`
  const many = `{"custom_id":"b","body":{"messages":[${times(most + 1, ask)}]}}`
  const body = `{"endpoint":"/v1/chat/completions","model":"openai/gpt-4o-mini","requests":[${few},${many}]}`
  const { status, json } = await readAnswer(await gateway.request('/batches', { method: 'POST', body }))
  expect(status).toBe(202)
  const ended = await until(
    () => gateway.get(`/batches/${String(json['id'])}`),
    ({ json: polled }) => ['completed', 'failed'].includes(String(polled['status'])),
    30_000,
  )
  const results = ended.json['results'] as { error: { message: string } | null }[]
  expect(results.map(({ error }) => error?.message ?? 'answered')).toEqual([
    'answered',
    expect.stringContaining('more than 100000 elements'),
  ])
})
