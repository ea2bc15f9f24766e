import { runSuite } from '../command.ts'
import type { Proof } from '../proof.ts'

export const proof: Proof = {
  title: 'a 200 MB batch, keys in the worst order, in flat memory; one byte more is 413',
  run: () => runSuite('bench/run.ts', { args: ['--only', 'batch,upload'], msMax: 900_000 }),
}
