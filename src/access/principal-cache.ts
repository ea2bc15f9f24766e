import type { Principal } from '../canonical/principal.ts'
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import {
  principalCacheMax,
  principalFreshMs,
  principalStaleMs,
  unknownKeyCacheMax,
} from '../core/limits/access.ts'

/** A principal with the end of its key's life, in epoch milliseconds. */
export interface CachedPrincipal {
  principal: Principal
  expiresAtMs: number | null
  /** The key is known and must not be used: disabled, or of an organization that is gone. */
  isRefused: boolean
}

/** Principals by key hash: fresh for two seconds, and as long as storage is out of order for five minutes. */
export interface PrincipalCache {
  /** A fresh principal; null when it has to be loaded. Past half its time it is read again in the background. */
  peek(keyHash: string): CachedPrincipal | null
  /** Whether there was such a key when it was last read, however long ago. */
  has(keyHash: string): boolean
  /** A key that was none when it was last looked up; null for every other. */
  unknown(keyHash: string): UnknownReading | null
  /** A caller has been told that the key is none. */
  markTold(keyHash: string): void
  /** Reads the key, once for all who ask at the same time; null when there is none. */
  load(keyHash: string): Promise<CachedPrincipal | null>
  forgetKey(keyHash: string): void
  forgetOrganization(organizationId: string): void
}

/** What is remembered of a key that is none. */
export interface UnknownReading {
  /** It was read so short a time ago that it need not be asked again. */
  isNow: boolean
  /** A caller has been told. */
  isTold: boolean
}

/** What the cache reads from. */
export interface PrincipalCacheOptions {
  clock: Clock
  /** Reads a key from storage; rejects when storage cannot answer. */
  load: (keyHash: string) => Promise<CachedPrincipal | null>
}

interface Entry extends CachedPrincipal {
  /** Monotonic; when its reading began. */
  readAtMs: number
}

/** What was read, by key hash; both bounded. */
interface Readings {
  entries: Map<string, Entry>
  /** Hashes that were no key, with the monotonic time until which they need not be asked again, and who was told. */
  unknown: Map<string, { untilMs: number; isTold: boolean }>
}

/** Bounded; the principals read longest ago give way. */
export function createPrincipalCache(options: PrincipalCacheOptions): PrincipalCache {
  const { clock } = options
  const readings: Readings = { entries: new Map(), unknown: new Map() }
  const { entries, unknown } = readings
  const loading = new Map<string, Promise<CachedPrincipal | null>>()
  /** Rises with every change, so that a reading begun before it is not kept. */
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
      // A busy key never waits for its reading. A failure shows when the entry is too old to be used.
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
      // Whoever asks from now on must not join a reading that began before the change.
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
  // Deleting first puts a known key behind all others, so that the one read longest ago gives way.
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
