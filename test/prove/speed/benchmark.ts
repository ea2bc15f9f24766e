import { runSuite } from '../command.ts'
import type { Proof } from '../proof.ts'

/** What `budgets.ts` does not measure. */
const cases = 'open-stream,open-paced,hang-ups,slow,stalled,batch,upload,start,installed'

export const proof: Proof = {
  title: 'streams at a rate, callers who leave, slow readers, uploads, starts: budgets are shown, not judged',
  run: () => runSuite('bench/run.ts', { args: [`--only=${cases}`], msMax: 3_600_000 }),
}
