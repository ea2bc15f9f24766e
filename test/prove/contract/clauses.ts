import { runTests } from '../command.ts'
import type { Proof } from '../proof.ts'

export const proof: Proof = {
  title: 'one test for every clause of the specification',
  run: () => runTests(['test/contract/'], { msMax: 900_000 }),
}
