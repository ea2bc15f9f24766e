import { thoroughEnvironment } from '../../support/thorough.ts'
import { runTests } from '../command.ts'
import type { Proof } from '../proof.ts'

export const proof: Proof = {
  title:
    'row 3: chart, legend, CSV and ledger of 200,000 calls are equal to the nanocredit in three time zones',
  run: () =>
    runTests(['e2e/equal-sums', 'contract/accounting'], {
      msMax: 3_600_000,
      env: thoroughEnvironment,
      keep: /calls in \d+ s cost/,
    }),
}
