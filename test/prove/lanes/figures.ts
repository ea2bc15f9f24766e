import { runScript, runTests } from '../command.ts'
import { combine, type Proof, type ProofResult } from '../proof.ts'

/** A batch of a million items is run to its end. */
const msMax = 2_700_000

export const proof: Proof = {
  title:
    "an item costs the same in batches of 1,000 to 1,000,000; a job of ten minutes or more takes hardly longer than its provider's own time",
  run: async () =>
    combine([await measureItems(), await runTests(['test/simulation/native-time'], { msMax: 300_000 })]),
}

/** A figure that misses its budget fails the row, where the bench only tells it. */
async function measureItems(): Promise<ProofResult> {
  const { code, stdout } = await runScript('bench/run.ts', ['--only', 'items'], { msMax })
  const figures = stdout.split('\n').filter((line) => /^batch\b.*\d/.test(line))
  const isKept = code === 0 && figures.length > 0 && !/ (MISSED|FAIL)$/m.test(stdout)
  return { status: isKept ? 'PASS' : 'FAIL', figures }
}
