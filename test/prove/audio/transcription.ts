import { runTests } from '../command.ts'
import type { Proof } from '../proof.ts'

export const proof: Proof = {
  title:
    'one case suite over every transcription provider, against its fake and its recordings, with expectations written by hand',
  run: () =>
    runTests(
      [
        'contract/transcription-providers',
        'recordings/transcripts',
        'formats/transcription',
        'src/providers',
      ],
      {
        msMax: 600_000,
      },
    ),
}
