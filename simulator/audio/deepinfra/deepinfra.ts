import { openAiStyle } from '../../api-style.ts'
import { type AudioApi, fieldOf } from '../audio-api.ts'
import { whisperTranscriptions } from '../whisper-host.ts'

const uploadBytesMax = 1024 * 1024 * 1024

/** DeepInfra's audio by OpenAI's form. What it does beyond that is not known, so nothing more is played. */
export const deepinfra: AudioApi = {
  slug: 'deepinfra',
  style: openAiStyle,
  uploadBytesMax,
  modelOf: ({ body }) => fieldOf(body, 'model'),
  operations: [
    {
      method: 'POST',
      path: /^\/v1\/openai\/audio\/transcriptions$/,
      answer: whisperTranscriptions({
        models: ['openai/whisper-large-v3', 'openai/whisper-large-v3-turbo'],
        usualModel: null,
        formats: ['json', 'text', 'verbose_json'],
        granularities: 'timestamp_granularities[]',
        fields: {},
        takesAddress: false,
        bytesMax: uploadBytesMax,
        otherLanguages: [],
      }),
    },
  ],
}
