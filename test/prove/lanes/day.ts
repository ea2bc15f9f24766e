import { thoroughEnvironment } from '../../support/thorough.ts'
import { runTests } from '../command.ts'
import type { Proof } from '../proof.ts'

export const proof: Proof = {
  title:
    'a day of 40 batches on both databases: one provider down for six hours, one slow, one out of credits: all end within 24 h, and bill, ledger and balance are the sum of what was answered',
  run: () => runTests(['test/simulation/day'], { msMax: 900_000, env: thoroughEnvironment }),
}
