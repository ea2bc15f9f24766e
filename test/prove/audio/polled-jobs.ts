import { runSuite } from '../command.ts'
import type { Proof } from '../proof.ts'

export const proof: Proof = {
  title:
    'killed at every point of a polled job, nothing is charged unanswered and nothing is left at the provider',
  run: () => runSuite('test/crash/polled-jobs.ts', { msMax: 3_600_000 }),
}
