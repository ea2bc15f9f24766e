import type { ToolCallPart } from '../../../canonical/text/conversation.ts'
import { jsonDepthMax } from '../../../core/limits/text.ts'
import { parseExactly, recordOrNull, type WireRecord } from '../../../json/values.ts'
import { isNestedWithin } from '../../../json/scan.ts'

/**
 * The arguments of a call as an object, which some formats require; numbers keep all digits. Text that is not an
 * object, or nested deeper than a body may be, stays text under `_raw`, so that the result still has its call; the
 * result tells the model of its mistake.
 */
export function toolInputOf({
  kind,
  arguments: text,
}: Pick<ToolCallPart, 'kind' | 'arguments'>): Record<string, unknown> {
  if (kind === 'custom') return { input: text }
  if (text.trim() === '') return {}
  return objectOf(text) ?? { _raw: text }
}

function objectOf(text: string): WireRecord | null {
  if (!isNestedWithin(text, jsonDepthMax)) return null
  try {
    return recordOrNull(parseExactly(text))
  } catch {
    return null
  }
}

/**
 * A tool call's id in characters that every provider takes. The same id always gives the same result, so a call and its
 * result match in the next request too, although nothing is stored.
 */
export function toolIdOf(id: string): string {
  return idPattern.test(id) ? id : `call_${Bun.hash.xxHash64(id).toString(36)}`
}

/** The arguments that clients parse when a model sent none. */
export const noArguments = '{}'

/** In the contract arguments are a JSON text; a few hosts send the object itself. */
export function toArguments(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

const idPattern = /^[a-zA-Z0-9_-]{1,64}$/
