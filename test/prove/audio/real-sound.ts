import { runTests } from '../command.ts'
import { combine, type Proof } from '../proof.ts'
import { thoroughEnvironment } from '../../support/thorough.ts'
import { askRealServers } from '../real-servers.ts'

export const proof: Proof = {
  title:
    'real sound: spoken, in each container, two voices, silence, two hours, cut, no sound and nothing; words and times survive every provider; a real Whisper hears the same through the gateway',
  async run() {
    const heard = await runTests(['contract/real-sound'], { msMax: 1_200_000, env: thoroughEnvironment })
    return combine([heard, await askRealServers(['sound'], 1_500_000)])
  },
}
