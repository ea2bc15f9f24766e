import { afterAll, expect, test } from 'bun:test'
import { at, readAnswer, startTestGateway, until } from '../support/gateway.ts'

// A program that reads the first of two equal members and one that reads the last would see different requests.

const gateway = await startTestGateway()
afterAll(() => gateway.stop())

const chat = '"model":"openai/gpt-4o-mini"'
const messages = '"messages":[{"role":"user","content":"hi"}]'
const provider = '"provider":{"only":["nobody"],"only":["sandbox"]}'
const item = `{"custom_id":"a","body":{${messages}}}`
const batch = '"endpoint":"/v1/chat/completions","model":"openai/gpt-4o-mini"'

const bodies: readonly [path: string, body: string][] = [
  ['/chat/completions', `{${chat},${messages},${provider}}`],
  ['/chat/completions', `{${chat},"messages":[{"role":"user","role":"system","content":"hi"}]}`],
  [
    '/chat/completions',
    `{${chat},"messages":[{"role":"user","content":[{"type":"text","text":"a","text":"b"}]}]}`,
  ],
  [
    '/chat/completions',
    `{${chat},${messages},"stream_options":{"include_usage":true,"include_usage":false}}`,
  ],
  ['/embeddings', `{"model":"openai/text-embedding-3-small","input":"hi",${provider}}`],
  ['/audio/speech', '{"model":"openai/tts-1","input":"hi","voice":"alloy","input":"longer"}'],
  ['/audio/speech', `{"model":"openai/tts-1","input":"hi","voice":"alloy",${provider}}`],
  [
    '/audio/transcriptions',
    '{"model":"openai/whisper-1","input_audio":{"format":"wav","format":"mp3","data":"AAAA"}}',
  ],
  [
    '/audio/transcriptions',
    `{"model":"openai/whisper-1","input_audio":{"format":"wav","data":"AAAA"},${provider}}`,
  ],
  ['/batches', `{${batch},"provider":{"only":["nobody"],"only":["sandbox"]},"requests":[${item}]}`],
  ['/batches', `{${batch},"requests":[{"custom_id":"a","custom_id":"b","body":{${messages}}}]}`],
]

test.each(bodies)('a member that an object has twice is refused: POST %s %s', async (path, body) => {
  const { status, json } = await readAnswer(await gateway.request(path, { method: 'POST', body }))
  expect([status, String(at(json, 'error.message'))]).toEqual([400, expect.stringContaining('twice')])
})

test('a member of the settings that appears twice is refused', async () => {
  const body = '{"is_filtered_model_catalog_enabled":false,"is_filtered_model_catalog_enabled":true}'
  const key = gateway.managementKey
  const response = await gateway.request('/organization/settings', { method: 'PATCH', body, key })
  expect(response.status).toBe(400)
})

test('a batch item whose body has a member twice fails by itself', async () => {
  const twice = [
    `{"custom_id":"b","body":{"stream":true,"stream":false,${messages}}}`,
    '{"custom_id":"c","body":{"messages":[{"role":"user","role":"system","content":"hi"}]}}',
  ]
  const body = `{${batch},"requests":[${item},${twice.join()}]}`
  const { status, json } = await readAnswer(await gateway.request('/batches', { method: 'POST', body }))
  expect(status).toBe(202)
  const ended = await until(
    () => gateway.get(`/batches/${String(json['id'])}`),
    ({ json: polled }) => polled['status'] === 'completed',
    30_000,
  )
  const results = ended.json['results'] as { error: { message: string } | null }[]
  expect(results.map(({ error }) => error?.message ?? 'answered')).toEqual([
    'answered',
    expect.stringContaining('"stream" appears twice'),
    expect.stringContaining('"role" appears twice'),
  ])
})
