import { runSuite } from '../command.ts'
import { combine, notRun, type Proof } from '../proof.ts'
import { whyNoRecordings } from '../../recordings/recorded.ts'

const msMax = 3_000_000

export const proof: Proof = {
  title: 'recorded replies say the same through all three callers, wherever their reads end',
  async run() {
    const reason = whyNoRecordings()
    if (reason !== null) return notRun(reason)
    return combine([
      await runSuite('test/recordings/replay-all.ts', { msMax }),
      await runSuite('test/recordings/replay-live.ts', { msMax }),
    ])
  },
}
