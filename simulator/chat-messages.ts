import * as check from './checks.ts'
import { invalidRequest } from './errors.ts'
import { isObject, type JsonObject } from './json.ts'
import { countTokens } from './tokens.ts'

/** The parts of a message that the simulator reads. */
export interface ChatMessage {
  role: string
  /** The text of all parts. */
  text: string
  /**
   * The message's prompt tokens: its text, its calls, four for the message itself and a fixed number for each
   * medium.
   */
  tokens: number
  toolCallIds: string[]
  toolCallId: string | null
}

const messageTokens = 4
/** An image, a file or a clip counts the same whatever its size: the true rules are not public. */
const mediumTokens = 85

const breakpoint = check.members({ mode: check.string() })
const partFields: Record<string, check.Check> = {
  text: check.members({ type: check.string(), text: check.string(), prompt_cache_breakpoint: breakpoint }, [
    'text',
  ]),
  refusal: check.members({ type: check.string(), refusal: check.string() }, ['refusal']),
  image_url: check.members(
    {
      type: check.string(),
      image_url: check.members({ url: check.string(), detail: check.oneOf('auto', 'low', 'high') }, ['url']),
      prompt_cache_breakpoint: breakpoint,
    },
    ['image_url'],
  ),
  input_audio: check.members(
    {
      type: check.string(),
      input_audio: check.members({ data: check.string(), format: check.oneOf('wav', 'mp3') }, [
        'data',
        'format',
      ]),
      prompt_cache_breakpoint: breakpoint,
    },
    ['input_audio'],
  ),
  file: check.members(
    {
      type: check.string(),
      file: check.members({ file_data: check.string(), file_id: check.string(), filename: check.string() }),
      prompt_cache_breakpoint: breakpoint,
    },
    ['file'],
  ),
}

/** The kinds of part a role may send. */
const partsOfRole: Record<string, readonly string[]> = {
  system: ['text'],
  developer: ['text'],
  user: ['text', 'image_url', 'input_audio', 'file'],
  assistant: ['text', 'refusal'],
  tool: ['text'],
  function: [],
}

const callFields = check.members(
  {
    id: check.string(),
    type: check.oneOf('function', 'custom'),
    function: check.members({ name: check.string(), arguments: check.string() }, ['name', 'arguments']),
    custom: check.members({ name: check.string(), input: check.string() }, ['name', 'input']),
  },
  ['id', 'type'],
)
const content = check.either(check.listOf(check.object), check.string())
const withName = { role: check.string(), content, name: check.string() }
const messageFields: Record<string, Record<string, check.Check>> = {
  system: withName,
  developer: withName,
  user: withName,
  assistant: {
    ...withName,
    refusal: check.string(),
    annotations: check.listOf(check.object),
    audio: check.object,
    tool_calls: check.listOf(callFields, 128),
    function_call: check.object,
  },
  tool: { role: check.string(), content, tool_call_id: check.string() },
  function: withName,
}

const requiredOf: Record<string, readonly string[]> = { tool: ['content', 'tool_call_id'], assistant: [] }

/** Reads and checks the conversation. Throws `ApiError` naming the first message at fault. */
export function parseMessages(value: unknown, lenient: boolean): ChatMessage[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw invalidRequest("Invalid 'messages': at least one message is expected.", 'messages', 'empty_array')
  }
  const messages = value.map((message: JsonObject, index) => parseMessage(message, index, lenient))
  refuseLooseToolMessages(messages)
  return messages
}

function parseMessage(message: JsonObject, index: number, lenient: boolean): ChatMessage {
  const prefix = `messages[${index}]`
  const role = message['role']
  check.oneOf(...Object.keys(messageFields))(role, `${prefix}.role`)
  const fields = messageFields[String(role)] ?? {}
  const required = requiredOf[String(role)] ?? ['content']
  check.checkMembers(message, { fields, required, strict: !lenient, prefix: `${prefix}.` })
  const calls = Array.isArray(message['tool_calls']) ? message['tool_calls'] : []
  if (role === 'assistant' && saysNothing(message)) {
    throw invalidRequest(`Invalid '${prefix}': content or tool calls are expected.`, `${prefix}.content`)
  }
  const parts = contentParts(message['content'], { role: String(role), prefix: `${prefix}.content`, lenient })
  const text = parts.map((part) => part.text).join('\n')
  const media = parts.filter((part) => part.medium).length
  const callText = calls.length > 0 ? JSON.stringify(calls) : ''
  return {
    role: String(role),
    text,
    tokens: messageTokens + countTokens(text) + countTokens(callText) + media * mediumTokens,
    toolCallIds: calls.map((call: JsonObject) => String(call['id'])),
    toolCallId: typeof message['tool_call_id'] === 'string' ? message['tool_call_id'] : null,
  }
}

/** An assistant's message must hold at least one of these. */
function saysNothing(message: JsonObject): boolean {
  const said = [
    message['content'],
    message['refusal'],
    message['audio'],
    message['function_call'],
    message['tool_calls'],
  ]
  return said.every(
    (value) => value === null || value === undefined || (Array.isArray(value) && value.length === 0),
  )
}

function contentParts(value: unknown, options: { role: string; prefix: string; lenient: boolean }) {
  if (typeof value === 'string') return [{ text: value, medium: false }]
  if (!Array.isArray(value)) return []
  return value.map((part: JsonObject, index) => {
    const prefix = `${options.prefix}[${index}]`
    const allowed = partsOfRole[options.role] ?? []
    check.oneOf(...allowed)(part['type'], `${prefix}.type`)
    const type = String(part['type'])
    if (!options.lenient) partFields[type]?.(part, prefix)
    const text = part['text'] ?? part['refusal']
    return { text: typeof text === 'string' ? text : '', medium: !['text', 'refusal'].includes(type) }
  })
}

/** Throws unless every tool result follows the message with its call, and every call has a result. */
function refuseLooseToolMessages(messages: readonly ChatMessage[]): void {
  let open = new Set<string>()
  for (const [index, message] of messages.entries()) {
    const prefix = `messages[${index}]`
    if (message.role === 'tool') {
      if (open.delete(message.toolCallId ?? '')) continue
      const text = `Invalid '${prefix}': a message with role 'tool' must answer a preceding message with 'tool_calls'.`
      throw invalidRequest(text, `${prefix}.role`)
    }
    refuseOpenCalls(open, prefix)
    open = new Set(message.toolCallIds)
  }
  refuseOpenCalls(open, 'messages')
}

function refuseOpenCalls(open: ReadonlySet<string>, param: string): void {
  if (open.size === 0) return
  const ids = [...open].join(', ')
  throw invalidRequest(`These tool_call_ids have no answer in a 'tool' message: ${ids}.`, param)
}

/** The text of the last message of the user, empty when there is none. */
export function lastUserText(messages: readonly ChatMessage[]): string {
  return messages.findLast((message) => message.role === 'user')?.text ?? ''
}

/** The prompt tokens of a conversation, its tools and its answer schema. */
export function promptTokens(messages: readonly ChatMessage[], extras: readonly unknown[]): number {
  const said = messages.reduce((sum, message) => sum + message.tokens, 0)
  const offered = extras.filter((extra) => isObject(extra) || Array.isArray(extra))
  return said + offered.reduce<number>((sum, extra) => sum + countTokens(JSON.stringify(extra)), 0)
}
