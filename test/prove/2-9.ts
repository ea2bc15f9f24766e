import { runSuite } from './command.ts'
import type { Proof } from './proof.ts'

export const proof: Proof = {
  title: 'the benchmark against nginx and the peer, with the budgets beside it',
  run: () => runSuite('bench/run.ts', { msMax: 3_600_000 }),
}
