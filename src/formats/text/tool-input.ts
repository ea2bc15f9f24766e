import type { ToolCallPart } from '../../canonical/text/conversation.ts'
import { jsonDepthMax } from '../../core/limits/text.ts'
import { parseExactly } from '../../json/exact.ts'
import { isNestedWithin } from '../../json/depth.ts'

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

function objectOf(text: string): Record<string, unknown> | null {
  if (!isNestedWithin(text, jsonDepthMax)) return null
  try {
    const value: unknown = parseExactly(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
