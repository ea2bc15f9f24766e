import type { ToolCallPart } from '../../canonical/text/conversation.ts'
import { jsonDepthMax } from '../../core/limits/text.ts'
import { parseExactly, recordOrNull, type WireRecord } from '../../json/values.ts'
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

function objectOf(text: string): WireRecord | null {
  if (!isNestedWithin(text, jsonDepthMax)) return null
  try {
    return recordOrNull(parseExactly(text))
  } catch {
    return null
  }
}
