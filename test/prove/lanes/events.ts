import { runTests } from '../command.ts'
import { combine, type Proof } from '../proof.ts'

export const proof: Proof = {
  title:
    'progress as events: to the end from any process, continued after Last-Event-ID, bounded streams that end with their caller',
  run: async () =>
    combine([
      await runTests(['src/batches/watching', 'test/contract/batch-events', 'src/cli/batch/batch-run'], {
        msMax: 900_000,
      }),
    ]),
}
