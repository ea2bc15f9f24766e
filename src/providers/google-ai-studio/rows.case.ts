import type { ProviderRows } from '../../../test/support/provider-rows.ts'
import { sentences, temperatureSent, utterances, whole } from '../../../test/support/transcribers.ts'

/** The rows of the shared tests for Google AI Studio. */
export const rows: ProviderRows = {
  transcribers: [
    {
      path: '/v1beta',
      upstream: 'gemini-2.5-flash',
      text: sentences,
      language: 'en',
      segments: whole,
      words: false,
      speakers: null,
      keyterms: null,
      sends: {
        language: { within: 'contents', words: 'ISO 639-1 code \\"de\\"' },
        temperature: temperatureSent,
      },
      url: null,
      pcm: 'wav',
      config: ['', 'generationConfig'],
    },
    {
      variant: 'timed',
      path: '/v1beta',
      upstream: 'gemini-3-flash-preview',
      audio: { word_times: true, diarize: true, keyterms: true },
      text: sentences,
      language: 'en',
      segments: utterances,
      words: true,
      speakers: { of: 'words', labels: ['spk_1', 'spk_2'] },
      keyterms: [['audioTranscriptionConfig', '{"customVocabulary":["head race","sluice"]}']],
      sends: {
        language: ['audioTranscriptionConfig', '{"languageCodes":["de"]}'],
        temperature: temperatureSent,
      },
      url: null,
      pcm: 'wav',
      config: ['', 'generationConfig'],
    },
  ],
  speech: [
    {
      below: '/v1beta',
      // It has no price, so only characters are charged here.
      model: 'google/gemini-3.1-flash-tts-preview',
      voice: 'Kore',
      missing: { voice: 'missing', status: 400 },
    },
  ],
}
