import { isRecord } from '../../../json/values.ts'

type Wire = Readonly<Record<string, unknown>>

/** The members of an object that change on the way to the caller. */
export interface MemberEdits {
  set: Wire
  remove: readonly string[]
}

/** Types of items whose members are present or absent, but not null; in other types null is a normal value. */
const plainItems: ReadonlySet<unknown> = new Set([
  'message',
  'reasoning',
  'function_call',
  'custom_tool_call',
])

/**
 * Changes to an answer's item that some clients would refuse: servers that write every field write null where clients
 * expect no member or a list. Null when the item passes unchanged.
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

/** Whether a part of a message lacks lists that clients require. */
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

/** Members that clients require of an event without an item; `name` is that of the called tool. */
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

/** Members of a response that clients require a value of. */
const neverNull: ReadonlySet<string> = new Set(['parallel_tool_calls', 'tool_choice', 'tools', 'text'])

/** Whether the gateway must set the member of a response itself. */
export function isMissing(name: string, value: unknown): boolean {
  return value === undefined || (value === null && neverNull.has(name))
}

/** A response's copy of the caller's tools; members of a function that the caller left out are added. */
export function toldTools(tools: unknown): unknown {
  if (!Array.isArray(tools)) return []
  return tools.map((tool: unknown) =>
    isRecord(tool) && tool['type'] === 'function' ? { parameters: null, strict: null, ...tool } : tool,
  )
}
