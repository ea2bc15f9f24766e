import { type Answer, answerPrompt } from '../answer.ts'
import type { AudioAsked } from '../audio/audio-api.ts'
import * as check from '../checks.ts'
import { ApiError, invalidRequest } from '../errors.ts'
import type { Faults } from '../faults.ts'
import { isObject, type JsonObject } from '../json.ts'
import { type Prompt, type ToolChoice, thoughtTokensOf } from '../prompt.ts'
import { eventReply, jsonReply, namedFrame, type Reply, type StreamForm } from '../reply.ts'
import { countTokens, splitTokens } from '../tokens.ts'
import { distortUsage } from '../usage.ts'

// After https://docs.cohere.com/reference/chat and recordings of its replies.

/** The models of chat, and whether they think and see. */
export const chatModels: ReadonlyMap<string, { thinks: boolean; sees: boolean }> = new Map([
  ['command-a-03-2025', { thinks: false, sees: false }],
  ['command-a-reasoning-08-2025', { thinks: true, sees: false }],
  ['command-a-vision-07-2025', { thinks: false, sees: true }],
  ['command-a-plus-05-2026', { thinks: true, sees: true }],
  ['command-r7b-12-2024', { thinks: false, sees: false }],
])

const tool = check.members(
  {
    type: check.oneOf('function'),
    function: check.members({ name: check.string(), description: check.string(), parameters: check.object }, [
      'name',
      'parameters',
    ]),
  },
  ['type', 'function'],
)
const part = check.members(
  {
    type: check.oneOf('text', 'image_url', 'thinking', 'document'),
    text: check.string(),
    thinking: check.string(),
    image_url: check.members({ url: check.string(), detail: check.oneOf('auto', 'low', 'high') }, ['url']),
    document: check.object,
  },
  ['type'],
)
const call = check.members(
  {
    id: check.string(),
    type: check.oneOf('function'),
    function: check.members({ name: check.string(), arguments: check.string() }, ['name', 'arguments']),
  },
  ['id', 'type', 'function'],
)
const message = check.members(
  {
    role: check.oneOf('user', 'assistant', 'system', 'tool'),
    content: check.either(check.string(), check.listOf(part)),
    tool_calls: check.listOf(call),
    tool_call_id: check.string(),
    tool_plan: check.string(),
    citations: check.listOf(check.object),
  },
  ['role'],
)
const fields: Record<string, check.Check> = {
  model: check.string(),
  messages: check.listOf(message),
  stream: check.boolean,
  tools: check.listOf(tool),
  tool_choice: check.oneOf('REQUIRED', 'NONE'),
  strict_tools: check.boolean,
  documents: check.listOf(check.either(check.string(), check.object)),
  citation_options: check.object,
  response_format: check.members({ type: check.oneOf('text', 'json_object'), json_schema: check.object }, [
    'type',
  ]),
  safety_mode: check.oneOf('CONTEXTUAL', 'STRICT', 'OFF'),
  max_tokens: check.integer(1),
  stop_sequences: check.listOf(check.string(), 5),
  temperature: check.decimal(0, 1),
  seed: check.integer(0),
  frequency_penalty: check.decimal(0, 1),
  presence_penalty: check.decimal(0, 1),
  k: check.integer(0, 500),
  p: check.decimal(0.01, 0.99),
  logprobs: check.boolean,
  thinking: check.members({ type: check.oneOf('enabled', 'disabled'), token_budget: check.integer(1) }, [
    'type',
  ]),
  priority: check.integer(0),
}

const contextTokens = 288_000
export const tooManyTokens = 'TOO_MANY_TOKENS'
const usualOutputTokens = 4_096
/** The hidden part of a prompt, which counts as tokens and is not billed. */
const hiddenTokens = 480

interface Message {
  role: string
  texts: string[]
  images: number
  toolCallId: string | null
}

/** `POST /v2/chat`. Throws `ApiError` for requests that Cohere refuses. */
export function chat(asked: AudioAsked): Reply {
  const { faults, mount } = asked
  const body = asked.json ?? {}
  check.checkMembers(body, { fields, required: ['model', 'messages'], strict: faults.lenient !== true })
  const name = String(body['model'])
  const model = chatModels.get(name) ?? (faults.anyModel === true ? { thinks: true, sees: true } : null)
  if (model === null)
    throw new ApiError({
      status: 404,
      message: `model '${name}' not found, make sure the correct model ID was used and that you have access to the model.`,
    })
  const messages = (body['messages'] as JsonObject[]).map(messageOf)
  refuse(body, messages, model)
  const input = messages.flatMap(({ texts }) => texts).reduce((sum, text) => sum + countTokens(text), 0)
  if (input > contextTokens) throw refuseLength(input - contextTokens)
  const prompt = promptOf(body, messages, model)
  const scripted = mount.scripts.play({ path: '/v2/chat', model: name, prompt })
  const answer = answerPrompt(prompt, faults, scripted)
  const told = { answer, usage: usageOf(answer, input, faults), id: idOf(asked) }
  return body['stream'] === true ? eventReply(framesOf(told), form) : jsonReply(wholeOf(told))
}

/** The refusal of a prompt that has so many tokens too many. */
export function refuseLength(more: number): ApiError {
  return new ApiError({
    status: 400,
    type: tooManyTokens,
    message: `too many tokens: size limit exceeded by ${more} tokens. Try using shorter or fewer inputs. The limit for this model is ${contextTokens} tokens.`,
  })
}

function refuse(
  body: JsonObject,
  messages: readonly Message[],
  { thinks, sees }: { thinks: boolean; sees: boolean },
): void {
  if (!messages.some(({ role }) => role !== 'system'))
    throw invalidRequest('invalid request: at least one message of the user is required.')
  if (messages.some(({ role, toolCallId }) => role === 'tool' && toolCallId === null))
    throw invalidRequest('invalid request: tool_call_id must be set in messages of the role tool.')
  if (!sees && messages.some(({ images }) => images > 0))
    throw invalidRequest('invalid request: this model does not support image inputs.')
  const thinking = body['thinking']
  if (!thinks && isObject(thinking) && thinking['type'] === 'enabled')
    throw invalidRequest('invalid request: this model does not support thinking.')
  if (body['tool_choice'] !== undefined && !Array.isArray(body['tools']))
    throw invalidRequest('invalid request: tool_choice requires tools.')
}

function messageOf({ role, content, tool_call_id: id }: JsonObject): Message {
  const parts =
    typeof content === 'string' ? [{ type: 'text', text: content }] : ((content ?? []) as JsonObject[])
  return {
    role: String(role),
    texts: parts.flatMap(({ text, document }) => {
      if (typeof text === 'string') return [text]
      return isObject(document) ? [JSON.stringify(document['data'] ?? '')] : []
    }),
    images: parts.filter(({ type }) => type === 'image_url').length,
    toolCallId: typeof id === 'string' ? id : null,
  }
}

function promptOf(body: JsonObject, messages: readonly Message[], { thinks }: { thinks: boolean }): Prompt {
  const firstAnswer = messages.findIndex(({ role }) => role === 'assistant')
  const opening = firstAnswer < 0 ? messages : messages.slice(0, firstAnswer)
  const last = messages.at(-1)
  const results: Message[] = []
  for (const each of messages.toReversed()) {
    if (each.role !== 'tool') break
    results.unshift(each)
  }
  const { thinking, response_format: wanted, tools } = body
  const isThinking = thinks && !(isObject(thinking) && thinking['type'] === 'disabled')
  return {
    opening: opening
      .filter(({ role }) => role === 'user')
      .map(({ texts }) => texts.join('\n'))
      .join('\n'),
    said: messages.findLast(({ role }) => role === 'user')?.texts.join('\n') ?? '',
    toolAnswer: last?.role === 'tool' ? results.flatMap(({ texts }) => texts).join('\n') : null,
    modelTurns: messages.filter(({ role }) => role === 'assistant').length,
    length: messages.length,
    tools: ((tools ?? []) as { function: JsonObject }[]).map(({ function: offered }) => ({
      name: String(offered['name']),
      parameters: isObject(offered['parameters']) ? offered['parameters'] : {},
      isCustom: false,
    })),
    toolChoice: choiceOf(body),
    parallelToolCalls: true,
    answerSchema: isObject(wanted) && wanted['type'] === 'json_object' ? schemaOf(wanted) : null,
    stop: (body['stop_sequences'] ?? []) as string[],
    outputTokensMax: typeof body['max_tokens'] === 'number' ? body['max_tokens'] : usualOutputTokens,
    thoughtTokens: isThinking ? thoughtTokensOf('low') : 0,
    callIdPrefix: '',
  }
}

function choiceOf({ tool_choice: choice }: JsonObject): ToolChoice {
  if (choice === 'REQUIRED') return 'required'
  return choice === 'NONE' ? 'none' : 'auto'
}

const finishes: Record<string, string> = {
  stop: 'COMPLETE',
  length: 'MAX_TOKENS',
  tool_calls: 'TOOL_CALL',
  content_filter: 'ERROR',
}

interface Told {
  id: string
  answer: Answer
  usage: JsonObject
}

function finishOf({ finish, stopSequence }: Answer): string {
  return stopSequence === null ? (finishes[finish] ?? finish) : 'STOP_SEQUENCE'
}

/** The plan of a model that calls a tool. */
function planOf({ calls }: Answer): string {
  return calls.length === 0 ? '' : `I will use the tool ${calls[0]?.name}.`
}

function isShown({ thoughts, reasoningTokens, isScripted }: Answer): boolean {
  return thoughts !== '' && (reasoningTokens > 0 || isScripted)
}

function wholeOf({ id, answer, usage }: Told): string {
  const text = answer.pieces?.join('') ?? answer.refusal ?? ''
  const content = [
    ...(isShown(answer) ? [{ type: 'thinking', thinking: answer.thoughts }] : []),
    ...(text === '' ? [] : [{ type: 'text', text }]),
  ]
  const calls = answer.calls.map(({ id: callId, name, arguments: given }) => ({
    id: callId,
    type: 'function',
    function: { name, arguments: given },
  }))
  return JSON.stringify({
    id,
    message: {
      role: 'assistant',
      ...(content.length === 0 ? {} : { content }),
      ...(calls.length === 0 ? {} : { tool_plan: planOf(answer), tool_calls: calls }),
    },
    finish_reason: finishOf(answer),
    ...usage,
  })
}

function event(type: string, more: object): string {
  return namedFrame(type, { type, ...more })
}

function* framesOf({ id, answer, usage }: Told): Generator<string> {
  const beginning = { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] }
  yield namedFrame('message-start', { id, type: 'message-start', delta: { message: beginning } })
  let index = 0
  const block = function* (kind: 'text' | 'thinking', pieces: readonly string[]): Generator<string> {
    yield event('content-start', { index, delta: { message: { content: { type: kind, [kind]: '' } } } })
    for (const piece of pieces)
      yield event('content-delta', { index, delta: { message: { content: { [kind]: piece } } } })
    yield event('content-end', { index })
    index += 1
  }
  if (isShown(answer)) yield* block('thinking', splitTokens(answer.thoughts))
  const pieces = answer.pieces ?? (answer.refusal === null ? [] : splitTokens(answer.refusal))
  if (pieces.length > 0) yield* block('text', pieces)
  for (const piece of splitTokens(planOf(answer)))
    yield event('tool-plan-delta', { delta: { message: { tool_plan: piece } } })
  for (const [at, { id: callId, name, arguments: given }] of answer.calls.entries()) {
    const started = { id: callId, type: 'function', function: { name, arguments: '' } }
    yield event('tool-call-start', { index: at, delta: { message: { tool_calls: started } } })
    for (const piece of splitTokens(given))
      yield event('tool-call-delta', {
        index: at,
        delta: { message: { tool_calls: { function: { arguments: piece } } } },
      })
    yield event('tool-call-end', { index: at })
  }
  yield event('message-end', { delta: { finish_reason: finishOf(answer), ...usage } })
  yield 'data: [DONE]\n\n'
}

/** An error ends a stream as its last message, with the reason `ERROR`. */
const form: StreamForm = {
  broken: 'event: content-delta\ndata: {"type":"content-delta","index":0,"delta":{"mess\n\n',
  isEnd: (sent) => sent.startsWith('event: message-end') || sent.startsWith('data: [DONE]'),
  error: (_, fault) => [
    namedFrame('message-end', {
      type: 'message-end',
      delta: { finish_reason: 'ERROR', error: fault.message ?? 'internal server error' },
    }),
  ],
}

function usageOf({ tokens, usage: given }: Answer, input: number, faults: Faults): JsonObject {
  const billed = given.input ?? input
  const counts = {
    billed_units: { input_tokens: billed, output_tokens: tokens },
    tokens: { input_tokens: billed + hiddenTokens, output_tokens: tokens + 2 },
    cached_tokens: faults.cachedTokens ?? 0,
  }
  const told = distortUsage(counts, faults.usage)
  return told === undefined ? {} : { usage: told }
}

function idOf({ key }: AudioAsked): string {
  const hash = Bun.hash.xxHash64(key).toString(16).padStart(16, '0')
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(12, 15)}-8000-${hash.slice(0, 12)}`
}

function schemaOf({ json_schema: schema }: JsonObject): JsonObject {
  return isObject(schema) ? schema : {}
}
