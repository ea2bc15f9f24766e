import { runSuite, runTests } from '../command.ts'
import { thoroughEnvironment } from '../../support/thorough.ts'
import { combine, type Proof } from '../proof.ts'

export const proof: Proof = {
  title:
    'a kill before and after every commit point, on both databases, 1 and 4 processes; lost unsynced writes',
  run: async () =>
    combine([
      await runSuite('test/crash/run.ts', { msMax: 7_200_000 }),
      await runTests(['test/crash/lossy', 'test/e2e/batches'], { msMax: 300_000, env: thoroughEnvironment }),
    ]),
}
