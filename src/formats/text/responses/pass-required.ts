import { isRecord } from '../../../json/values.ts'

type Wire = Readonly<Record<string, unknown>>

/** What of an object is to be written otherwise than its provider wrote it. */
export interface MemberEdits {
  set: Wire
  remove: readonly string[]
}

/** Kinds of items whose members are there or are left out; of others null is a value like any other. */
const plainItems: ReadonlySet<unknown> = new Set([
  'message',
  'reasoning',
  'function_call',
  'custom_tool_call',
])

/**
 * Members of an item of an answer that some clients refuse as they are: servers that write every field of an object write
 * null where clients want nothing or a list. Null where the item is shown as it came.
 */
export function editsOfItem(item: Wire): MemberEdits | null {
  if (!plainItems.has(item['type'])) return null
  const set: Record<string, unknown> = {}
  const { type, id, call_id: callId, content, summary } = item
  if (type === 'message' && !Array.isArray(content)) set['content'] = []
  if (type === 'message' && Array.isArray(content) && content.some(isUnfit)) set['content'] = content.map(fit)
  if (type === 'reasoning' && !Array.isArray(summary)) set['summary'] = []
  if (typeof id !== 'string' && typeof callId === 'string') set['id'] = callId
  const remove = Object.keys(item).filter((name) => item[name] === null && set[name] === undefined)
  return remove.length === 0 && Object.keys(set).length === 0 ? null : { set, remove }
}

/** Whether clients want lists of a part of a message where it has none. */
function isUnfit(part: unknown): boolean {
  if (!isRecord(part) || part['type'] !== 'output_text') return false
  const { annotations, logprobs } = part
  return !Array.isArray(annotations) || (logprobs !== undefined && !Array.isArray(logprobs))
}

function fit(part: unknown): unknown {
  if (!isRecord(part) || !isUnfit(part)) return part
  const { annotations, logprobs } = part
  return {
    ...part,
    annotations: Array.isArray(annotations) ? annotations : [],
    logprobs: Array.isArray(logprobs) ? logprobs : [],
  }
}

/** Members of an event without an item that clients require; `name` is that of the tool that is being called. */
export function missingOfEvent({ type, logprobs, part, name }: Wire, calledName: string | null): Wire | null {
  switch (type) {
    case 'response.output_text.delta':
    case 'response.output_text.done':
      return Array.isArray(logprobs) ? null : { logprobs: [] }
    case 'response.content_part.added':
    case 'response.content_part.done':
      return isUnfit(part) ? { part: fit(part) } : null
    case 'response.function_call_arguments.done':
      return typeof name === 'string' || calledName === null ? null : { name: calledName }
    default:
      return null
  }
}

/** Members of a response that clients want a value of. */
const neverNull: ReadonlySet<string> = new Set(['parallel_tool_calls', 'tool_choice', 'tools', 'text'])

/** Whether the gateway says a member of a response itself. */
export function isMissing(name: string, value: unknown): boolean {
  return value === undefined || (value === null && neverNull.has(name))
}

/** Tools as a response tells them again: of a function the members that a caller may leave out are there. */
export function toldTools(tools: unknown): unknown {
  if (!Array.isArray(tools)) return []
  return tools.map((tool: unknown) =>
    isRecord(tool) && tool['type'] === 'function' ? { parameters: null, strict: null, ...tool } : tool,
  )
}

/**
 * OpenAI's own clients note in an answer what they have parsed of it, and the provider refuses that when it comes back. Null
 * where nothing is noted.
 */
export function withoutNotes(item: Wire): MemberEdits | null {
  const { content } = item
  const remove = Object.hasOwn(item, 'parsed_arguments') ? ['parsed_arguments'] : []
  if (!Array.isArray(content) || !content.some(isNoted))
    return remove.length === 0 ? null : { set: {}, remove }
  return { set: { content: content.map((part) => (isNoted(part) ? withoutParsed(part) : part)) }, remove }
}

function isNoted(part: unknown): part is Wire {
  return isRecord(part) && Object.hasOwn(part, 'parsed')
}

function withoutParsed({ parsed: _noted, ...part }: Wire): Wire {
  return part
}
