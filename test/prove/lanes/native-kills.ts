import { thoroughEnvironment } from '../../support/thorough.ts'
import { runSuite, runTests } from '../command.ts'
import { combine, type Proof } from '../proof.ts'

export const proof: Proof = {
  title:
    "a kill before and after every commit point of a provider's job, on both databases, 1 and 4 processes: every item one result and one capture, no job twice, nothing left there",
  run: async () =>
    combine([
      await runSuite('test/crash/run.ts', { args: ['', '', '2', 'jobs'], msMax: 3_600_000 }),
      await runTests(['test/simulation/native-jobs'], { msMax: 1_800_000, env: thoroughEnvironment }),
    ]),
}
