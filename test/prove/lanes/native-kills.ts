import { whyNoS3 } from '../../support/s3-server.ts'
import { thoroughEnvironment } from '../../support/thorough.ts'
import { runSuite, runTests } from '../command.ts'
import { combine, notRun, type Proof, type ProofResult } from '../proof.ts'

/** Kills at any moment, on each database. */
const randomKills = 50
/** On the crossed worlds a part of the points drawn by lot is met. */
const crossedParts = 10
/** Each part is a few minutes of its own: `test/crash/run.ts sqlite 1 1 jobs:2/4 folder`. */
const parts = 4
const partMsMax = 900_000

export const proof: Proof = {
  title:
    "a kill before and after every commit point of a provider's job, as 1 process on SQLite with a folder and 4 on PostgreSQL with S3: every item one result and one capture, no job twice, nothing left there; a tenth of the points in the crossed worlds, and 100 kills at any moment",
  run: async () =>
    combine([
      ...(await killInParts('sqlite', '1', 'folder')),
      await killAtRandom('sqlite', '1', 'folder'),
      ...(whyNoS3() === null ? await killOnServer() : [notRun(whyNoS3() ?? '')]),
      await runTests(['test/simulation/native-jobs'], { msMax: 1_800_000, env: thoroughEnvironment }),
    ]),
}

async function killOnServer(): Promise<ProofResult[]> {
  return [
    ...(await killInParts('postgres', '4', 's3')),
    await killAtRandom('postgres', '4', 's3'),
    await killCrossed('sqlite', '1', 's3'),
    await killCrossed('postgres', '4', 'folder'),
  ]
}

function killAtRandom(database: string, processes: string, payloads: string): Promise<ProofResult> {
  const args = [database, processes, String(randomKills), 'random', payloads]
  return runSuite('test/crash/run.ts', { args, msMax: partMsMax })
}

function killCrossed(database: string, processes: string, payloads: string): Promise<ProofResult> {
  const part = 1 + Math.floor(Math.random() * crossedParts)
  const args = [database, processes, '1', `jobs:${part}/${crossedParts}`, payloads]
  return runSuite('test/crash/run.ts', { args, msMax: partMsMax })
}

async function killInParts(database: string, processes: string, payloads: string): Promise<ProofResult[]> {
  const results: ProofResult[] = []
  for (let part = 1; part <= parts; part += 1) {
    const args = [database, processes, '1', `jobs:${part}/${parts}`, payloads]
    results.push(await runSuite('test/crash/run.ts', { args, msMax: partMsMax }))
  }
  return results
}
