import type { z } from 'zod'
import { type JsonDocument, memberValue } from '../json/document.ts'
import type { QuickCheck } from './text/quick-checks.ts'
import { memberParseBytesMax, memberPassedBytesMax } from '../core/limits/text.ts'
import { parseField } from './field-error.ts'
import { fieldError } from '../core/errors.ts'

/** The rules by which the members of a request are read. */
export interface FieldRules {
  /** The schema of each member, by name. */
  shape: Readonly<Record<string, z.ZodType>>
  /** Quick tests, by name: true means that the value surely matches the schema; false says nothing. */
  quickChecks?: Readonly<Partial<Record<string, QuickCheck>>>
  /** Names that only the gateway reads; they are always parsed, whatever their size. */
  gateway: Readonly<Record<string, unknown>>
  /** Members that other code reads. */
  readApart: ReadonlySet<string>
  /** Members that may be as large as the body: they are only passed on, and no decision depends on them. */
  neverParsed: ReadonlySet<string>
}

/** Reads and checks every known member of moderate size; the provider judges larger ones. Throws `invalid_request`. */
export function readFields(document: JsonDocument, rules: FieldRules): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const [name, { valueStart, valueEnd }] of document.members) {
    const schema = Object.hasOwn(rules.shape, name) ? rules.shape[name] : undefined
    if (schema === undefined || rules.readApart.has(name)) continue
    const length = valueEnd - valueStart
    if (length > memberParseBytesMax) {
      if (Object.hasOwn(rules.gateway, name))
        throw fieldError(name, `must be at most ${memberParseBytesMax} bytes.`)
      if (length > memberPassedBytesMax && !rules.neverParsed.has(name))
        throw fieldError(name, `must be at most ${memberPassedBytesMax} bytes.`)
      continue
    }
    const value = memberValue(document, name)
    fields[name] = rules.quickChecks?.[name]?.(value) ? value : parseField<unknown>(schema, name, value)
  }
  return fields
}
