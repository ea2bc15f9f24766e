import { isRecord } from '../../json/values.ts'

/** The members by which callers of every format ask not to be shown thoughts. */
export interface HidingFields {
  reasoning?: { exclude?: boolean | null } | null
  include_reasoning?: boolean | null
}

/** What such members say, for the call. */
export function readHiding({ reasoning, include_reasoning: isIncluded }: HidingFields): {
  hiddenThoughts?: 'all'
} {
  return reasoning?.exclude === true || isIncluded === false ? { hiddenThoughts: 'all' } : {}
}

/** Whether a `reasoning` object says no more than that: it is no wish for any thought. */
export function isOnlyHiding(reasoning: unknown): boolean {
  if (!isRecord(reasoning) || reasoning['exclude'] !== true) return false
  return Object.entries(reasoning).every(
    ([name, value]) => name === 'exclude' || value === null || value === undefined,
  )
}
