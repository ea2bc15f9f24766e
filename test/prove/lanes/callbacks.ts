import { runSuite, runTests } from '../command.ts'
import { combine, type Proof } from '../proof.ts'

export const proof: Proof = {
  title:
    'the end of a batch is told to its callback_url: signed after the contract, at least once whatever dies, for a day, and never to a private address; kills before and after every commit point of events and files',
  run: async () =>
    combine([
      await runTests(
        [
          'src/delivery',
          'src/transport/callback-sender',
          'test/contract/callbacks',
          'src/cli/rules/key-commands',
        ],
        { msMax: 900_000 },
      ),
      await runSuite('test/crash/events-and-files.ts', { msMax: 900_000 }),
    ]),
}
