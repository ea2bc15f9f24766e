import { describe, expect, test } from 'bun:test'
import type { TextCall } from '../../../canonical/call.ts'
import { selectCodec } from '../formats.ts'
import { decodeMessagesRequest } from '../messages/read-request.ts'
import { decodeResponsesRequest } from '../responses/read-request.ts'
import { chatQuirks } from './quirks.ts'
import { decodeChatRequest } from './read-request.ts'
import { framesOf, runStream, streamOf, testCharge, testContext, textOf } from '../testing.ts'

// Answers in members that only chat completions has: a call in the older `function_call`, and spoken text.

type Wire = Record<string, unknown>
type Caller = 'chat' | 'responses' | 'messages'

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const messages = [{ role: 'user', content: 'x' }]
const context = { sessionIdHeader: null }
const calls: Readonly<Record<Caller, TextCall>> = {
  chat: decodeChatRequest(bytesOf({ model: 'a/b', messages }), context),
  responses: decodeResponsesRequest(bytesOf({ model: 'a/b', input: 'x' }), context),
  messages: decodeMessagesRequest(bytesOf({ model: 'a/b', max_tokens: 9, messages }), context),
}
const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }
const base = { id: 'chatcmpl-1', created: 1, model: 'up' }

/** The caller's whole answer and the meter's reading of it. */
function whole(caller: Caller, message: Wire, finish: string) {
  const wire = { ...base, choices: [{ index: 0, message, finish_reason: finish }], usage }
  const codec = selectCodec(caller, 'chat')
  const decoded = codec.decodeAnswer(bytesOf(wire), testContext, chatQuirks(), calls[caller])
  return { body: JSON.parse(textOf(decoded.encode(testCharge))) as Wire, reading: decoded.reading }
}

/** The same for a stream: its frames, with the name of the event in `type` where the format has one. */
function streamed(caller: Caller, deltas: readonly Wire[], finish: string) {
  const chunks = [...deltas.map((delta) => ({ delta })), { delta: {}, finish_reason: finish }]
  const bytes = streamOf([
    ...chunks.map((choice) => ({ ...base, choices: [{ index: 0, ...choice }] })),
    { ...base, choices: [], usage },
  ])
  const rewriter = selectCodec(caller, 'chat').createStream(testContext, chatQuirks(), calls[caller])
  const { shown, ending } = runStream(rewriter, bytes)
  expect(rewriter.failure).toBeNull()
  const text = (shown + ending).replaceAll(/^event: .*\n/gm, '')
  return { frames: framesOf(text), reading: rewriter.reading() }
}

const asked = { role: 'assistant', content: null, function_call: { name: 'weather', arguments: '{"a":1}' } }
const askedInPieces = [
  { role: 'assistant', content: null, function_call: { name: 'weather', arguments: '' } },
  { function_call: { arguments: '{"a"' } },
  { function_call: { arguments: ':1}' } },
]
const id = 'call_gen-1-abc_0_0'

describe('a call in the older member', () => {
  for (const finish of ['function_call', 'stop']) {
    test(`is a call of a tool for callers of other formats, ended by ${finish}`, () => {
      expect(whole('messages', asked, finish).body).toMatchObject({
        content: [{ type: 'tool_use', id, name: 'weather', input: { a: 1 } }],
        stop_reason: 'tool_use',
      })
      expect(whole('responses', asked, finish).body).toMatchObject({
        status: 'completed',
        output: [{ type: 'function_call', call_id: id, name: 'weather', arguments: '{"a":1}' }],
      })
    })

    test(`is one in a stream too, ended by ${finish}`, () => {
      const { frames } = streamed('messages', askedInPieces, finish)
      expect(frames).toMatchObject([
        { type: 'message_start' },
        { type: 'content_block_start', content_block: { type: 'tool_use', id, name: 'weather' } },
        { delta: { type: 'input_json_delta', partial_json: '{"a"' } },
        { delta: { type: 'input_json_delta', partial_json: ':1}' } },
        { type: 'content_block_stop' },
        { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
        { type: 'message_stop' },
      ])
      const done = streamed('responses', askedInPieces, finish).frames.at(-1)
      expect(done).toMatchObject({
        type: 'response.completed',
        response: { output: [{ type: 'function_call', call_id: id, name: 'weather', arguments: '{"a":1}' }] },
      })
    })

    test(`stays what it is for callers of chat completions, ended by ${finish}`, () => {
      const { body, reading } = whole('chat', asked, finish)
      expect(body).toMatchObject({
        choices: [
          {
            message: { content: null, function_call: { name: 'weather', arguments: '{"a":1}' } },
            finish_reason: 'tool_calls',
            native_finish_reason: finish,
          },
        ],
      })
      expect(reading).toMatchObject({ finishReason: 'tool_calls', outputBytes: 14, outputPieces: 1 })
      const stream = streamed('chat', askedInPieces, finish)
      const deltas = stream.frames.map(({ choices }) => (choices as [Wire])[0])
      expect(deltas).toMatchObject([
        { delta: { function_call: { name: 'weather', arguments: '' } } },
        { delta: { function_call: { arguments: '{"a"' } } },
        { delta: { function_call: { arguments: ':1}' } } },
        { delta: {}, finish_reason: 'tool_calls', native_finish_reason: finish },
      ])
      expect(stream.reading).toMatchObject({ finishReason: 'tool_calls', outputBytes: 14 })
    })
  }

  test('is sent once when the host sends it in the newer member as well', () => {
    const called = { id: 'c1', type: 'function', function: asked.function_call }
    const both = { ...asked, tool_calls: [called] }
    const { body } = whole('messages', both, 'tool_calls')
    expect(body['content']).toMatchObject([{ type: 'tool_use', id: 'c1', input: { a: 1 } }])
    expect(body['content']).toHaveLength(1)
  })

  test('may have its arguments as an object', () => {
    const message = { ...asked, function_call: { name: 'weather', arguments: { a: 1 } } }
    expect(whole('responses', message, 'stop').body).toMatchObject({
      output: [{ type: 'function_call', arguments: '{"a":1}' }],
    })
  })
})

const spoken = {
  role: 'assistant',
  content: null,
  audio: { id: 'audio_1', data: 'UklGRg==', expires_at: 9, transcript: 'It rains.' },
}
const spokenInPieces = [
  { role: 'assistant', audio: { id: 'audio_1' } },
  { audio: { transcript: 'It ' } },
  { audio: { data: 'UklGRg==' } },
  { audio: { transcript: 'rains.' } },
  { audio: { expires_at: 9 } },
]

describe('the words of an answer in sound', () => {
  test('are text for callers of formats without sound', () => {
    expect(whole('messages', spoken, 'stop').body['content']).toMatchObject([
      { type: 'text', text: 'It rains.' },
    ])
    expect(whole('responses', spoken, 'stop').body['output']).toMatchObject([
      { type: 'message', content: [{ type: 'output_text', text: 'It rains.' }] },
    ])
  })

  test('are text in a stream too, in one part', () => {
    const { frames } = streamed('messages', spokenInPieces, 'stop')
    expect(frames).toMatchObject([
      { type: 'message_start' },
      { type: 'content_block_start', content_block: { type: 'text' } },
      { delta: { type: 'text_delta', text: 'It ' } },
      { delta: { type: 'text_delta', text: 'rains.' } },
      { type: 'content_block_stop' },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    ])
    const done = streamed('responses', spokenInPieces, 'stop').frames.at(-1)
    expect(done).toMatchObject({ response: { output: [{ content: [{ text: 'It rains.' }] }] } })
  })

  test('are sent once when they are the text of the answer as well', () => {
    const { body } = whole('messages', { ...spoken, content: 'It rains.' }, 'stop')
    expect(body['content']).toMatchObject([{ type: 'text', text: 'It rains.' }])
    expect(body['content']).toHaveLength(1)
  })

  test('are unchanged for callers of chat completions, and count as output', () => {
    const { body, reading } = whole('chat', spoken, 'stop')
    expect(body).toMatchObject({ choices: [{ message: { content: null, audio: spoken.audio } }] })
    expect(reading).toMatchObject({ outputBytes: 9, outputPieces: 1 })
    expect(streamed('chat', spokenInPieces, 'stop').reading).toMatchObject({ outputBytes: 9 })
  })
})
