import type { Preferences } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import { optionsFor } from '../provider-options.ts'
import { textOrJson } from '../../json/values.ts'

/** A field of a form, or a query parameter. */
export type WireField = readonly [name: string, value: string]

/**
 * The options in `provider.options` for the endpoint's provider, as fields: lists are repeated, objects become JSON.
 */
export function passedOptions(
  preferences: Preferences,
  endpoint: Endpoint,
  isPassed: (name: string) => boolean,
): WireField[] {
  return Object.entries(optionsFor(preferences, endpoint)).flatMap(([name, value]): WireField[] => {
    if (!isPassed(name) || value === null || value === undefined) return []
    const values: readonly unknown[] = Array.isArray(value) ? value : [value]
    return values.map((item): WireField => [name, textOrJson(item)])
  })
}

/** The gateway's own fields, with the caller's options replacing those of the same name. */
export function withPassed(own: readonly WireField[], passed: readonly WireField[]): WireField[] {
  const chosen = new Set(passed.map(([name]) => name))
  return [...own.filter(([name]) => !chosen.has(name)), ...passed]
}
