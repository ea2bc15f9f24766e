import { isRecord } from '../../../json/values.ts'

type Wire = Readonly<Record<string, unknown>>

/** Who calls a tool unless a program that the provider runs does. */
export const directCaller = { type: 'direct' } as const

/** Blocks of which clients' types want to know who called the tool. */
const calledBlocks: ReadonlySet<unknown> = new Set([
  'tool_use',
  'server_tool_use',
  'web_search_tool_result',
  'web_fetch_tool_result',
])

/**
 * What the contract and clients' own types require of a block of an answer, and this block does not have; null where
 * nothing is missing. Some clients refuse null for a list of citations, and others a block without one.
 */
export function missingOf({ type, citations, caller }: Wire): Wire | null {
  if (type === 'text') return Array.isArray(citations) ? null : { citations: [] }
  return calledBlocks.has(type) && !isRecord(caller) ? { caller: directCaller } : null
}

/** Every count that a message has, before any is known. */
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

/** How a message ends, before that is known. */
const emptyDelta: Wire = { stop_reason: null, stop_sequence: null, stop_details: null, container: null }

/** Members of the end of a message that a provider left out. */
export function missingOfDelta(delta: Wire): Wire {
  return Object.fromEntries(Object.entries(emptyDelta).filter(([name]) => delta[name] === undefined))
}

/** Counts that say something. */
export function withoutNulls(usage: Wire): Wire {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null))
}

/** Whether a block only says again what it says by itself: such a member comes back in history. */
export function isDirect(caller: unknown): boolean {
  return isRecord(caller) && caller['type'] === directCaller.type
}
