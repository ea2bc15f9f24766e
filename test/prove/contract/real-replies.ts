import { whyNoRecordings } from '../../recordings/recorded.ts'
import { runSuite } from '../command.ts'
import { combine, notRun, type Proof, type ProofResult } from '../proof.ts'
import { askRealServers } from '../real-servers.ts'

const msMax = 1_500_000

export const proof: Proof = {
  title: 'recorded replies of every provider through all three callers; real servers nobody here wrote',
  async run() {
    return combine([await replay(), await askRealServers([], 2 * msMax)])
  },
}

async function replay(): Promise<ProofResult> {
  const reason = whyNoRecordings()
  if (reason !== null) return notRun(reason)
  return combine([
    await runSuite('test/recordings/replay-all.ts', { msMax }),
    await runSuite('test/recordings/replay-live.ts', { msMax }),
  ])
}
