import type { ToolCallPart } from '../../../canonical/text/conversation.ts'
import { jsonDepthMax } from '../../../core/limits/text.ts'
import { parseExactly, recordOrNull, type WireRecord } from '../../../json/values.ts'
import { isNestedWithin } from '../../../json/scan.ts'

/**
 * Arguments of a call as the object that some formats want, with every digit of their numbers. What is no object, or is
 * nested deeper than a body may be, stays as the text it is in `_raw`, so that its result has its call: the model itself
 * wrote it, and is told so by what came of it.
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
 * A tool call's id in the letters that every provider takes: the same for the same id, so that a call and its result
 * still belong together, also in the next request, without anything being kept.
 */
export function toolIdOf(id: string): string {
  return idPattern.test(id) ? id : `call_${Bun.hash.xxHash64(id).toString(36)}`
}

/** What clients parse where a model called a tool without a word. */
export const noArguments = '{}'

/** Arguments are a JSON text in the contract; a few hosts give the object itself. */
export function toArguments(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

const idPattern = /^[a-zA-Z0-9_-]{1,64}$/
