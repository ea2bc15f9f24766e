import { samples, sound, type ProviderRows } from '../../../test/support/provider-rows.ts'
import { languageSent, sentences, utterances } from '../../../test/support/transcribers.ts'
import { first, listOf } from '../../../test/recordings/transcripts.ts'
import type { Wire } from '../../../test/recordings/wire.ts'

/** The rows of the shared tests for Deepgram. */
export const rows: ProviderRows = {
  transcribers: [
    {
      path: '/deepgram/v1',
      upstream: 'nova-3',
      text: sentences,
      language: 'en',
      languageConfidence: 0.9873,
      confidence: 0.97,
      wordConfidence: 0.97,
      segments: utterances,
      words: true,
      speakers: { of: 'words', labels: ['0', '1'] },
      keyterms: [
        ['keyterm', 'head race'],
        ['keyterm', 'sluice'],
      ],
      sends: {
        language: languageSent,
        temperature: null,
        privacy: { wish: { data_collection: 'deny' }, sent: ['mip_opt_out', 'true'] },
      },
      url: 'url',
      pcm: [
        ['encoding', 'linear16'],
        ['sample_rate', '16000'],
      ],
      entities: { options: { detect_entities: true }, types: ['NAME', 'GPE'] },
    },
  ],
  transcripts: [
    {
      upstream: 'nova-3',
      file: 'deepgram/src/__fixtures__/deepgram-transcription.json',
      words: true,
      expected(wire) {
        const channel = first((wire['results'] as Wire)['channels'])
        const best = first(channel['alternatives'])
        return {
          text: best['transcript'],
          language: 'en',
          language_confidence: channel['language_confidence'],
          confidence: best['confidence'],
          duration: 36.744,
          words: listOf(best['words']).map(({ word, start, end, confidence, speaker }) => ({
            word,
            start,
            end,
            confidence,
            speaker: 0,
            speaker_label: String(speaker),
          })),
        }
      },
    },
  ],
  speech: [
    {
      below: '/deepgram/v1',
      model: 'deepgram/aura-2',
      voice: 'thalia-en',
      missing: { voice: 'missing-en', status: 400 },
      speeds: { within: 1.5, beyond: 1.6 },
      billed: 100,
    },
  ],
  speechRequests: [
    {
      model: 'aura-2',
      fields: { voice: 'thalia-en', speed: 0.9 },
      path: '/speak?model=aura-2-thalia-en&encoding=linear16&container=none&sample_rate=24000&speed=0.9',
      body: { text: 'Hello' },
    },
    // Deepgram refuses a sample rate together with mp3.
    {
      model: 'aura-2-luna-en',
      fields: { response_format: 'mp3' },
      path: '/speak?model=aura-2-luna-en&encoding=mp3',
      body: { text: 'Hello' },
    },
  ],
  speechReplies: [
    {
      name: 'Deepgram tells its characters in a header',
      reply: { body: sound, headers: { 'dg-char-count': '7' } },
      output: samples,
      billed: { characters: 7 },
    },
  ],
}
