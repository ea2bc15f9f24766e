import type { CacheResult, CacheWish } from '../execution/cached/response-cache.ts'

/** The bounds and the default of how long an answer is given again, in seconds. */
const cacheTtlMin = 1
const cacheTtlMax = 86_400
const cacheTtlDefault = 300

/** What the contract's headers ask of the response cache; null when it is not to be used, as by default. */
export function cacheWishOf(headers: Headers): CacheWish | null {
  if (!isTrue(headers.get('x-openrouter-cache'))) return null
  const isCleared = isTrue(headers.get('x-openrouter-cache-clear'))
  return { ttlSeconds: ttlOf(headers.get('x-openrouter-cache-ttl')), isCleared }
}

function isTrue(text: string | null): boolean {
  return text !== null && text.trim().toLowerCase() === 'true'
}

/** The leading digits, within the bounds; the default without any. */
function ttlOf(text: string | null): number {
  const digits = /^\s*(\d{1,12})/.exec(text ?? '')?.[1]
  if (digits === undefined) return cacheTtlDefault
  return Math.min(Math.max(Number(digits), cacheTtlMin), cacheTtlMax)
}

/** Tells the caller whether its answer is one that was kept. */
export function setCacheHeaders(headers: Headers, { ttlSeconds, hit }: CacheResult): void {
  headers.set('x-openrouter-cache-status', hit ? 'HIT' : 'MISS')
  headers.set('x-openrouter-cache-ttl', String(ttlSeconds))
  if (!hit) return
  headers.set('x-openrouter-cache-age', String(hit.ageSeconds))
  headers.set('x-openrouter-cache-source-id', hit.sourceId)
}
