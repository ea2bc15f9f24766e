import type { IncomingHttpHeaders } from 'node:http'
import { type Answer, answerPrompt } from '../answer.ts'
import type { Call } from '../call.ts'
import { invalidRequest } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { Mount } from '../mounts.ts'
import type { Prompt } from '../prompt.ts'
import { lettersOf } from '../random.ts'
import { eventReply, jsonReply, type Reply } from '../reply.ts'
import { distortUsage } from '../usage.ts'
import { answerBlocks } from './answer-blocks.ts'
import { lastToolAnswer, modelTurnsIn, userTexts } from './conversation.ts'
import { versionOf } from './errors.ts'
import { type MessagesRequest, readMessagesRequest } from './request.ts'
import { messageForm, messageFrames, type MessagesResult } from './stream.ts'
import { inputTokensOf, messagesUsage, promptPieces, wholeUsage } from './usage.ts'

/** One request to Messages or to its token counting. */
export interface MessagesCall {
  call: Call
  mount: Mount
  headers: IncomingHttpHeaders
}

/** `POST /messages`. Throws `ApiError` for requests that Anthropic refuses. */
export function messages({ call, mount, headers }: MessagesCall): Reply {
  const { faults, key } = call
  const body = mount.threads.whole(call.body, faults)
  const request = readMessagesRequest(body, {
    version: versionOf(headers),
    isBeta: headers['anthropic-beta'] !== undefined,
    isCount: false,
    faults,
  })
  const pieces = promptPieces(request)
  const input = inputTokensOf(request, pieces)
  const context = refuseOverflow(input, request)
  const prompt = messagesPrompt(request, context - input)
  const name = String(body['model'])
  const scripted = mount.scripts.play({ path: '/v1/messages', model: name, prompt })
  const answer = answerPrompt(prompt, faults, scripted)
  const model = request.model.snapshot ?? request.model.id
  const cache = mount.promptCache.use(model, pieces, call.createdSeconds)
  const result: MessagesResult = {
    head: { model, id: `msg_01${lettersOf(key, 22)}`, type: 'message', role: 'assistant' },
    blocks: answerBlocks({ request, answer, faults, key }),
    stop: stopOf(answer, request, context - input),
    usage: messagesUsage(input, cache, answer, faults),
    faults,
    key,
  }
  const whole = result.blocks.map((block) => block.whole)
  mount.threads.keep(body, String(result.head['id']), whole)
  return request.stream
    ? eventReply(messageFrames(result), messageForm(key))
    : jsonReply(wholeMessage(result))
}

/** `POST /messages/count_tokens`. */
export function countTokens({ call, headers }: MessagesCall): Reply {
  const request = readMessagesRequest(call.body, {
    version: versionOf(headers),
    isBeta: headers['anthropic-beta'] !== undefined,
    isCount: true,
    faults: call.faults,
  })
  return jsonReply(JSON.stringify({ input_tokens: inputTokensOf(request, promptPieces(request)) }))
}

function wholeMessage({ head, blocks, stop, usage, faults }: MessagesResult): string {
  const told = distortUsage(wholeUsage(usage), faults.usage)
  const content = blocks.map((block) => block.whole)
  return JSON.stringify({ ...head, content, ...stop, usage: told })
}

/** The tokens that the model can take. Throws `ApiError` when the prompt alone has more. */
function refuseOverflow(input: number, { model }: MessagesRequest): number {
  const most = model.contextTokens ?? Number.MAX_SAFE_INTEGER
  if (input <= most) return most
  throw invalidRequest(`prompt is too long: ${input} tokens > ${most} maximum`)
}

function messagesPrompt(request: MessagesRequest, roomTokens: number): Prompt {
  const { messages: turns, thinking, toolUse } = request
  const firstAnswer = turns.findIndex((message) => message.role === 'assistant')
  return {
    opening: userTexts(firstAnswer < 0 ? turns : turns.slice(0, firstAnswer)).join('\n'),
    said: userTexts(turns).at(-1) ?? '',
    toolAnswer: lastToolAnswer(turns),
    modelTurns: modelTurnsIn(turns),
    length: turns.length,
    tools: request.tools,
    toolChoice: toolUse.toolChoice,
    parallelToolCalls: toolUse.parallelToolCalls,
    answerSchema: request.answerSchema,
    stop: request.stop,
    outputTokensMax: Math.min(request.maxTokens, roomTokens),
    thoughtTokens: thinking.tokens,
    callIdPrefix: 'toolu_01',
  }
}

/** Finish reasons of a fault or a script in Anthropic's words; others stay as they are. */
const stopReasons: Record<string, string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
}

function stopOf(answer: Answer, request: MessagesRequest, roomTokens: number): JsonObject {
  if (answer.refusal !== null) return refusalStop(answer.refusal)
  if (answer.finish === 'stop' && answer.stopSequence !== null)
    return { stop_reason: 'stop_sequence', stop_sequence: answer.stopSequence }
  // Newer models answer up to the end of their context; older ones refuse a request that may not fit.
  const isFull = answer.finish === 'length' && roomTokens < request.maxTokens
  const reason = isFull ? 'model_context_window_exceeded' : (stopReasons[answer.finish] ?? answer.finish)
  return reason === 'refusal' ? refusalStop(null) : { stop_reason: reason, stop_sequence: null }
}

function refusalStop(explanation: string | null): JsonObject {
  const details = explanation === null ? null : { type: 'refusal', category: 'cyber', explanation }
  return { stop_reason: 'refusal', stop_details: details, stop_sequence: null }
}
