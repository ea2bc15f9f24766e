import { notRun, type Proof, type ProofResult } from './proof.ts'

/** One thing that was looked at. */
export interface Check {
  /** What is promised, as a sentence: `a refused call is not charged`. */
  name: string
  held: boolean
  /** What was seen, with its figure: `balance 5 → 4.9989`. */
  seen: string
}

/** What a user sees of the program from outside: its commands, its HTTP, its documents. */
export interface Observation {
  title: string
  /** Why it cannot be run on this machine (a program that is missing), or null. */
  missing?: () => string | null
  observe(): Promise<readonly Check[]>
}

/** A proof that passes when all that is looked at is as it is promised. */
export function observation({ title, missing, observe }: Observation): Proof {
  return {
    title,
    async run() {
      const reason = missing?.() ?? null
      return reason === null ? judge(await observe()) : notRun(reason)
    },
  }
}

function judge(checks: readonly Check[]): ProofResult {
  const isGood = checks.length > 0 && checks.every(({ held }) => held)
  const figures = checks.map(
    ({ name, held, seen }) => `${held ? 'holds' : 'DOES NOT HOLD'}: ${name}: ${seen}`,
  )
  return { status: isGood ? 'PASS' : 'FAIL', figures }
}
