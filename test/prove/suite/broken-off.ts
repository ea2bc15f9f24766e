import { whyNoPostgres } from '../../support/postgres.ts'
import { thoroughEnvironment } from '../../support/thorough.ts'
import { runTests } from '../command.ts'
import { notRun, type Proof } from '../proof.ts'

export const proof: Proof = {
  title: 'a run of tests that is broken off in any way leaves no server and no folder behind',
  async run() {
    const reason = whyNoPostgres()
    if (reason !== null) return notRun(reason)
    return runTests(['runner/broken-off'], { msMax: 300_000, env: thoroughEnvironment })
  },
}
