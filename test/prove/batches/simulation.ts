import { thoroughEnvironment } from '../../support/thorough.ts'
import { runTests } from '../command.ts'
import type { Proof } from '../proof.ts'

export const proof: Proof = {
  title:
    'every story of a batch, dead before and after every point three times over, and sixty histories of money',
  run: () => runTests(['test/simulation/'], { msMax: 3_600_000, env: thoroughEnvironment }),
}
