import { expect, test } from 'bun:test'
import { decodeChatRequest } from './chat/chat-request.ts'
import { runStream, streamOf, testContext } from './chat/chat-testing.ts'
import { selectCodec } from './codec.ts'
import { messagesQuirks } from './messages/messages-quirks.ts'
import { decodeResponsesRequest } from './responses/responses-decode.ts'

const bodies = {
  chat: { model: 'a/b', messages: [{ role: 'user', content: 'x' }] },
  responses: { model: 'a/b', input: 'x' },
}
const decoders = { chat: decodeChatRequest, responses: decodeResponsesRequest }

/** The JSON of every event that a caller of this format is shown of a stream in the format of messages. */
function showStream(
  caller: 'chat' | 'responses',
  payloads: readonly Record<string, unknown>[],
): Record<string, unknown>[] {
  const call = decoders[caller](Buffer.from(JSON.stringify(bodies[caller])), { sessionIdHeader: null })
  const rewriter = selectCodec(caller, 'messages').createStream(testContext, messagesQuirks(), call)
  const { shown, ending } = runStream(rewriter, streamOf(payloads, { done: false }))
  const told = (shown + ending).split('\n').filter((line) => line.startsWith('data: {'))
  return told.map((line) => JSON.parse(line.slice(6)))
}

/** The arguments of each call, joined as clients join them. */
function argumentsOf(frames: readonly Record<string, unknown>[]): string[] {
  const joined: string[] = []
  for (const frame of frames) {
    const [choice] = frame['choices'] as { delta: { tool_calls?: Piece[] } }[]
    for (const { index, function: called } of choice?.delta.tool_calls ?? [])
      joined[index] = (joined[index] ?? '') + (called?.arguments ?? '')
  }
  return joined
}

interface Piece {
  index: number
  function?: { arguments?: string }
}

const usage = { input_tokens: 3, output_tokens: 4 }
const begin = { type: 'message_start', message: { id: 'msg_1', model: 'b', usage } }
const ending = [
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage },
  { type: 'message_stop' },
]
const toolUse = (index: number, name: string) => ({
  type: 'content_block_start',
  index,
  content_block: { type: 'tool_use', id: `toolu_${index}`, name, input: {} },
})
const input = (index: number, json: string) => ({
  type: 'content_block_delta',
  index,
  delta: { type: 'input_json_delta', partial_json: json },
})
const stop = (index: number) => ({ type: 'content_block_stop', index })

test('a call that its provider streams without input has the arguments {}', () => {
  const frames = showStream('chat', [
    begin,
    toolUse(0, 'now'),
    stop(0),
    toolUse(1, 'today'),
    input(1, ''),
    stop(1),
    ...ending,
  ])
  expect(argumentsOf(frames)).toEqual(['{}', '{}'])
})

test('a call with input has its input and nothing more, beside one without', () => {
  const frames = showStream('chat', [
    begin,
    toolUse(0, 'weather'),
    input(0, '{"city":'),
    input(0, '"Oslo"}'),
    stop(0),
    toolUse(1, 'now'),
    ...ending,
  ])
  expect(argumentsOf(frames)).toEqual(['{"city":"Oslo"}', '{}'])
})

test('a responses caller is told {} of a call without input, in its pieces and at its end', () => {
  const frames = showStream('responses', [begin, toolUse(0, 'now'), stop(0), ...ending])
  const told = frames.filter(({ type }) => String(type).startsWith('response.function_call_arguments'))
  expect(told).toMatchObject([
    { type: 'response.function_call_arguments.delta', delta: '{}' },
    { type: 'response.function_call_arguments.done', arguments: '{}' },
  ])
})
