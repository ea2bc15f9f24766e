import { runTests } from '../command.ts'
import type { Proof } from '../proof.ts'

export const proof: Proof = {
  title:
    'an agent of twenty turns with thoughts and tools: each caller on each upstream format, whole and streamed',
  run: () => runTests(['contract/agent-loops'], { msMax: 300_000 }),
}
