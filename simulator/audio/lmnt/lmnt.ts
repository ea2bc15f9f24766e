import { ApiError } from '../../errors.ts'
import type { Reply } from '../../reply.ts'
import type { AudioApi, AudioAsked } from '../audio-api.ts'
import { bytesReply, lengthOf, memberOf, oneHeader, refusalStyle } from '../speech-api.ts'

const style = refusalStyle({
  keyOf: (headers) => oneHeader(headers['x-api-key']),
  usual: {
    401: { code: 'authentication_error', message: 'Invalid API key' },
    402: { code: 'payment_required', message: 'The plan has no characters left' },
    404: { code: 'not_found', message: 'The voice or model was not found' },
    429: { code: 'rate_limit_error', message: 'Too many requests' },
  },
  body: ({ message }) => ({ error: message }),
  headers: (requestId) => ({ 'request-id': requestId }),
})

function refusal(message: string, status = 400): ApiError {
  return new ApiError({ status, message })
}

/** The versions of the API that LMNT's own clients send. */
const versions = new Set(['1.1', '1.2'])

/** Members of the body; members of older models (`speed`, `seed`, `length`) are refused like unknown ones. */
const members = new Set([
  'text',
  'voice',
  'model',
  'language',
  'format',
  'sample_rate',
  'temperature',
  'top_p',
  'debug',
])
const formats = {
  mp3: ['mp3', 'audio/mpeg'],
  pcm_s16le: ['s16le', 'audio/pcm'],
  pcm_f32le: ['f32le', 'audio/pcm'],
  wav: ['wav', 'audio/wav'],
} as const

async function speak(asked: AudioAsked): Promise<Reply> {
  const { json } = asked
  const version = oneHeader(asked.request.headers['lmnt-version'])
  if (!versions.has(version ?? '')) throw refusal('The lmnt-version header is required')
  const unknown = Object.keys(json ?? {}).find((name) => !members.has(name))
  if (unknown !== undefined) throw refusal(`Unknown parameter: ${unknown}`)
  const text = memberOf(json, 'text')
  const voice = memberOf(json, 'voice')
  if (typeof text !== 'string' || text === '') throw refusal('text is required')
  if (lengthOf(text) > 5_000) throw refusal('text must have at most 5000 characters')
  if (typeof voice !== 'string') throw refusal('voice is required')
  if (voice.startsWith('missing')) throw refusal(`The voice '${voice}' was not found`, 404)
  const format = memberOf(json, 'format') ?? 'mp3'
  const known = Object.entries(formats).find(([name]) => name === format)?.[1]
  if (known === undefined) throw refusal('format is not supported')
  const rate = memberOf(json, 'sample_rate') ?? 24_000
  if (rate !== 8_000 && rate !== 16_000 && rate !== 24_000) throw refusal('sample_rate is not supported')
  const [sound, contentType] = known
  return bytesReply(asked, { text, voice, speed: 1, rate, sound, kilobits: 96 }, { contentType })
}

/** LMNT's speech as a stream of bytes. */
export const lmnt: AudioApi = {
  slug: 'lmnt',
  style,
  uploadBytesMax: 1_000_000,
  modelOf: ({ json }) => String(memberOf(json, 'model') ?? '') || null,
  operations: [{ method: 'POST', path: /^\/v1\/ai\/speech\/bytes$/, answer: speak }],
}
