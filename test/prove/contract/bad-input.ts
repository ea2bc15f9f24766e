import { runTests } from '../command.ts'
import { thoroughEnvironment } from '../../support/thorough.ts'
import type { Proof } from '../proof.ts'

export const proof: Proof = {
  title: 'bad input: every field of every schema and 10,000 generated requests, never a 5xx, never a hang',
  run: () =>
    runTests(['test/bad-input/'], { msMax: 900_000, keep: /^bad input: /, env: thoroughEnvironment }),
}
