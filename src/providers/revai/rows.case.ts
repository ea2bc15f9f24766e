import type { ProviderRows } from '../../../test/support/provider-rows.ts'
import { languageSent, sentences, utterances } from '../../../test/support/transcribers.ts'
import { listOf } from '../../../test/recordings/transcripts.ts'

/** The rows of the shared tests for Rev AI. */
export const rows: ProviderRows = {
  transcribers: [
    {
      path: '/revai/speechtotext/v1',
      upstream: 'machine',
      text: sentences,
      language: 'en',
      wordConfidence: 0.97,
      segments: utterances,
      words: true,
      speakers: { of: 'words', labels: ['0', '1'] },
      keyterms: [['custom_vocabularies', '[{"phrases":["head race","sluice"]}]']],
      sends: { language: languageSent, temperature: null },
      url: 'source_config',
      pcm: 'wav',
      config: ['options'],
    },
  ],
  transcripts: [
    {
      upstream: 'machine',
      earlier: [
        'revai/src/__fixtures__/revai-job-submit.json',
        'revai/src/__fixtures__/revai-job-status.json',
      ],
      file: 'revai/src/__fixtures__/revai-transcript.json',
      words: true,
      diarize: true,
      expected(wire, [, job = {}]) {
        const [monologue = {}] = listOf(wire['monologues'])
        const elements = listOf(monologue['elements'])
        return {
          text: elements.map(({ value }) => value).join(''),
          language: 'en',
          duration: job['duration_seconds'],
          // Punctuation is an element of its own, after its word.
          words: elements.flatMap(({ type, value, ts, end_ts: end, confidence }, at) => {
            const { type: next, value: mark } = elements[at + 1] ?? {}
            const word = `${String(value)}${next === 'punct' ? String(mark).trim() : ''}`
            const said = { word, start: ts, end, confidence, speaker: 0, speaker_label: '0' }
            return type === 'text' ? [said] : []
          }),
          segments: [{ id: 0, start: 0.075, end: 2.145, speaker: 0 }],
        }
      },
    },
  ],
}
