import type { Effort } from '../canonical/text/conversation.ts'
import { isRecord } from './chat/chat-media.ts'

/** The value when it is an object. */
export function recordOrNull(value: unknown): Readonly<Record<string, unknown>> | null {
  return isRecord(value) ? value : null
}

/** The value when it is a number. */
export function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

/** The value when it is true or false. */
export function booleanOrNull(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null
}

/** The value when it is a text, which may be empty. */
export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

const efforts: ReadonlySet<unknown> = new Set<Effort>([
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
])

/** How hard to think, where it is one of the words that formats share. */
export function effortOrNull(value: unknown): Effort | null {
  return efforts.has(value) ? (value as Effort) : null
}

/** What a tool or part of a format calls itself, for an error; a caller may have written anything there. */
export function typeNameOf({ type }: Readonly<Record<string, unknown>>): string {
  return typeof type === 'string' ? type : (JSON.stringify(type) ?? '')
}
