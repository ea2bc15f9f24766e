import { runTests } from './command.ts'
import type { Proof } from './proof.ts'

export const proof: Proof = {
  title:
    'real sound: spoken, in each container, two voices, silence, two hours, cut, no sound and nothing; words and times survive every provider',
  run: () => runTests(['contract/real-sound'], { msMax: 1_200_000, env: { HEADRACE_SOUND: 'thorough' } }),
}
