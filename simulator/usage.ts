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
  if (mode === 'excludes_reasoning') return withoutReasoning(usage)
  if (mode === 'cache_hits') return withCached(usage, (cached, prompt) => cacheHits(cached, prompt))
  if (mode === 'misspelt')
    return withCached(usage, (cached) => ({ prompt_token_details: { cached_tokens: cached } }))
  return usage
}

/** Counts like xAI and sometimes DeepInfra: only the sum includes reasoning. */
function withoutReasoning(usage: JsonObject): JsonObject {
  const { reasoning_tokens: reasoning } = objectOf(usage['completion_tokens_details'])
  return { ...usage, completion_tokens: countOf(usage['completion_tokens']) - countOf(reasoning) }
}

/** The tokens that were read from a cache are in another member. */
function withCached(
  { prompt_tokens_details: details, ...usage }: JsonObject,
  told: (cached: number, prompt: number) => JsonObject,
): JsonObject {
  return { ...usage, ...told(countOf(objectOf(details)['cached_tokens']), countOf(usage['prompt_tokens'])) }
}

/** DeepSeek's form of the cache counts. */
function cacheHits(cached: number, prompt: number): JsonObject {
  return { prompt_cache_hit_tokens: cached, prompt_cache_miss_tokens: prompt - cached }
}

function objectOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
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
