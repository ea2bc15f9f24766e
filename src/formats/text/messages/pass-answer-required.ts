import { isRecord } from '../../../json/values.ts'

type Wire = Readonly<Record<string, unknown>>

/** The caller of a tool, unless a program that the provider runs calls it. */
export const directCaller = { type: 'direct' } as const

/** Blocks for which clients' types require the caller of the tool. */
const calledBlocks: ReadonlySet<unknown> = new Set([
  'tool_use',
  'server_tool_use',
  'web_search_tool_result',
  'web_fetch_tool_result',
])

/**
 * The members that the contract or clients' own types require of an answer's block and that this block lacks; null when
 * none is missing. Some clients refuse null as a list of citations, others a missing list.
 */
export function missingOf({ type, citations, caller }: Wire): Wire | null {
  if (type === 'text') return Array.isArray(citations) ? null : { citations: [] }
  return calledBlocks.has(type) && !isRecord(caller) ? { caller: directCaller } : null
}

/** The usage of a message before any count is known. */
export const emptyUsage: Wire = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: null,
  output_tokens: 0,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: null,
  inference_geo: null,
  speed: null,
}

/** The end of a message before it is known. */
const emptyDelta: Wire = { stop_reason: null, stop_sequence: null, stop_details: null, container: null }

/** The members of a message's end that the provider left out. */
export function missingOfDelta(delta: Wire): Wire {
  return Object.fromEntries(Object.entries(emptyDelta).filter(([name]) => delta[name] === undefined))
}

/** The counts without nulls. */
export function withoutNulls(usage: Wire): Wire {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null))
}

/** Whether the caller is the default. Such a member comes back in history and says nothing more. */
export function isDirect(caller: unknown): boolean {
  return isRecord(caller) && caller['type'] === directCaller.type
}
