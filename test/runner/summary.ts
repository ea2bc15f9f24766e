/** What a run of `bun test` counted. */
export interface Summary {
  passed: number
  failed: number
  /** Skipped tests and ones marked as still to be written. */
  skipped: number
}

/**
 * Reads the count that `bun test` prints last. A run that ends without one broke off (a test ended the process), which
 * is a failure even when the exit code says otherwise; and a failing exit code is never reported as no failure.
 */
export function parseSummary(output: string, exitCode: number): Summary {
  // oxlint-disable-next-line no-control-regex -- colours are escape sequences
  const plain = output.replaceAll(/\u001b\[[0-9;]*m/g, '')
  const isComplete = /^Ran \d+ tests? across \d+ files?\./m.test(plain)
  const failed = countOf(plain, 'fail')
  const isBroken = !isComplete || exitCode !== 0
  return {
    passed: countOf(plain, 'pass'),
    failed: isBroken ? Math.max(failed, 1) : failed,
    skipped: countOf(plain, 'skip') + countOf(plain, 'todo'),
  }
}

/** The last one counts: a test may print something of the same shape. */
function countOf(plain: string, word: string): number {
  const found = [...plain.matchAll(new RegExp(`^ *(\\d+) ${word}$`, 'gm'))].at(-1)
  return found === undefined ? 0 : Number(found[1])
}
