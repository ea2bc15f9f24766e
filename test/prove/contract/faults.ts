import { runSuite } from '../command.ts'
import type { Proof } from '../proof.ts'

export const proof: Proof = {
  title: 'every fault of a provider ends as the table written by hand has it, and no hold is left',
  run: () => runSuite('test/faults/run.ts', { msMax: 600_000 }),
}
