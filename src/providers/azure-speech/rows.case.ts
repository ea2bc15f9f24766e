import type { ProviderRows } from '../../../test/support/provider-rows.ts'
import { sentences, utterances } from '../../../test/support/transcribers.ts'

/** The rows of the shared tests for Azure Speech. */
export const rows: ProviderRows = {
  transcribers: [
    {
      path: '/azure-speech/speechtotext',
      upstream: 'fast-transcription',
      text: sentences,
      language: 'en',
      wordConfidence: 0.97,
      segments: utterances,
      words: true,
      speakers: { of: 'words', labels: ['2', '1'] },
      keyterms: [['phraseList', '{"phrases":["head race","sluice"]}']],
      sends: { language: ['locales', '["de-DE"]'], temperature: null },
      url: 'audioUrl',
      pcm: 'wav',
      config: ['definition'],
    },
  ],
}
