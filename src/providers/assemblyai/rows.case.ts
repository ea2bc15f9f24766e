import { whisperLanguages, type ProviderRows } from '../../../test/support/provider-rows.ts'
import { sentences, temperatureSent, utterances } from '../../../test/support/transcribers.ts'

/** The rows of the shared tests for AssemblyAI. */
export const rows: ProviderRows = {
  transcribers: [
    {
      path: '/assemblyai',
      upstream: 'universal-3-5-pro',
      text: sentences,
      language: 'en',
      languageConfidence: 0.9941,
      confidence: 0.97,
      wordConfidence: 0.97,
      segments: utterances,
      words: true,
      speakers: { of: 'words', labels: ['A', 'B'] },
      keyterms: [
        ['keyterms_prompt', 'head race'],
        ['keyterms_prompt', 'sluice'],
      ],
      sends: { language: ['language_code', 'de'], temperature: temperatureSent },
      url: 'audio_url',
      pcm: 'wav',
      entities: { options: { entity_detection: true }, types: ['person_name', 'location'] },
      job: { path: '/v2/transcript', upload: '/v2/upload' },
    },
  ],
  languages: [
    // npm assemblyai 4.41.5, TranscriptLanguageCode.
    { model: 'universal-2', languages: [...whisperLanguages, 'jw'], unknown: ['ga'] },
  ],
}
