import { describe, expect, test } from 'bun:test'
import { joinEvents } from '../../../canonical/text/answer.ts'
import type { TextEvent } from '../../../canonical/text/events.ts'
import { testContext } from '../testing.ts'
import { createCohereReader } from './read-stream.ts'

// Events after https://docs.cohere.com/v2/docs/streaming; an error is told by the last event.

const event = (wire: { type: string } & Record<string, unknown>): string =>
  `event: ${wire.type}\ndata: ${JSON.stringify(wire)}\n\n`
const begun = [
  event({ id: 'c1', type: 'message-start', delta: { message: { role: 'assistant' } } }),
  event({
    type: 'content-start',
    index: 0,
    delta: { message: { content: { type: 'thinking', thinking: '' } } },
  }),
  event({ type: 'content-delta', index: 0, delta: { message: { content: { thinking: 'Grüße?' } } } }),
  event({ type: 'content-end', index: 0 }),
  event({ type: 'content-start', index: 1, delta: { message: { content: { type: 'text', text: '' } } } }),
  event({ type: 'content-delta', index: 1, delta: { message: { content: { text: 'Grüße, ' } } } }),
  event({ type: 'content-delta', index: 1, delta: { message: { content: { text: 'Oslo.' } } } }),
  event({ type: 'content-end', index: 1 }),
].join('')
const usage = {
  billed_units: { input_tokens: 3, output_tokens: 7 },
  tokens: { input_tokens: 483, output_tokens: 9 },
}
const ended = (reason: string, more: object = {}): string =>
  event({ type: 'message-end', delta: { finish_reason: reason, usage, ...more } })

function read(stream: string, cut = stream.length): readonly TextEvent[] {
  const reader = createCohereReader(testContext)
  const bytes = Buffer.from(stream)
  return [...reader.push(bytes.subarray(0, cut)), ...reader.push(bytes.subarray(cut)), ...reader.end()]
}

const failureIn = (events: readonly TextEvent[]) => events.find((each) => each.type === 'failure')?.error

describe('a stream of Cohere', () => {
  test('is the same wherever its reads end, and what is billed is counted', () => {
    const stream = begun + ended('COMPLETE')
    for (let cut = 0; cut <= Buffer.byteLength(stream); cut += 1) {
      const { choices, usage: counted } = joinEvents(read(stream, cut))
      const parts = choices[0]?.parts.map(({ head, text }) => [head.type, text])
      expect(parts).toEqual([
        ['reasoning', 'Grüße?'],
        ['text', 'Grüße, Oslo.'],
      ])
      expect(counted?.usage).toMatchObject({ inputTokens: 3, outputTokens: 7 })
    }
  })

  test('that ends with an error has failed', () => {
    const error = failureIn(read(begun + ended('ERROR', { error: 'internal server error' })))
    expect(error?.type).toBe('provider_failed')
    expect(failureIn(read(begun + ended('TIMEOUT')))?.type).toBe('provider_timeout')
  })

  test('that ends without its last event has failed', () => {
    expect(failureIn(read(begun))?.type).toBe('provider_failed')
    expect(failureIn(read(begun + ended('COMPLETE')))).toBeUndefined()
  })
})
