import { runSuite } from '../command.ts'
import type { Proof } from '../proof.ts'

export const proof: Proof = {
  title: 'the benchmark beside nginx, the durable floor and the peer; budgets are shown, not judged',
  run: () => runSuite('bench/run.ts', { msMax: 3_600_000 }),
}
