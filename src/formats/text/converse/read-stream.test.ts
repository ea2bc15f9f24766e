import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'bun:test'
import { joinEvents } from '../../../canonical/text/answer.ts'
import type { TextEvent } from '../../../canonical/text/events.ts'
import { testContext } from '../testing.ts'
import { readConverseAnswer } from './read-answer.ts'
import { createConverseReader } from './read-stream.ts'

/** A frame as Amazon's documentation describes it, with text headers. */
function frameOf(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const written = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(Buffer.byteLength(value))
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ])
    }),
  )
  const body = Buffer.from(payload)
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(16 + written.length + body.length, 0)
  prelude.writeUInt32BE(written.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const all = Buffer.concat([prelude, written, body])
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(all))
  return Buffer.concat([all, sum])
}

const event = (type: string, value: object): Buffer =>
  frameOf(
    { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' },
    JSON.stringify({ ...value, p: 'abc' }),
  )
const exception = (type: string, message: string): Buffer =>
  frameOf({ ':exception-type': type, ':message-type': 'exception' }, JSON.stringify({ message }))
const delta = (contentBlockIndex: number, value: object) =>
  event('contentBlockDelta', { contentBlockIndex, delta: value })
const start = (contentBlockIndex: number, toolUseId: string, name: string) =>
  event('contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId, name } } })
const stop = (contentBlockIndex: number) => event('contentBlockStop', { contentBlockIndex })
const usage = {
  inputTokens: 5,
  outputTokens: 7,
  cacheReadInputTokens: 11,
  cacheWriteInputTokens: 13,
  cacheDetails: [
    { ttl: '5m', inputTokens: 9 },
    { ttl: '1h', inputTokens: 4 },
  ],
}

const whole = [
  event('messageStart', { role: 'assistant' }),
  delta(0, { reasoningContent: { text: 'Hm — ' } }),
  delta(0, { reasoningContent: { text: 'ja' } }),
  delta(0, { reasoningContent: { signature: 'c2ln' } }),
  stop(0),
  delta(1, { text: 'Ein »Wort« ' }),
  delta(1, { text: '🙂' }),
  stop(1),
  start(2, 'tooluse_1', 'add'),
  delta(2, { toolUse: { input: '{"a":' } }),
  delta(2, { toolUse: { input: '12345678901234567890}' } }),
  stop(2),
  event('messageStop', { stopReason: 'tool_use' }),
  event('metadata', { usage, metrics: { latencyMs: 3 } }),
]

function eventsOf(bytes: Uint8Array, cuts: readonly number[] = []): TextEvent[] {
  const reader = createConverseReader(testContext)
  const events: TextEvent[] = []
  let from = 0
  for (const cut of [...cuts, bytes.length]) {
    events.push(...reader.push(bytes.subarray(from, cut)))
    from = cut
  }
  return [...events, ...reader.end()]
}

/** The last event, which is a failure: its type, message and cause. */
function failureOf(bytes: Uint8Array): [string, string] {
  const last = eventsOf(bytes).at(-1)
  if (last?.type !== 'failure') throw new Error(`it ended with ${last?.type}`)
  const { type, message } = last.error
  return [type, message]
}

describe('a stream', () => {
  test('is read the same wherever its reads end', () => {
    const bytes = Buffer.concat(whole)
    const expected = joinEvents(eventsOf(bytes))
    expect(
      expected.choices[0]?.parts.map(({ head, text, signature }) => [head.type, text, signature]),
    ).toEqual([
      ['reasoning', 'Hm — ja', 'c2ln'],
      ['text', 'Ein »Wort« 🙂', null],
      ['tool_call', '{"a":12345678901234567890}', null],
    ])
    expect(expected.choices[0]?.finish?.reason).toBe('tool_calls')
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const answer = joinEvents(eventsOf(bytes, [cut]))
      if (!Bun.deepEquals(answer, expected)) throw new Error(`cut at ${cut} it is another answer`)
    }
    const everywhere = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1)
    expect(joinEvents(eventsOf(bytes, everywhere))).toEqual(expected)
  })

  test('has pictures, which may come in pieces', () => {
    const piece = (text: string) =>
      delta(0, { image: { source: { bytes: Buffer.from(text).toString('base64') } } })
    const picture = [
      event('contentBlockStart', { contentBlockIndex: 0, start: { image: { format: 'png' } } }),
      piece('abcd'),
      piece('efghi'),
      stop(0),
      ...whole.slice(-2),
    ]
    const { choices } = joinEvents(eventsOf(Buffer.concat(picture)))
    const base64 = Buffer.from('abcdefghi').toString('base64')
    expect(choices[0]?.parts.map(({ head }) => head)).toEqual([
      { type: 'image', mediaType: 'image/png', base64 },
    ])
  })

  test('counts what was read from the cache and written to it as input', () => {
    const { usage: read } = joinEvents(eventsOf(Buffer.concat(whole)))
    expect(read?.usage).toMatchObject({
      inputTokens: 29,
      cachedInputTokens: 11,
      cacheWriteTokens: 13,
      cacheWriteHourTokens: 4,
      outputTokens: 7,
    })
  })

  test('that ends before its reason is broken off', () => {
    expect(failureOf(Buffer.concat(whole.slice(0, 7)))[0]).toBe('provider_failed')
    expect(failureOf(Buffer.concat([...whole.slice(0, 7), (whole[7] as Buffer).subarray(0, 20)]))[0]).toBe(
      'provider_failed',
    )
  })

  test('with a wrong checksum, or a length that no frame has, is broken off', () => {
    for (const place of [2, 9, 40]) {
      const bytes = Buffer.concat(whole)
      bytes[place] = (bytes[place] ?? 0) ^ 0xff
      expect(failureOf(bytes)[0]).toBe('provider_failed')
    }
    const last = Buffer.concat(whole.slice(0, 2))
    last[last.length - 1] = (last.at(-1) ?? 0) ^ 1
    expect(failureOf(last)[0]).toBe('provider_failed')
  })

  test('says why the provider broke off', () => {
    const after = (frame: Buffer) => failureOf(Buffer.concat([...whole.slice(0, 7), frame]))
    expect(after(exception('throttlingException', 'Too many requests'))[0]).toBe('upstream_rate_limited')
    expect(after(exception('validationException', 'The input is too odd'))).toEqual([
      'invalid_request',
      'The provider refused the request. It said: The input is too odd',
    ])
    expect(after(exception('modelTimeoutException', 'late'))[0]).toBe('provider_timeout')
    expect(after(exception('serviceUnavailableException', 'busy'))[0]).toBe('provider_overloaded')
    expect(after(exception('internalServerException', 'sorry'))[0]).toBe('provider_failed')
    const error = { ':message-type': 'error', ':error-code': 'InternalError', ':error-message': 'sorry' }
    expect(after(frameOf(error, ''))[0]).toBe('provider_failed')
  })

  test('without padding, and with calls at once, keeps each call’s arguments together', () => {
    const bytes = Buffer.concat([
      event('messageStart', { role: 'assistant' }),
      start(0, 't1', 'a'),
      start(1, 't2', 'b'),
      delta(1, { toolUse: { input: '{"y":' } }),
      delta(0, { toolUse: { input: '{"x":1}' } }),
      delta(1, { toolUse: { input: '2}' } }),
      stop(0),
      stop(1),
      event('messageStop', { stopReason: 'tool_use' }),
    ])
    const parts = joinEvents(eventsOf(bytes)).choices[0]?.parts
    expect(parts?.map(({ head, text }) => [head.type === 'tool_call' && head.id, text])).toEqual([
      ['t1', '{"x":1}'],
      ['t2', '{"y":2}'],
    ])
  })
})

describe('a whole answer', () => {
  const answerOf = (content: object[], more: object = {}) =>
    readConverseAnswer(
      Buffer.from(
        JSON.stringify({
          output: { message: { role: 'assistant', content } },
          stopReason: 'end_turn',
          ...more,
        }),
      ),
    )

  test('has the same parts', () => {
    const { choices } = answerOf([
      { reasoningContent: { reasoningText: { text: 'hm', signature: 'c2ln' } } },
      { reasoningContent: { redactedContent: 'c2VhbA==' } },
      { text: 'yes' },
      { toolUse: { toolUseId: 't1', name: 'add', input: { a: 1 } } },
    ])
    expect(
      choices[0]?.parts.map(({ head, text, signature, sealed }) => [head.type, text, signature, sealed]),
    ).toEqual([
      ['reasoning', 'hm', 'c2ln', null],
      ['reasoning', '', null, 'c2VhbA=='],
      ['text', 'yes', null, null],
      ['tool_call', '{"a":1}', null, null],
    ])
    expect(choices[0]?.finish).toMatchObject({ reason: 'tool_calls', native: 'end_turn' })
  })

  test('ends in the contract’s words', () => {
    const reasonOf = (stopReason: string) =>
      answerOf([{ text: 'x' }], { stopReason }).choices[0]?.finish?.reason
    expect(reasonOf('max_tokens')).toBe('length')
    expect(reasonOf('stop_sequence')).toBe('stop')
    expect(reasonOf('guardrail_intervened')).toBe('content_filter')
    expect(reasonOf('content_filtered')).toBe('content_filter')
    expect(reasonOf('model_context_window_exceeded')).toBe('length')
    expect(reasonOf('malformed_tool_use')).toBe('error')
  })

  test('without content cannot be read', () => {
    expect(() => readConverseAnswer(Buffer.from('{"output":{}}'))).toThrow('could not be read')
  })
})
