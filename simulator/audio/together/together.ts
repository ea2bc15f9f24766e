import { openAiStyle } from '../../api-style.ts'
import { type AudioApi, fieldOf, textMember } from '../audio-api.ts'
import { togetherRerank } from '../../rerank/apis.ts'
import { speech } from './speech.ts'
import { listedSpeakers, whisperTranscriptions } from '../whisper-host.ts'

const uploadBytesMax = 1024 * 1024 * 1024

/**
 * Together's audio. Without a language the real API assumes English, so a caller must send `auto` for
 * detection.
 */
export const together: AudioApi = {
  slug: 'together',
  style: openAiStyle,
  uploadBytesMax,
  modelOf: ({ body, json }) => fieldOf(body, 'model') ?? textMember(json, 'model'),
  operations: [
    {
      method: 'POST',
      path: /^\/v1\/audio\/transcriptions$/,
      answer: whisperTranscriptions({
        models: ['openai/whisper-large-v3'],
        usualModel: 'openai/whisper-large-v3',
        formats: ['json', 'verbose_json'],
        // Together's own clients write the names of list fields with brackets.
        granularities: 'timestamp_granularities[]',
        fields: { diarize: 'once', min_speakers: 'once', max_speakers: 'once' },
        takesAddress: true,
        bytesMax: uploadBytesMax,
        otherLanguages: ['auto'],
        speakers: listedSpeakers,
      }),
    },
    { method: 'POST', path: /^\/v1\/audio\/speech$/, answer: speech },
    togetherRerank,
  ],
}
