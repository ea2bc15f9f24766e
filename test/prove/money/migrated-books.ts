import { thoroughEnvironment } from '../../support/thorough.ts'
import { runTests } from '../command.ts'
import type { Proof } from '../proof.ts'

export const proof: Proof = {
  title: 'books of 200,000 calls balance after they are migrated, on both databases',
  run: () => runTests(['ledger/migrated-books'], { msMax: 900_000, env: thoroughEnvironment }),
}
