import { runSuite } from '../command.ts'
import { combine, type Proof } from '../proof.ts'

const suite = 'test/faults/run.ts'
const msMax = 600_000

export const proof: Proof = {
  title: 'faults of all four upstream formats, and fallback from each of them to each other',
  run: async () =>
    combine([await runSuite(suite, { msMax }), await runSuite(suite, { args: ['fallbacks'], msMax })]),
}
