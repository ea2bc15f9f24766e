import { type Answer, answerPrompt } from '../answer.ts'
import type { Call } from '../call.ts'
import { ApiError, invalidRequest } from '../errors.ts'
import { isObject, type JsonObject } from '../json.ts'
import type { Mount } from '../mounts.ts'
import type { Prompt } from '../prompt.ts'
import { lettersOf } from '../random.ts'
import { jsonReply, type Reply } from '../reply.ts'
import { seal } from '../seals.ts'
import { countTokens, splitTokens } from '../tokens.ts'
import { distortUsage } from '../usage.ts'
import { eventFrame, exceptionFrame } from './frames.ts'
import { type ConverseRequest, type Message, readConverseRequest } from './request.ts'

/** `POST /model/{model}/converse` and `…/converse-stream`. */
export const conversePath = /^\/model\/([^/]+)\/(converse|converse-stream)$/

/** The model that a path names; null for a path that names none. */
export function bedrockModelOf(path: string): string | null {
  const name = conversePath.exec(path)?.[1]
  return name === undefined ? null : decodeURIComponent(name)
}

const modelName =
  /^(?:arn:aws:bedrock:|(?:[a-z-]+\.)?(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|nvidia|openai|qwen|writer|zai)\.)[\w.:/-]+$/

/** Tokens of a picture or a document: the true rules are not public. */
const mediumTokens = 1_500
const contextTokens = 200_000

/** Answers a request. Throws `ApiError` for requests that the service refuses. */
export function converse(path: string, call: Call, mount: Mount): Reply {
  const name = bedrockModelOf(path) ?? ''
  if (!modelName.test(name) && call.faults.anyModel !== true)
    throw invalidRequest('The provided model identifier is invalid.')
  const request = readConverseRequest(call.body, call.faults)
  const input = inputOf(request)
  if (input > contextTokens)
    throw new ApiError({
      status: 400,
      type: 'ValidationException',
      message: 'Input is too long for requested model.',
    })
  const prompt = promptOf(request)
  const scripted = mount.scripts.play({ path, model: name, prompt })
  const answer = answerPrompt(prompt, call.faults, scripted)
  const told = usageOf(answer, input, call)
  const isStream = path.endsWith('-stream')
  if (!isStream) return jsonReply(JSON.stringify(wholeOf(answer, told)))
  return {
    status: 200,
    contentType: 'application/vnd.amazon.eventstream',
    body: framesOf(answer, told, call),
  }
}

const stopReasons: Record<string, string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'guardrail_intervened',
}

function stopReasonOf({ finish, stopSequence }: Answer): string {
  if (stopSequence !== null) return 'stop_sequence'
  return stopReasons[finish] ?? finish
}

/** The blocks of an answer, in their order. */
function blocksOf(answer: Answer): JsonObject[] {
  const { thoughts, redacted, pieces, refusal, calls, reasoningTokens, isScripted } = answer
  const text = pieces?.join('') ?? refusal ?? ''
  const blocks: JsonObject[] = []
  if (thoughts !== '' && (reasoningTokens > 0 || isScripted))
    blocks.push({
      reasoningContent: { reasoningText: { text: thoughts, signature: seal(`thought ${thoughts}`) } },
    })
  if (redacted !== null) blocks.push({ reasoningContent: { redactedContent: seal('redacted', redacted) } })
  if (text !== '') blocks.push({ text })
  for (const { id, name, arguments: given } of calls)
    blocks.push({ toolUse: { toolUseId: `tooluse_${id}`.slice(0, 64), name, input: inputOfCall(given) } })
  return blocks
}

function inputOfCall(given: string): JsonObject {
  try {
    const value: unknown = JSON.parse(given)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function wholeOf(answer: Answer, usage: JsonObject): JsonObject {
  return {
    metrics: { latencyMs: 1 },
    output: { message: { role: 'assistant', content: blocksOf(answer) } },
    stopReason: stopReasonOf(answer),
    ...usage,
  }
}

/** The frames of a stream, with padding of many lengths. */
async function* framesOf(
  answer: Answer,
  usage: JsonObject,
  { faults, key }: Call,
): AsyncGenerator<Uint8Array> {
  let count = 0
  const event = (type: string, value: object): Uint8Array => {
    count += 1
    return eventFrame(type, value, lettersOf(`${key} ${count}`, 1 + (count % 40)))
  }
  const broken = faults.streamError
  const frames = [
    event('messageStart', { role: 'assistant' }),
    ...blocksOf(answer).flatMap((block, index) => blockFrames(block, index, event)),
    event('messageStop', { stopReason: stopReasonOf(answer) }),
    event('metadata', { metrics: { latencyMs: 1 }, ...usage }),
  ]
  for (const [index, frame] of frames.entries()) {
    if (broken !== undefined && index === Math.min(faults.errorAfterChunks ?? 1, frames.length - 1)) {
      yield exceptionFrame(
        broken.type === 'overloaded_error' ? 'serviceUnavailableException' : 'internalServerException',
        broken.message ?? 'The server had an internal error.',
      )
      return
    }
    yield frame
  }
}

function blockFrames(
  block: JsonObject,
  contentBlockIndex: number,
  event: (type: string, value: object) => Uint8Array,
): Uint8Array[] {
  const delta = (value: object) => event('contentBlockDelta', { contentBlockIndex, delta: value })
  const stop = () => event('contentBlockStop', { contentBlockIndex })
  const { text, toolUse, reasoningContent } = block
  if (typeof text === 'string') return [...splitTokens(text).map((piece) => delta({ text: piece })), stop()]
  if (isObject(toolUse)) {
    const { toolUseId, name, input } = toolUse
    const json = JSON.stringify(input)
    const pieces = splitTokens(json).map((piece) => delta({ toolUse: { input: piece } }))
    return [
      event('contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId, name } } }),
      ...pieces,
      stop(),
    ]
  }
  const thought = isObject(reasoningContent) ? reasoningContent : {}
  const { reasoningText, redactedContent } = thought
  if (!isObject(reasoningText)) return [delta({ reasoningContent: { redactedContent } }), stop()]
  const words = splitTokens(String(reasoningText['text'])).map((piece) =>
    delta({ reasoningContent: { text: piece } }),
  )
  return [...words, delta({ reasoningContent: { signature: reasoningText['signature'] } }), stop()]
}

function usageOf({ tokens, usage: given }: Answer, input: number, { faults }: Call): JsonObject {
  const cached = faults.cachedTokens ?? given.cacheRead ?? 0
  const { cacheWrite5m = 0, cacheWrite1h = 0 } = given
  const written = cacheWrite5m + cacheWrite1h
  const uncached = Math.max(0, (given.input ?? input) - cached - written)
  const counts = {
    inputTokens: uncached,
    outputTokens: tokens,
    totalTokens: uncached + cached + written + tokens,
    ...(cached + written > 0 ? { cacheReadInputTokens: cached, cacheWriteInputTokens: written } : {}),
    ...(cacheWrite1h > 0
      ? {
          cacheDetails: [
            { ttl: '5m', inputTokens: cacheWrite5m },
            { ttl: '1h', inputTokens: cacheWrite1h },
          ],
        }
      : {}),
    serverToolUsage: {},
  }
  const told = distortUsage(counts, faults.usage)
  return told === undefined ? {} : { usage: told }
}

function textsOf({ content }: Message): string {
  return content.map(({ text }) => (typeof text === 'string' ? text : '')).join('\n')
}

function inputOf({ system, messages, tools }: ConverseRequest): number {
  const blocks = [...system, ...messages.flatMap(({ content }) => content)]
  const declared = tools.length === 0 ? 0 : countTokens(JSON.stringify(tools))
  return blocks.reduce((sum, block) => sum + tokensOfBlock(block), declared)
}

function tokensOfBlock({ text, image, document, toolUse, toolResult, reasoningContent }: JsonObject): number {
  if (typeof text === 'string') return countTokens(text)
  if (image !== undefined || document !== undefined) return mediumTokens
  const other = toolUse ?? toolResult ?? reasoningContent
  return other === undefined ? 0 : countTokens(JSON.stringify(other))
}

function isSaid({ role, content }: Message): boolean {
  return role === 'user' && content.some(({ text }) => text !== undefined)
}

function promptOf(request: ConverseRequest): Prompt {
  const { messages } = request
  const firstAnswer = messages.findIndex(({ role }) => role === 'assistant')
  const opening = (firstAnswer < 0 ? messages : messages.slice(0, firstAnswer)).filter(isSaid)
  const last = messages.findLast(isSaid)
  return {
    opening: opening.map(textsOf).join('\n'),
    said: last === undefined ? '' : textsOf(last),
    toolAnswer: lastToolAnswer(messages.at(-1)),
    modelTurns: messages.filter(({ role }) => role === 'assistant').length,
    length: messages.length,
    tools: request.tools,
    toolChoice: request.toolChoice,
    // The format has no member that asks for one call at a time.
    parallelToolCalls: true,
    answerSchema: request.answerSchema,
    stop: request.stop,
    outputTokensMax: request.outputTokensMax,
    thoughtTokens: request.thoughtTokens,
    callIdPrefix: '',
  }
}

function lastToolAnswer(message: Message | undefined): string | null {
  const results = (message?.content ?? []).map(({ toolResult }) => toolResult).filter(isObject)
  if (results.length === 0) return null
  return results
    .flatMap(({ content }) => (Array.isArray(content) ? content.filter(isObject) : []))
    .map(({ text, json }) => (typeof text === 'string' ? text : JSON.stringify(json ?? '')))
    .join('\n')
}
