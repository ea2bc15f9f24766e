import { thoroughEnvironment } from '../../support/thorough.ts'
import { runTests } from '../command.ts'
import { combine, type Proof } from '../proof.ts'

export const proof: Proof = {
  title:
    'every captured generation is told to the operator’s destinations, signed JSON and OTLP after the official serializer: at least once whatever dies, for a day, without content, in a bounded outbox',
  run: async () =>
    combine([
      await runTests(
        [
          'src/delivery/broadcasts',
          'src/transport/callback-sender',
          'test/contract/broadcasts',
          'src/cli/broadcasts',
          'src/cli/doctor/broadcast-checks',
        ],
        { msMax: 900_000 },
      ),
      await runTests(['test/crash/crash.test'], { msMax: 900_000, env: thoroughEnvironment }),
    ]),
}
