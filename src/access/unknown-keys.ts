import type { Clock } from '../core/clock.ts'
import {
  unknownKeyLookupEveryMs,
  unknownKeyLookupInTotalEveryMs,
  unknownKeyLookupsInTotalMax,
  unknownKeyLookupsMax,
  unknownKeyRefusalEveryMs,
  unknownKeyRefusalsMax,
} from '../core/limits/access.ts'
import { createTurns, type KeyTurn } from './key-turns.ts'

/**
 * Slows down the guessing of keys, and not the clients whose key is good. Keys are looked up many times faster than
 * callers are told that theirs is none: a good key is found soon, however many bad ones come from its address and go on
 * coming, while a caller who guesses learns no more of a bad key than before its turn. What finds a key takes no turn.
 */
export interface UnknownKeys {
  /**
   * What `load` finds for a key that this process does not know, as soon as its lookup has its turn; null only when the
   * caller may be told that the key is none. Rejects with `rate_limit_exceeded` when either turn is too far off, and with
   * what `load` rejects with.
   */
  lookUp<Found>(address: string, key: UnknownKey<Found>): Promise<Found | null>
}

/** A key that this process does not know. */
export interface UnknownKey<Found> {
  /** It was looked up before and was none: it comes after the keys that were not. */
  wasLookedUp: boolean
  /** A caller was told so, and this one comes last to be told: a client with one wrong key holds up nobody. */
  wasTold: boolean
  load: () => Promise<Found | null>
}

/** What the slowing needs. */
export interface UnknownKeysOptions {
  clock: Clock
  /** Calls `wake` after so many milliseconds; a timer by default. */
  wakeAfter?: (delayMs: number, wake: () => void) => void
}

/** Nobody has asked yet. */
export function createUnknownKeys({ clock, wakeAfter }: UnknownKeysOptions): UnknownKeys {
  const make = (turnsMax: number, everyMs: number) => createTurns({ turnsMax, everyMs, clock, wakeAfter })
  const refusals = make(unknownKeyRefusalsMax, unknownKeyRefusalEveryMs)
  const lookups = make(unknownKeyLookupsMax, unknownKeyLookupEveryMs)
  const lookupsInTotal = make(unknownKeyLookupsInTotalMax, unknownKeyLookupInTotalEveryMs)

  /** The turns stay taken only where nothing was found. */
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
      // The wait begins when the request comes, as if it were for the lookup.
      const refusal = refusals.enter(address, key.wasTold)
      // It may end while the key is still looked up.
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

/** The one name under which all addresses count together. */
const everybody = ''
