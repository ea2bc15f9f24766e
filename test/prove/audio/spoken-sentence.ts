import { runTests } from '../command.ts'
import { notRun, type Proof } from '../proof.ts'
import { thoroughEnvironment } from '../../support/thorough.ts'

export const proof: Proof = {
  title: 'a spoken sentence is transcribed in every way offered; ffprobe reads the speech',
  async run() {
    const missing = ['espeak-ng', 'ffprobe', 'pocketsphinx_continuous'].filter(
      (name) => Bun.which(name) === null,
    )
    if (missing.length > 0) return notRun(`not installed: ${missing.join(', ')}`)
    return runTests(['test/e2e/audio'], { msMax: 600_000, env: thoroughEnvironment })
  },
}
