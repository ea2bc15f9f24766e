import { decode } from '@msgpack/msgpack'
import { ApiError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../json.ts'
import type { Reply } from '../../reply.ts'
import type { AudioApi, AudioAsked } from '../audio-api.ts'
import { bytesReply, keyBehind, memberOf, refusalStyle, speedOf } from '../speech-api.ts'
import type { Saying } from '../speaking.ts'

const style = refusalStyle({
  keyOf: ({ authorization }) => keyBehind('Bearer', authorization),
  usual: {
    401: { code: 'unauthorized', message: 'Invalid API key' },
    402: { code: 'insufficient_balance', message: 'Insufficient balance' },
    404: { code: 'not_found', message: 'Not found' },
    429: { code: 'too_many_requests', message: 'Too many concurrent requests' },
    503: { code: 'unavailable', message: 'Service unavailable' },
  },
  body: ({ status, message }) => ({ message, status }),
})

function refusal(message: string, status = 400): ApiError {
  return new ApiError({ status, message })
}

const rates = new Set([8_000, 16_000, 24_000, 32_000, 44_100])
const mp3Rates = new Set([32_000, 44_100])

async function speak(asked: AudioAsked): Promise<Reply> {
  const body = await bodyOf(asked)
  const text = memberOf(body, 'text')
  if (typeof text !== 'string' || text === '') throw refusal('text is required')
  const voice = memberOf(body, 'reference_id')
  if (typeof voice === 'string' && voice.startsWith('missing')) throw refusal('Reference not found')
  requireClips(memberOf(body, 'references'))
  const speed = speedOf(memberOf(body, 'prosody', 'speed'), {
    min: 0.5,
    max: 2,
    refuse: () => refusal('prosody.speed must be between 0.5 and 2', 422),
  })
  const format = formatOf(body)
  return bytesReply(asked, { text, voice: String(voice ?? ''), speed, ...format }, format)
}

/** Only a MessagePack body can have clips. */
async function bodyOf({ body, json, request }: AudioAsked): Promise<JsonObject> {
  if (!/msgpack/.test(request.headers['content-type'] ?? '')) {
    if (json === null) throw refusal('The body could not be parsed')
    if (json['references'] !== undefined) throw refusal('references need application/msgpack')
    return json
  }
  const bytes = body.file === null ? new Uint8Array(0) : await Bun.file(await body.file.path()).bytes()
  const value: unknown = decode(bytes)
  if (!isObject(value)) throw refusal('The body could not be parsed')
  return value
}

function requireClips(references: unknown): void {
  if (references === undefined) return
  if (!Array.isArray(references)) throw refusal('references must be a list', 422)
  for (const clip of references) {
    const audio = isObject(clip) ? clip['audio'] : null
    const text = isObject(clip) ? clip['text'] : null
    if (!(audio instanceof Uint8Array) || audio.length === 0)
      throw refusal('references need audio bytes', 422)
    if (typeof text !== 'string' || text === '') throw refusal('references need their text', 422)
  }
}

function formatOf(body: JsonObject): Pick<Saying, 'sound' | 'rate'> & { contentType: string } {
  const format = memberOf(body, 'format') ?? 'mp3'
  const rate = memberOf(body, 'sample_rate') ?? 44_100
  const allowed = format === 'mp3' ? mp3Rates : rates
  if (typeof rate !== 'number' || !allowed.has(rate)) throw refusal('sample_rate is not supported', 422)
  if (format === 'mp3') return { sound: 'mp3', rate, contentType: 'audio/mpeg' }
  if (format === 'pcm') return { sound: 's16le', rate, contentType: 'audio/pcm' }
  if (format === 'wav') return { sound: 'wav', rate, contentType: 'audio/wav' }
  throw refusal('format is not supported', 422)
}

/** Fish Audio's speech as a stream of bytes. For an unknown model it silently uses the newest one. */
export const fishAudio: AudioApi = {
  slug: 'fish-audio',
  style,
  uploadBytesMax: 64_000_000,
  modelOf: () => null,
  operations: [{ method: 'POST', path: /^\/v1\/tts$/, answer: speak }],
}
