import { runTests } from '../command.ts'
import type { Proof } from '../proof.ts'

export const proof: Proof = {
  title: 'the official clients do everything listed and parse every answer and error',
  run: () => runTests(['test/e2e/sdk-'], { msMax: 600_000, keep: /^(openai|@openrouter\/sdk): / }),
}
