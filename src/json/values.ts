import { tokenCountMax } from '../core/limits/text.ts'

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

/** What a tool or part of a format calls itself, for an error; a caller may have written anything there. */
export function typeNameOf({ type }: Readonly<Record<string, unknown>>): string {
  return typeof type === 'string' ? type : (JSON.stringify(type) ?? '')
}

/** True for a JSON object, not for null or an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value as an object; empty when it is none, so that optional members can be read without a ladder of checks. */
export function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}
}

/** The value as an array; empty when it is none. */
export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The value as text; empty when it is none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The value as a number; 0 when it is none. */
export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}

/** The value when it is a string that says something. */
export function stringOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** A whole count from 0 to the bound, or null. */
export function readCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= tokenCountMax
    ? value
    : null
}
