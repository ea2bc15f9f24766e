import { runSuite } from '../command.ts'
import type { Proof } from '../proof.ts'

export const proof: Proof = {
  title: 'a 1,000-item batch with 30 % provider faults and ten kills ends right',
  run: () => runSuite('test/crash/faulty-batch.ts', { msMax: 900_000 }),
}
