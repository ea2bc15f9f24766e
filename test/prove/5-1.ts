import { whyNoRecordings } from '../recordings/recorded.ts'
import { runScript, runSuite } from './command.ts'
import { combine, notRun, type Proof, type ProofResult } from './proof.ts'

const msMax = 1_500_000
/** How `test/real/run.ts` ends when nothing failed and this machine lacked something. */
const lackedCode = 3

export const proof: Proof = {
  title: 'recorded replies of every provider through all three callers; real servers nobody here wrote',
  async run() {
    return combine([await replay(), await askRealServers()])
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

async function askRealServers(): Promise<ProofResult> {
  const { code, stdout } = await runScript('test/real/run.ts', [], { msMax })
  const figures = stdout.split('\n').filter((line) => line.trim() !== '')
  if (code === lackedCode) return { status: 'NOT RUN', figures }
  return { status: code === 0 ? 'PASS' : 'FAIL', figures }
}
