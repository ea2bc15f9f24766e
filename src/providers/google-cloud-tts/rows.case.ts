import type { ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for Google Cloud Text-to-Speech. */
export const rows: ProviderRows = {
  speech: [
    {
      below: '/google-cloud-tts/v1',
      model: 'google/chirp3-hd',
      voice: 'en-US-Chirp3-HD-Kore',
      // The form of this error is not documented.
      missing: { voice: 'en-US-Chirp3-HD-missing', status: 400, param: null },
      speeds: { within: 2, beyond: 2.1 },
    },
  ],
}
