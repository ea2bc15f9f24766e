import { type AudioApi, fieldOf } from '../audio-api.ts'
import { bearerStyle } from '../bearer-style.ts'
import { whisperLanguages } from '../whisper-languages.ts'
import { markedSpeakers, whisperTranscriptions } from '../whisper-host.ts'

const uploadBytesMax = 1024 * 1024 * 1024

/** Fireworks' audio. The provider has a host for each model; here one host serves both. */
export const fireworks: AudioApi = {
  slug: 'fireworks',
  style: bearerStyle(({ message }) => ({ error: { message } })),
  uploadBytesMax,
  modelOf: ({ body }) => fieldOf(body, 'model'),
  operations: [
    {
      method: 'POST',
      path: /^\/v1\/audio\/transcriptions$/,
      answer: whisperTranscriptions({
        models: ['whisper-v3', 'whisper-v3-turbo'],
        usualModel: null,
        formats: ['json', 'text', 'verbose_json'],
        granularities: 'timestamp_granularities',
        fields: {
          vad_model: 'once',
          alignment_model: 'once',
          preprocessing: 'once',
          diarize: 'once',
          min_speakers: 'once',
          max_speakers: 'once',
        },
        takesAddress: true,
        bytesMax: uploadBytesMax,
        otherLanguages: [],
        languages: whisperLanguages('jw', 'yue', 'zh-hant', 'zh-hans'),
        speakers: markedSpeakers,
      }),
    },
  ],
}
