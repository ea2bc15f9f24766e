import { samples, sound, type ProviderRows } from '../../../test/support/provider-rows.ts'
import { sentences, temperatureSent, utterances } from '../../../test/support/transcribers.ts'
import { listOf } from '../../../test/recordings/transcripts.ts'

/** The rows of the shared tests for ElevenLabs. */
export const rows: ProviderRows = {
  transcribers: [
    {
      path: '/elevenlabs/v1',
      upstream: 'scribe_v2',
      text: sentences,
      language: 'en',
      languageConfidence: 0.98,
      wordConfidence: 0.97,
      segments: utterances,
      words: true,
      speakers: { of: 'words', labels: ['speaker_0', 'speaker_1'] },
      keyterms: [
        ['keyterms', 'head race'],
        ['keyterms', 'sluice'],
      ],
      sends: {
        language: ['language_code', 'de'],
        temperature: temperatureSent,
        privacy: { wish: { zdr: true }, sent: ['enable_logging', 'false'] },
      },
      url: 'source_url',
      pcm: [['file_format', 'pcm_s16le_16']],
      entities: { options: { entity_detection: 'all' }, types: ['name', 'location'] },
    },
  ],
  transcripts: [
    {
      upstream: 'scribe_v2',
      file: 'elevenlabs/src/__fixtures__/elevenlabs-transcription.json',
      words: true,
      // All logarithms are 0 there, so no word has a confidence.
      expected: (wire) => ({
        text: wire['text'],
        language: 'en',
        language_confidence: wire['language_probability'],
        words: listOf(wire['words'])
          .filter(({ type }) => type !== 'spacing')
          .map(({ text, start, end, type }) => ({
            word: text,
            start,
            end,
            speaker: 0,
            speaker_label: 'speaker_0',
            type,
          })),
      }),
    },
  ],
  speech: [
    {
      below: '/elevenlabs/v1',
      model: 'elevenlabs/eleven_flash_v2_5',
      voice: 'JBFqnCBsd6RMkjVDRZzb',
      missing: { voice: 'MissingMissingMissin', status: 400 },
      speeds: { within: 1.2, beyond: 1.3 },
      billed: 50,
    },
  ],
  speechRequests: [
    {
      model: 'eleven_v3',
      fields: { voice: 'a/b', speed: 1.1, response_format: 'mp3' },
      path: '/text-to-speech/a%2Fb/stream?output_format=mp3_44100_128',
      body: { text: 'Hello', model_id: 'eleven_v3', voice_settings: { speed: 1.1 } },
    },
    {
      model: 'eleven_v3',
      fields: { voice: 'v' },
      path: '/text-to-speech/v/stream?output_format=pcm_24000',
      body: { text: 'Hello', model_id: 'eleven_v3' },
    },
  ],
  speechReplies: [
    {
      name: 'ElevenLabs tells its characters in a header',
      reply: { body: sound, headers: { 'character-cost': '3' } },
      output: samples,
      billed: { characters: 3 },
    },
  ],
}
