import { openAiStyle } from '../../api-style.ts'
import * as check from '../../checks.ts'
import { modelNotFound } from '../../errors.ts'
import type { Reply } from '../../reply.ts'
import { type AudioApi, type AudioAsked, fieldOf, textMember } from '../audio-api.ts'
import { bytesReply } from '../speech-api.ts'
import { whisperTranscriptions } from '../whisper-host.ts'

const uploadBytesMax = 1024 * 1024 * 1024

const sounds = {
  mp3: { sound: 'mp3', contentType: 'audio/mpeg' },
  wav: { sound: 'wav', contentType: 'audio/wav' },
  pcm: { sound: 's16le', contentType: 'audio/pcm' },
} as const

async function speech(asked: AudioAsked): Promise<Reply> {
  const json = asked.json ?? {}
  check.checkMembers(json, {
    fields: {
      model: check.string(),
      input: check.string(),
      voice: check.string(),
      response_format: check.oneOf('mp3', 'wav', 'pcm'),
      speed: check.decimal(0.25, 4),
    },
    required: ['model', 'input', 'voice'],
    strict: true,
  })
  const model = textMember(json, 'model') ?? ''
  if (model !== 'hexgrad/Kokoro-82M') throw modelNotFound(model)
  const format = (['mp3', 'wav', 'pcm'] as const).find((one) => one === json['response_format']) ?? 'mp3'
  const text = textMember(json, 'input') ?? ''
  const { sound, contentType } = sounds[format]
  return bytesReply(asked, { text, voice: 'alloy', speed: 1, rate: 24_000, sound }, { contentType })
}

/** DeepInfra's audio in OpenAI's form. DeepInfra's other features are not documented and not simulated. */
export const deepinfra: AudioApi = {
  slug: 'deepinfra',
  style: openAiStyle,
  uploadBytesMax,
  modelOf: ({ body, json }) => fieldOf(body, 'model') ?? textMember(json, 'model'),
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
    { method: 'POST', path: /^\/v1\/openai\/audio\/speech$/, answer: speech },
  ],
}
