import type { Principal } from '../canonical/principal.ts'
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { principalFreshMs } from '../core/limits/access.ts'

/** How long a loaded key serves while storage is out of order. */
export const principalStaleMs = 300_000

/** Keys kept loaded, and hashes remembered as unknown. */
const principalCacheMax = 10_000
const unknownKeyCacheMax = 10_000

/** A principal and its key's expiry, in epoch milliseconds. */
export interface CachedPrincipal {
  principal: Principal
  expiresAtMs: number | null
  /** The key exists but must not be used: it is disabled, or its organization is gone. */
  isRefused: boolean
}

/** Principals by key hash: valid for two seconds, and for five minutes while storage is out of order. */
export interface PrincipalCache {
  /** A fresh principal; null when it has to be loaded. In the second half of its time it is read again in the background. */
  peek(keyHash: string): CachedPrincipal | null
  /** Whether the key existed at the last reading, however long ago that was. */
  has(keyHash: string): boolean
  /** What is remembered of a key that did not exist at its last lookup; null for every other key. */
  unknown(keyHash: string): UnknownReading | null
  /** Records that a caller was told that this key does not exist. */
  markTold(keyHash: string): void
  /** Reads the key, once for all concurrent requests; null when it does not exist. */
  load(keyHash: string): Promise<CachedPrincipal | null>
  forgetKey(keyHash: string): void
  forgetOrganization(organizationId: string): void
}

/** What is remembered of a key that does not exist. */
export interface UnknownReading {
  /** The lookup was so recent that it need not be repeated. */
  isNow: boolean
  /** A caller was told that the key does not exist. */
  isTold: boolean
}

/** What the cache reads from. */
export interface PrincipalCacheOptions {
  clock: Clock
  /** Reads a key from storage; rejects when storage cannot answer. */
  load: (keyHash: string) => Promise<CachedPrincipal | null>
}

interface Entry extends CachedPrincipal {
  /** Monotonic time at which its reading began. */
  readAtMs: number
}

/** The results of readings by key hash; both maps are bounded. */
interface Readings {
  entries: Map<string, Entry>
  /** Hashes without a key: the monotonic time until which they need no new lookup, and whether a caller was told. */
  unknown: Map<string, { untilMs: number; isTold: boolean }>
}

/** Bounded; the principals that were read longest ago are dropped first. */
export function createPrincipalCache(options: PrincipalCacheOptions): PrincipalCache {
  const { clock } = options
  const readings: Readings = { entries: new Map(), unknown: new Map() }
  const { entries, unknown } = readings
  const loading = new Map<string, Promise<CachedPrincipal | null>>()
  /** Rises with every change, so that the result of a reading that began before it is dropped. */
  let generation = 0

  async function read(keyHash: string): Promise<CachedPrincipal | null> {
    const begun = { generation, readAtMs: clock.monotonicMs() }
    try {
      const found = await options.load(keyHash)
      if (begun.generation === generation) keep(readings, { keyHash, found, readAtMs: begun.readAtMs })
      return found
    } catch (error) {
      const stale = entries.get(keyHash)
      if (stale && isUnavailable(error) && stale.readAtMs + principalStaleMs > clock.monotonicMs())
        return stale
      throw error
    }
  }

  function load(keyHash: string): Promise<CachedPrincipal | null> {
    const running = loading.get(keyHash)
    if (running) return running
    if ((unknown.get(keyHash)?.untilMs ?? 0) > clock.monotonicMs()) return Promise.resolve(null)
    const reading = read(keyHash).finally(() => {
      if (loading.get(keyHash) === reading) loading.delete(keyHash)
    })
    loading.set(keyHash, reading)
    return reading
  }

  return {
    peek(keyHash) {
      const entry = entries.get(keyHash)
      if (!entry) return null
      const ageMs = clock.monotonicMs() - entry.readAtMs
      if (ageMs >= principalFreshMs) return null
      // A busy key never waits for this reading. If it fails, callers notice only when the entry is too old to use.
      if (ageMs >= principalFreshMs / 2 && !loading.has(keyHash)) load(keyHash).catch(() => null)
      return entry
    },
    has: (keyHash) => entries.has(keyHash),
    unknown(keyHash) {
      const reading = unknown.get(keyHash)
      return reading ? { isNow: reading.untilMs > clock.monotonicMs(), isTold: reading.isTold } : null
    },
    markTold(keyHash) {
      const reading = unknown.get(keyHash)
      if (reading) reading.isTold = true
    },
    load,
    forgetKey(keyHash) {
      generation += 1
      entries.delete(keyHash)
      unknown.delete(keyHash)
      // Later requests must not join a reading that began before the change.
      loading.delete(keyHash)
    },
    forgetOrganization(organizationId) {
      generation += 1
      loading.clear()
      for (const [keyHash, { principal }] of entries) {
        if (principal.organizationId === organizationId) entries.delete(keyHash)
      }
    },
  }
}

function keep(
  { entries, unknown }: Readings,
  { keyHash, found, readAtMs }: { keyHash: string; found: CachedPrincipal | null; readAtMs: number },
): void {
  // Deleting first moves a known key to the end, so that the first entry is always the one read longest ago.
  entries.delete(keyHash)
  const isTold = unknown.get(keyHash)?.isTold ?? false
  unknown.delete(keyHash)
  if (found) {
    makeRoom(entries, principalCacheMax)
    entries.set(keyHash, { ...found, readAtMs })
  } else {
    makeRoom(unknown, unknownKeyCacheMax)
    unknown.set(keyHash, { untilMs: readAtMs + principalFreshMs, isTold })
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof GatewayError && error.type === 'storage_unavailable'
}

function makeRoom(map: Map<string, unknown>, max: number): void {
  for (const oldest of map.keys()) {
    if (map.size < max) return
    map.delete(oldest)
  }
}
