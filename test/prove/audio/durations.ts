import { thoroughEnvironment } from '../../support/thorough.ts'
import { runTests } from '../command.ts'
import type { Proof } from '../proof.ts'

const files = ['src/audio/damaged-duration', 'src/audio/duration', 'src/audio/mp3-to-samples']

export const proof: Proof = {
  title:
    'the length of long, damaged and forged sound is found; samples of mp3 that is cut and damaged anywhere',
  run: () => runTests(files, { msMax: 900_000, env: thoroughEnvironment }),
}
