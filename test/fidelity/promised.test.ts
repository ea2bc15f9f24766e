import { afterAll, expect, test } from 'bun:test'
import { at } from '../support/gateway.ts'
import { models, requestOf, startLab } from './lab.ts'
import { saying } from './responses-replies.ts'
import type { Caller, Json } from './table.ts'

// A form that a provider is only told of in the prompt is checked when the answer has come.

const lab = await startLab()
afterAll(() => lab.stop())

const schema = {
  type: 'object',
  properties: { city: { $ref: '#/$defs/name' }, from: { type: 'string', format: 'date' } },
  required: ['city'],
  additionalProperties: false,
  $defs: { name: { type: 'string', minLength: 2 } },
}

const asks: Readonly<Record<Caller, Json>> = {
  chat: { response_format: { type: 'json_schema', json_schema: { name: 'place', schema } } },
  responses: { text: { format: { type: 'json_schema', name: 'place', schema } } },
  messages: { output_config: { format: { type: 'json_schema', schema } } },
}
const pairs = [
  ['chat', models.chatWithoutSchema],
  ['chat', models.messagesOlder],
  ['responses', models.chatWithoutSchema],
  ['responses', models.messagesOlder],
  ['messages', models.chatWithoutSchema],
  // Its schema is not as strict as this format's strict mode wants it.
  ['messages', models.responses],
  ['chat', models.gemini],
  ['messages', models.gemini],
  ['chat', models.converse],
  ['responses', models.converse],
  ['messages', models.converse],
  // It knows no lengths.
  ['chat', models.cohere],
  ['responses', models.cohere],
  ['messages', models.cohere],
] as const

function answer(text: string, { finish, stop }: { finish: string; stop: string }): void {
  lab.answer({
    chat: { message: { content: text }, finish },
    responses: { output: [saying(text)], ...(finish === 'length' ? { end: cutOff } : {}) },
    messages: { content: [{ type: 'text', text }], stop: { stop_reason: stop } },
    gemini: { parts: [{ text }], finish: finish === 'length' ? 'MAX_TOKENS' : 'STOP' },
    converse: { content: [{ text }], stop },
    cohere: { content: [{ type: 'text', text }], finish: finish === 'length' ? 'MAX_TOKENS' : 'COMPLETE' },
  })
}

const cutOff = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
const ended = { finish: 'stop', stop: 'end_turn' }
const isError = /event: error|"error":\{|response\.failed/

for (const [caller, model] of pairs) {
  test(`${caller} to ${model}: an answer that fits passes, whole and streamed`, async () => {
    // What a format says is a note, by the standard.
    answer('{"city":"Oslo","from":"one day"}', ended)
    const request = requestOf(caller, model, asks[caller])
    expect(await lab.ask(caller, request)).toMatchObject({ status: 200 })
    const streamed = await lab.ask(caller, { ...request, stream: true })
    expect([streamed.status, isError.test(streamed.text)]).toEqual([200, false])
    answer('```json\n{"city":"Oslo"}\n```', ended)
    const fenced = await lab.ask(caller, request)
    expect([fenced.status, fenced.text.includes('```')]).toEqual([200, false])
  })

  test(`${caller} to ${model}: one that does not fit is 422, and inside a stream an error`, async () => {
    const request = requestOf(caller, model, asks[caller])
    for (const text of ['{"city":"O"}', '{"town":"Oslo"}', '```json\n{"city":"O"}\n```', '"Oslo"']) {
      answer(text, ended)
      const whole = await lab.ask(caller, request)
      expect([text, whole.status, at(whole.json, 'error.error_type')]).toEqual([text, 422, 'unprocessable'])
      const streamed = await lab.ask(caller, { ...request, stream: true })
      expect([text, isError.test(streamed.text)]).toEqual([text, true])
    }
  })

  test(`${caller} to ${model}: one that was cut off is shown as it is`, async () => {
    answer('{"city":"Os', { finish: 'length', stop: 'max_tokens' })
    const request = requestOf(caller, model, asks[caller])
    expect(await lab.ask(caller, request)).toMatchObject({ status: 200 })
    const streamed = await lab.ask(caller, { ...request, stream: true })
    expect([streamed.status, isError.test(streamed.text)]).toEqual([200, false])
  })
}

test('any JSON object: a text, a list and a number are none', async () => {
  const request = requestOf('chat', models.messages, { response_format: { type: 'json_object' } })
  for (const [text, status] of [
    ['{}', 200],
    ['[1]', 422],
    ['1', 422],
    ['Well, {}', 422],
  ] as const) {
    answer(text, ended)
    expect([text, (await lab.ask('chat', request)).status]).toEqual([text, status])
  }
})

test('a schema whose references double at every step does not keep anybody waiting', async () => {
  const level = (next: string): Json => ({ allOf: [{ $ref: next }, { $ref: next }] })
  const names = Array.from({ length: 40 }, (_, index) => `n${index}`)
  const defs = Object.fromEntries(
    names.map((name, index) => [
      name,
      level(index + 1 < names.length ? `#/$defs/n${index + 1}` : '#/$defs/end'),
    ]),
  )
  const bomb = { type: 'object', $ref: '#/$defs/n0', $defs: { ...defs, end: { type: 'object' } } }
  answer('{}', ended)
  const request = requestOf('chat', models.messagesOlder, {
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema: bomb } },
  })
  // Without a bound it would take longer than the test may.
  expect((await lab.ask('chat', request)).status).toBe(422)
})

test('an endpoint that could only approximate is not asked by who requires its parameters', async () => {
  answer('{"city":"Oslo"}', ended)
  const request = requestOf('chat', models.messagesOlder, asks.chat)
  const { status, json } = await lab.ask('chat', { ...request, provider: { require_parameters: true } })
  expect([status, String(at(json, 'error.message')).includes('require_parameters')]).toEqual([404, true])
  expect(lab.seen).toEqual([])
})
