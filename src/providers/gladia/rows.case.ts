import { whisperLanguages, type ProviderRows } from '../../../test/support/provider-rows.ts'
import { sentences, utterances } from '../../../test/support/transcribers.ts'
import { listOf } from '../../../test/recordings/transcripts.ts'
import type { Wire } from '../../../test/recordings/wire.ts'

/** The rows of the shared tests for Gladia. */
export const rows: ProviderRows = {
  transcribers: [
    {
      path: '/gladia',
      upstream: 'solaria-1',
      text: sentences,
      language: 'en',
      wordConfidence: 0.97,
      segments: utterances,
      words: true,
      speakers: { of: 'words', labels: ['0', '1'] },
      keyterms: [['custom_vocabulary_config', '{"vocabulary":["head race","sluice"]}']],
      sends: { language: ['language_config', '{"languages":["de"]}'], temperature: null },
      url: 'audio_url',
      pcm: 'wav',
      entities: { options: { named_entity_recognition: true }, types: ['NAME', 'LOCATION'] },
      job: { path: '/v2/pre-recorded', upload: '/v2/upload' },
    },
  ],
  transcripts: [
    {
      upstream: 'solaria-1',
      earlier: ['gladia/src/__fixtures__/gladia-upload.json', 'gladia/src/__fixtures__/gladia-initiate.json'],
      file: 'gladia/src/__fixtures__/gladia-result.json',
      words: true,
      expected(wire) {
        const result = wire['result'] as Wire
        const transcription = result['transcription'] as Wire
        const spoken = listOf(transcription['utterances'])
        return {
          text: transcription['full_transcript'],
          language: 'en',
          duration: (result['metadata'] as Wire)['audio_duration'],
          // Each word begins with the space before it and has its utterance's channel.
          words: spoken.flatMap(({ words }) =>
            listOf(words).map(({ word, start, end, confidence }) => ({
              word: String(word).trim(),
              start,
              end,
              confidence,
              channel: 0,
            })),
          ),
          segments: spoken.map(({ text, start, end }, id) => ({
            id,
            text: String(text).trim(),
            start,
            end,
            channel: 0,
          })),
        }
      },
    },
  ],
  languages: [
    // npm @gladiaio/sdk 2.1.0, PreRecordedV2TranscriptionLanguageCode.
    { model: 'solaria-1', languages: [...whisperLanguages, 'jw'], unknown: ['ga', 'wo'] },
  ],
}
