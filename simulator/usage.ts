import type { UsageMode } from './faults.ts'
import type { JsonObject } from './json.ts'

/** More tokens than any model has ever made, but still an exact number in JSON. */
const absurdCount = 1_000_000_000_000

/** The usage object as a faulty provider would send it; undefined when it would leave it out. */
export function distortUsage(usage: JsonObject, mode: UsageMode | undefined): JsonObject | null | undefined {
  if (mode === 'missing') return undefined
  if (mode === 'null') return null
  if (mode === 'zero') return mapNumbers(usage, () => 0)
  if (mode === 'negative') return mapNumbers(usage, (count) => -count - 1)
  if (mode === 'absurd') return mapNumbers(usage, () => absurdCount)
  if (mode === 'text') return mapNumbers(usage, String)
  if (mode === 'output_only') return { output_tokens: usage['output_tokens'] ?? usage['completion_tokens'] }
  return usage
}

function mapNumbers(value: JsonObject, change: (count: number) => unknown): JsonObject {
  const changed: JsonObject = {}
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'number') changed[name] = change(member)
    else if (typeof member === 'object' && member !== null) changed[name] = mapNumbers({ ...member }, change)
    else changed[name] = member
  }
  return changed
}
