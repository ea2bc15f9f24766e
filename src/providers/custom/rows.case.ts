import type { ProviderRows } from '../../../test/support/provider-rows.ts'
import { heardText, usual, utterances } from '../../../test/support/transcribers.ts'

/** The rows of the shared tests for Custom. */
export const rows: ProviderRows = {
  transcribers: [
    {
      path: '/v1',
      upstream: 'whisper-1',
      text: heardText,
      language: 'en',
      segments: utterances,
      words: true,
      speakers: null,
      keyterms: null,
      sends: usual,
      url: null,
      pcm: 'wav',
    },
  ],
  withoutSdk: 'stands for any server',
}
