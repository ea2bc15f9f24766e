import { runScript } from './command.ts'
import type { ProofResult } from './proof.ts'

/** How `test/real/run.ts` ends when nothing failed and this machine lacked something. */
const lackedCode = 3

/** Asks servers that nobody here wrote: all, or those of sound. What this machine cannot have is not run, and says why. */
export async function askRealServers(
  wanted: readonly ['sound'] | readonly [],
  msMax: number,
): Promise<ProofResult> {
  const { code, stdout } = await runScript('test/real/run.ts', wanted, { msMax })
  const figures = stdout.split('\n').filter((line) => line.trim() !== '')
  if (code === lackedCode) return { status: 'NOT RUN', figures }
  return { status: code === 0 ? 'PASS' : 'FAIL', figures }
}
