import type { Clock } from '../core/clock.ts'
import { unknownKeyRefusalEveryMs } from '../core/limits/access.ts'
import { createTurns, type KeyTurn } from './key-turns.ts'

/**
 * Lookups of unknown keys without a result, for one address and for all: 50 and 500 a second. So a good key is found
 * soon among bad ones, and a flood of bad ones causes only a small part of the database's reads.
 */
export const unknownKeyLookupsMax = 50
export const unknownKeyLookupEveryMs = 20
export const unknownKeyLookupsInTotalMax = 500
export const unknownKeyLookupInTotalEveryMs = 2

/**
 * Refusals of unknown keys that one client address gets at once: 30 within any minute, with one more every
 * `unknownKeyRefusalEveryMs`.
 */
export const unknownKeyRefusalsMax = 15

/**
 * Slows down the guessing of keys, but not clients with a good key. Keys are looked up much faster than callers are told
 * that a key does not exist. So a good key is found soon, however many bad ones come from its address; and a caller that
 * guesses learns that a key is bad only at that key's turn. A lookup that finds a key uses no turn.
 */
export interface UnknownKeys {
  /**
   * The result of `load` for a key that this process does not know, as soon as its lookup has its turn; null only when the
   * caller may be told that the key does not exist. Rejects with `rate_limit_exceeded` when either turn is too far away,
   * and with the errors of `load`.
   */
  lookUp<Found>(address: string, key: UnknownKey<Found>): Promise<Found | null>
}

/** A key that this process does not know. */
export interface UnknownKey<Found> {
  /** A lookup did not find it before, so it comes after keys that were not looked up yet. */
  wasLookedUp: boolean
  /** A caller was told before that it does not exist, so this caller is told last: a client with one wrong key delays no others. */
  wasTold: boolean
  load: () => Promise<Found | null>
}

/** What `createUnknownKeys` needs. */
export interface UnknownKeysOptions {
  clock: Clock
  /** Calls `wake` after so many milliseconds; a timer by default. */
  wakeAfter?: (delayMs: number, wake: () => void) => void
}

/** Told to a caller that waits for its turn too long. */
const tooManyKeys = 'Too many unknown keys come from this address. Try again in a moment.'

/** All turns are free at the beginning. `tooMany` says what there are too many of, where it is not keys. */
export function createUnknownKeys(
  { clock, wakeAfter }: UnknownKeysOptions,
  tooMany: string = tooManyKeys,
): UnknownKeys {
  const make = (turnsMax: number, everyMs: number) =>
    createTurns({ turnsMax, everyMs, tooMany, clock, wakeAfter })
  const refusals = make(unknownKeyRefusalsMax, unknownKeyRefusalEveryMs)
  const lookups = make(unknownKeyLookupsMax, unknownKeyLookupEveryMs)
  const lookupsInTotal = make(unknownKeyLookupsInTotalMax, unknownKeyLookupInTotalEveryMs)

  /** A lookup that finds a key gives its turns back. */
  async function find<Found>(address: string, key: UnknownKey<Found>): Promise<Found | null> {
    const taken: KeyTurn[] = []
    let isNone = false
    try {
      for (const [turns, name] of [
        [lookups, address],
        [lookupsInTotal, everybody],
      ] as const) {
        const turn = turns.enter(name, key.wasLookedUp)
        taken.push(turn)
        if (turn.ready) await turn.ready
      }
      const found = await key.load()
      isNone = found === null
      return found
    } finally {
      if (!isNone) for (const turn of taken) turn.giveBack()
    }
  }

  return {
    async lookUp(address, key) {
      // Waiting for this turn begins with the request and runs beside the lookup.
      const refusal = refusals.enter(address, key.wasTold)
      // The wait may be refused while the lookup still runs; the refusal is read later.
      refusal.ready?.catch(() => undefined)
      let found = null
      try {
        found = await find(address, key)
      } catch (error) {
        refusal.giveBack()
        throw error
      }
      if (found === null) await refusal.ready
      else refusal.giveBack()
      return found
    },
  }
}

/** The name under which all addresses are counted together. */
const everybody = ''
