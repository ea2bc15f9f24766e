import { runSuite } from '../command.ts'
import type { Proof } from '../proof.ts'

export const proof: Proof = {
  title: 'a batch of each endpoint on each upstream ends right through ten kills, bodies member by member',
  run: () => runSuite('test/crash/format-batches.ts', { msMax: 900_000 }),
}
