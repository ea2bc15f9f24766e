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
