/** How a proof ended. Not run is neither good nor bad: its suite or a program it needs is missing. */
export type ProofStatus = 'PASS' | 'FAIL' | 'NOT RUN'

/** What a proof found; `figures` are lines for people, measured in this run. */
export interface ProofResult {
  status: ProofStatus
  figures: readonly string[]
}

/** What a file in a folder of this one exports as `proof`. */
export interface Proof {
  title: string
  /** Rejecting counts as failed. */
  run(): Promise<ProofResult>
}

/** One of the rows of a proof that has several. */
export interface ProofRow extends ProofResult {
  /** Begins with the name of the proof. */
  id: string
  title: string
}

/** A proof with a row for each of something. */
export interface ProofOfRows {
  rows(): Promise<readonly ProofRow[]>
}

/** Passed if everything in it passed, not run if anything was not, failed if anything failed; the figures of all. */
export function combine(results: readonly ProofResult[]): ProofResult {
  const figures = results.flatMap((result) => result.figures)
  const has = (status: ProofStatus) => results.some((result) => result.status === status)
  if (has('FAIL')) return { status: 'FAIL', figures }
  return { status: has('NOT RUN') || results.length === 0 ? 'NOT RUN' : 'PASS', figures }
}

/** A proof whose suite is not there. */
export function notRun(reason: string): ProofResult {
  return { status: 'NOT RUN', figures: [reason] }
}
