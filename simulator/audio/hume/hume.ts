import { ApiError } from '../../errors.ts'
import { isObject } from '../../json.ts'
import type { Reply } from '../../reply.ts'
import type { AudioApi, AudioAsked } from '../audio-api.ts'
import { bytesReply, lengthOf, memberOf, oneHeader, refusalStyle, speedOf } from '../speech-api.ts'

/** Hume documents the form of a refusal only for failed validation. */
const style = refusalStyle({
  keyOf: (headers) => oneHeader(headers['x-hume-api-key']),
  usual: {
    401: { code: 'unauthorized', message: 'Invalid authentication credentials' },
    404: { code: 'not_found', message: 'Not found' },
    429: { code: 'rate_limited', message: 'Too many requests' },
  },
  body: ({ status, param, message }) =>
    status === 422
      ? { detail: [{ loc: ['body', ...(param ?? '').split('.')], msg: message, type: 'value_error' }] }
      : { message },
})

function refusal(param: string, message: string): ApiError {
  return new ApiError({ status: 422, param, message })
}

const formats = { mp3: 'audio/mpeg', pcm: 'audio/pcm', wav: 'audio/wav' } as const

async function speak(asked: AudioAsked): Promise<Reply> {
  const { json } = asked
  const utterances = memberOf(json, 'utterances')
  const first = Array.isArray(utterances) ? utterances[0] : undefined
  if (!isObject(first) || typeof first['text'] !== 'string') throw refusal('utterances', 'Field required')
  const { text } = first
  if (lengthOf(text) > 5_000) throw refusal('utterances.0.text', 'String should have at most 5000 characters')
  const voice = memberOf(first, 'voice', 'id') ?? memberOf(first, 'voice', 'name')
  if (memberOf(json, 'version') === '2' && voice === undefined)
    throw refusal('utterances.0.voice', 'A voice is required by version 2')
  if (typeof voice === 'string' && voice.startsWith('missing'))
    throw new ApiError({ status: 400, message: 'The voice was not found.' })
  const type = memberOf(json, 'format', 'type') ?? 'mp3'
  if (type !== 'mp3' && type !== 'pcm' && type !== 'wav') throw refusal('format.type', 'Input should be mp3')
  const speed = speedOf(first['speed'], {
    min: 0.25,
    max: 3,
    refuse: () => refusal('utterances.0.speed', 'out of range'),
  })
  const sound = type === 'pcm' ? 's16le' : type
  const saying = { text, voice: String(voice ?? ''), speed, rate: 48_000, sound } as const
  return bytesReply(asked, saying, { contentType: formats[type] })
}

/** Octave's speech as bytes, whole and streamed, which are the same here. */
export const hume: AudioApi = {
  slug: 'hume',
  style,
  uploadBytesMax: 1_000_000,
  modelOf: ({ json }) => `octave-${String(memberOf(json, 'version') ?? '1')}`,
  operations: [{ method: 'POST', path: /^\/v0\/tts(?:\/stream)?\/file$/, answer: speak }],
}
