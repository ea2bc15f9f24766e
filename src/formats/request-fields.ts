import type { z } from 'zod'
import { type JsonDocument, memberValue } from '../json/document.ts'
import type { QuickCheck } from './text/quick-checks.ts'
import { memberParseBytesMax, memberPassedBytesMax } from '../core/limits/text.ts'
import { parseField } from './field-error.ts'
import { fieldError } from '../core/errors.ts'

/** How the members of a request are read. */
export interface FieldRules {
  /** What a member must be, by its name. */
  shape: Readonly<Record<string, z.ZodType>>
  /** Whether a member is surely that, told without the schema; false says nothing. */
  quickChecks?: Readonly<Partial<Record<string, QuickCheck>>>
  /** Names that are for the gateway alone, and so never too large to be read. */
  gateway: Readonly<Record<string, unknown>>
  /** Read by hand. */
  readApart: ReadonlySet<string>
  /** What may be as large as the body: it is passed on, and nothing of it decides how. */
  neverParsed: ReadonlySet<string>
}

/** Every known member of moderate size, checked; larger ones are for the provider to judge. Throws `invalid_request`. */
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
