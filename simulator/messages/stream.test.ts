import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../json.ts'
import { ask, at, namedEventsOf, simulatorForTests } from '../testing.ts'

const simulator = simulatorForTests()
const path = '/messages'
const tools = ['get_weather', 'get_time'].map((name) => ({
  name,
  input_schema: { type: 'object', properties: name === 'get_time' ? {} : { city: { type: 'string' } } },
}))

async function stream(more: JsonObject = {}, fault = '', text = 'Say hello'): Promise<JsonObject[]> {
  const { text: sent } = await simulator.post(path, { body: ask(text, { stream: true, ...more }), fault })
  return namedEventsOf(sent)
}

/** The types of events in order, a run of deltas as one. */
function typesOf(events: readonly JsonObject[]): string[] {
  const types = events.map((event) => String(at(event, 'delta.type') ?? event['type']))
  return types.filter((type, index) => type !== types[index - 1])
}

describe('a streamed message', () => {
  test('comes in the recorded order, with its usage at both ends', async () => {
    const events = await stream()
    expect(typesOf(events)).toEqual([
      'message_start',
      'content_block_start',
      'ping',
      'text_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(events[0]).toMatchObject({
      message: { content: [], stop_reason: null, usage: { input_tokens: 7, output_tokens: 1 } },
    })
    expect(events.map((event) => at(event, 'delta.text') ?? '').join('')).toBe(
      'Hello! You said: "Say hello". How can I help?',
    )
    expect(events.at(-2)).toEqual({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: {
        input_tokens: 7,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 12,
      },
    })
  })

  test('signs a thought just before it stops', async () => {
    const events = await stream({ thinking: { type: 'enabled', budget_tokens: 1024 } })
    expect(typesOf(events).slice(1, 7)).toEqual([
      'content_block_start',
      'ping',
      'thinking_delta',
      'signature_delta',
      'content_block_stop',
      'content_block_start',
    ])
    expect(events[1]).toMatchObject({ content_block: { type: 'thinking', thinking: '', signature: '' } })
    expect(at(events.at(-2), 'usage.output_tokens_details.thinking_tokens')).toBe(16)
  })

  test('gives the arguments of calls piece by piece, after an empty piece', async () => {
    const events = await stream({ tools }, '', 'get_weather and get_time in Oslo')
    const starts = events.filter((event) => event['type'] === 'content_block_start')
    expect(starts.map((event) => [event['index'], at(event, 'content_block.input')])).toEqual([
      [0, {}],
      [1, {}],
    ])
    const pieces = [0, 1].map((index) =>
      events
        .filter((event) => event['index'] === index && event['type'] === 'content_block_delta')
        .map((event) => at(event, 'delta.partial_json')),
    )
    expect(pieces[0]?.[0]).toBe('')
    expect(pieces[0]?.join('')).toBe('{"city":"Oslo"}')
    expect(pieces[1]).toEqual([''])
    expect(at(events.at(-2), 'delta.stop_reason')).toBe('tool_use')
  })

  test('can give a call whole, without deltas', async () => {
    const events = await stream({ tools }, 'no_tool_deltas', 'get_weather in Oslo')
    expect(typesOf(events)).not.toContain('input_json_delta')
    expect(at(events[1], 'content_block.input')).toEqual({ city: 'Oslo' })
  })

  test('of a refused answer has no blocks', async () => {
    const events = await stream({}, 'refusal=No')
    expect(typesOf(events)).toEqual(['message_start', 'ping', 'message_delta', 'message_stop'])
    expect(events[2]).toMatchObject({
      delta: { stop_reason: 'refusal', stop_details: { explanation: 'No' } },
    })
  })

  test('cites before the text, and shows a search and hidden thoughts whole', async () => {
    const events = await stream({}, 'citations,server_tools,redacted_thinking')
    const blocks = events.filter((event) => event['type'] === 'content_block_start')
    expect(blocks.map((event) => at(event, 'content_block.type'))).toEqual([
      'redacted_thinking',
      'server_tool_use',
      'web_search_tool_result',
      'text',
    ])
    expect(typesOf(events)).toContain('citations_delta')
    expect(at(events.at(-2), 'usage.server_tool_use.web_search_requests')).toBe(1)
  })
})

describe('a faulty Messages stream comes', () => {
  test('with wrong usage', async () => {
    const corrected = await stream({}, 'start_input_tokens=1')
    expect(at(corrected[0], 'message.usage.input_tokens')).toBe(1)
    expect(at(corrected.at(-2), 'usage.input_tokens')).toBe(7)
    expect(at((await stream({}, 'usage=output_only')).at(-2), 'usage')).toEqual({ output_tokens: 12 })
    const missing = await stream({}, 'usage=missing')
    expect([at(missing[0], 'message.usage'), at(missing.at(-2), 'usage')]).toEqual([undefined, undefined])
    expect(Number(at((await stream({}, 'usage=negative')).at(-2), 'usage.output_tokens'))).toBeLessThan(0)
  })

  test('with an error event after the first ones', async () => {
    const events = await stream({}, 'error_chunk=3;type=overloaded_error')
    expect(typesOf(events)).toEqual(['message_start', 'content_block_start', 'ping', 'error'])
    expect(events.at(-1)).toEqual({
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
      request_id: expect.stringMatching(/^req_/),
    })
    expect(at((await stream({}, 'error_chunk')).at(-1), 'error.type')).toBe('api_error')
  })

  test('without its end', async () => {
    expect(typesOf(await stream({}, 'no_done')).at(-1)).toBe('message_delta')
  })

  test('with frames that no JSON parser takes, and goes on', async () => {
    const { text } = await simulator.post(path, {
      body: ask('hi', { stream: true }),
      fault: 'malformed_json',
    })
    expect(text).toContain('"delta":{"type":"text_de\n\n')
    expect(text).toContain('message_stop')
  })

  test('with line ends, comments, pings, a second start and unknown events', async () => {
    const plain = await stream()
    const body = ask('Say hello', { stream: true })
    const crlf = await simulator.post(path, { body, fault: 'crlf,comments,split=7' })
    expect(crlf.text).toStartWith(': waiting for the model\r\n')
    expect(namedEventsOf(crlf.text)).toHaveLength(plain.length)
    const odd = typesOf(await stream({}, 'pings=3,duplicate_start,unknown_event'))
    expect(odd.slice(0, 4)).toEqual(['message_start', 'ping', 'model_mood', 'content_block_start'])
  })
})
