import { runSuite } from '../command.ts'
import type { Proof } from '../proof.ts'

export const proof: Proof = {
  title: 'sabotage: every patch that breaks a promise turns its test red',
  run: () => runSuite('test/sabotage/run.ts', { msMax: 3_600_000 }),
}
