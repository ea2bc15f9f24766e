import { ApiError } from '../../errors.ts'
import type { Reply } from '../../reply.ts'
import type { AudioApi, AudioAsked } from '../audio-api.ts'
import { bytesReply, keyBehind, lengthOf, memberOf, refusalStyle } from '../speech-api.ts'

/** A request with wrong input gets a refusal of HTTP status 200. */
const style = refusalStyle({
  keyOf: ({ authorization }) => keyBehind('Bearer', authorization),
  usual: {
    401: { code: 'Unauthorized', message: 'The API key is not valid.' },
    429: { code: 'TooManyRequests', message: 'Too many requests.' },
    503: { code: 'Unavailable', message: 'The service is unavailable.' },
  },
  body: ({ code, message }, requestId) => ({
    success: false,
    error_name: code,
    error_params: {},
    message,
    feedback_uuid: requestId,
  }),
})

function refusal(code: string, message: string): ApiError {
  return new ApiError({ status: 200, code, message })
}

const rates = new Set([8_000, 16_000, 22_050, 32_000, 44_100, 48_000])

async function speak(asked: AudioAsked): Promise<Reply> {
  const { json } = asked
  const text = memberOf(json, 'data')
  const voice = memberOf(json, 'voice_uuid')
  if (typeof voice !== 'string' || voice.startsWith('missing'))
    throw refusal('VoiceNotFound', 'The voice was not found.')
  if (typeof text !== 'string' || text === '') throw refusal('InvalidData', 'data is required.')
  if (lengthOf(text) > 2_000) throw refusal('InvalidData', 'data has more than 2000 characters.')
  const rate = memberOf(json, 'sample_rate') ?? 48_000
  if (typeof rate !== 'number' || !rates.has(rate))
    throw refusal('InvalidSampleRate', 'sample_rate is not supported.')
  if ((memberOf(json, 'precision') ?? 'PCM_16') !== 'PCM_16')
    throw refusal('InvalidPrecision', 'This stand-in has PCM_16 alone.')
  return bytesReply(asked, { text, voice, speed: 1, rate, sound: 'wav' }, { contentType: 'audio/wav' })
}

/** Resemble's stream of WAV. */
export const resemble: AudioApi = {
  slug: 'resemble',
  style,
  uploadBytesMax: 1_000_000,
  modelOf: ({ json }) => String(memberOf(json, 'model') ?? '') || null,
  operations: [{ method: 'POST', path: /^\/stream$/, answer: speak }],
}
