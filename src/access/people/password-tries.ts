import { createTurns } from '../key-turns.ts'
import type { UnknownKeysOptions } from '../unknown-keys.ts'

/**
 * Passwords that are checked for one address, and for all: at once, and how often one more. Each check takes a thread about
 * 20 ms, so that without a bound guesses would take the machine away from calls. A right password uses none up.
 */
const passwordTriesMax = 15
const passwordTryEveryMs = 1_000
const passwordTriesInTotalMax = 50
const passwordTryInTotalEveryMs = 100

/** Bounds how often passwords are checked. */
export interface PasswordTries {
  /**
   * The result of `check` when its turn comes; one that is not null gives the turn back. Rejects with `rate_limit_exceeded`
   * when the turn is too far away.
   */
  check<T>(address: string, check: () => Promise<T | null>): Promise<T | null>
}

const tooMany = 'Too many passwords wait to be checked. Try again in a moment.'

/** The name under which all addresses are counted together. */
const everybody = ''

/** All turns are free at the beginning. */
export function createPasswordTries(options: UnknownKeysOptions): PasswordTries {
  const { clock, wakeAfter } = options
  const make = (turnsMax: number, everyMs: number) =>
    createTurns({ turnsMax, everyMs, tooMany, clock, wakeAfter })
  const tries = make(passwordTriesMax, passwordTryEveryMs)
  const triesInTotal = make(passwordTriesInTotalMax, passwordTryInTotalEveryMs)
  return {
    async check(address, check) {
      const turns = []
      for (const turn of [tries.enter(address, false), triesInTotal.enter(everybody, false)]) {
        turns.push(turn)
        if (turn.ready) await turn.ready
      }
      const found = await check()
      if (found !== null) for (const turn of turns) turn.giveBack()
      return found
    },
  }
}
