/** A JSON object as it was parsed: nothing about its members is known yet. */
export type JsonObject = Record<string, unknown>

/** True for a JSON object, false for null, lists and plain values. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
