import { runSuite, runTests } from '../command.ts'
import { combine, type Proof } from '../proof.ts'

export const proof: Proof = {
  title: 'exactly 100 of 500 calls; a frozen process, a clock set back, a slow disk',
  run: async () =>
    combine([
      await runTests(['test/e2e/money'], { msMax: 300_000 }),
      await runSuite('test/crash/money.ts', { msMax: 1_800_000 }),
    ]),
}
