import { ApiError } from '../../errors.ts'
import type { Reply } from '../../reply.ts'
import type { AudioAsked, AudioOperation } from '../audio-api.ts'
import { bytesReply, lengthOf, memberOf, oneHeader, refusalStyle, speedOf } from '../speech-api.ts'
import type { Saying } from '../speaking.ts'

const limits: [RegExp, number][] = [
  [/^eleven_v3$/, 5_000],
  [/^eleven_(?:flash|turbo)_v2_5$/, 40_000],
  [/^eleven_(?:flash|turbo)_v2$/, 30_000],
  [/^eleven_multilingual_v2$/, 10_000],
]

const formats: Record<string, Pick<Saying, 'sound' | 'rate'> & { type: string }> = {
  mp3_22050_32: { sound: 'mp3', rate: 22_050, type: 'audio/mpeg' },
  mp3_44100_64: { sound: 'mp3', rate: 44_100, type: 'audio/mpeg' },
  mp3_44100_128: { sound: 'mp3', rate: 44_100, type: 'audio/mpeg' },
  pcm_16000: { sound: 's16le', rate: 16_000, type: 'audio/pcm' },
  pcm_24000: { sound: 's16le', rate: 24_000, type: 'audio/pcm' },
  pcm_44100: { sound: 's16le', rate: 44_100, type: 'audio/pcm' },
  wav_24000: { sound: 'wav', rate: 24_000, type: 'audio/wav' },
}

function refusal(status: number, code: string, message: string): ApiError {
  return new ApiError({ status, code, message })
}

/**
 * ElevenLabs' refusals: FastAPI's `detail` with ElevenLabs' own status word, or with a list when a member is
 * wrong.
 */
export const elevenLabsStyle = refusalStyle({
  keyOf: (headers) => oneHeader(headers['xi-api-key']),
  usual: {
    401: { code: 'invalid_api_key', message: 'Invalid API key' },
    402: { code: 'payment_required', message: 'The plan does not allow this.' },
    404: { code: 'model_not_found', message: 'The model was not found.' },
    429: { code: 'too_many_concurrent_requests', message: 'Too many concurrent requests.' },
    503: { code: 'system_busy', message: 'The system is busy. Try again later.' },
  },
  // An account without credits gets the status of a wrong key.
  ofKind: { insufficient_quota: 401, overloaded: 429 },
  body: ({ status, code, message, param }) =>
    status === 422
      ? { detail: [{ loc: ['body', param ?? ''], msg: message, type: 'value_error' }] }
      : { detail: { status: code, message } },
  headers: (requestId) => ({
    'request-id': requestId,
    'current-concurrent-requests': '1',
    'maximum-concurrent-requests': '10',
  }),
})

function unprocessable(param: string, message: string): ApiError {
  return new ApiError({ status: 422, param, message })
}

/**
 * A voice has twenty letters and digits, as in the real API; a voice that begins with `Missing` does not exist.
 */
async function speak(asked: AudioAsked, voice = ''): Promise<Reply> {
  const { json, query } = asked
  const text = memberOf(json, 'text')
  if (typeof text !== 'string') throw unprocessable('text', 'Field required')
  if (!/^[A-Za-z0-9]{20}$/.test(voice)) throw refusal(400, 'invalid_uid', 'An invalid ID has been received.')
  if (voice.startsWith('Missing'))
    throw refusal(404, 'voice_not_found', `A voice with the voice_id ${voice} was not found.`)
  const model = memberOf(json, 'model_id') ?? 'eleven_multilingual_v2'
  const limit = limits.find(([name]) => name.test(String(model)))?.[1]
  if (limit === undefined)
    throw refusal(400, 'model_not_found', `A model with model ID ${model} does not exist.`)
  const characters = lengthOf(text)
  if (characters > limit)
    throw refusal(400, 'max_character_limit_exceeded', `A maximum of ${limit} characters is allowed.`)
  const format = formats[query.get('output_format') ?? 'mp3_44100_128']
  if (format === undefined) throw unprocessable('output_format', 'The output format is not supported.')
  const speed = speedOf(memberOf(json, 'voice_settings', 'speed'), {
    min: 0.7,
    max: 1.2,
    refuse: () => refusal(400, 'invalid_voice_settings', 'Speed must be between 0.7 and 1.2.'),
  })
  const cost = /flash|turbo/.test(String(model)) ? Math.ceil(characters / 2) : characters
  return bytesReply(
    asked,
    { text, voice, speed, ...format },
    { contentType: format.type, headers: { 'character-cost': String(cost) } },
  )
}

/** Text to speech, whole and streamed, which are the same here. Timestamps and WebSockets are not simulated. */
export const elevenLabsSpeech: AudioOperation = {
  method: 'POST',
  path: /^\/v1\/text-to-speech\/([^/]+)(?:\/stream)?$/,
  answer: speak,
}
