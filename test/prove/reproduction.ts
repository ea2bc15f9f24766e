import { rootFolder } from '../tidy/sources.ts'
import { notRun, type Proof, type ProofResult } from './proof.ts'
import { checkOut, versionBefore } from './version-before.ts'

/** One thing that a reproduction looked at. */
export interface Check {
  /** What is promised, as a sentence: `a refused call is not charged`. */
  name: string
  held: boolean
  /** What was seen, with its figure: `balance 5 → 4.9989`. */
  seen: string
}

/** A defect as a user met it, looked for from outside. */
export interface Reproduction {
  title: string
  /** Why it cannot be run on this machine (a program that is missing), or null. */
  missing?: () => string | null
  /** Uses the program of the checkout at `root` from outside: its commands, its HTTP, its documents. */
  observe(root: string): Promise<readonly Check[]>
}

/**
 * A proof that runs a reproduction on the version before and on this one. It passes when every check holds now and did
 * not hold before; a check that held before shows nothing, and fails the proof.
 */
export function reproduction({ title, missing, observe }: Reproduction): Proof {
  return {
    title,
    async run() {
      const reason = missing?.() ?? null
      if (reason !== null) return notRun(reason)
      const before = checkOut(versionBefore)
      if (before === null) return notRun('the history does not reach back to the version before')
      return compare(await observe(before), await observe(rootFolder))
    },
  }
}

function compare(before: readonly Check[], now: readonly Check[]): ProofResult {
  const earlier = new Map(before.map((check) => [check.name, check]))
  let isGood = now.length > 0
  const figures = now.map((check) => {
    const old = earlier.get(check.name)
    isGood &&= check.held && old?.held !== true
    const verdict = check.held ? 'holds' : 'DOES NOT HOLD'
    const was = old?.held === true ? 'HELD BEFORE TOO: ' : ''
    return `${verdict}: ${check.name}: before: ${was}${old?.seen ?? 'not reached'}; now: ${check.seen}`
  })
  return { status: isGood ? 'PASS' : 'FAIL', figures }
}
