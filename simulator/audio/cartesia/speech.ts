import { ApiError } from '../../errors.ts'
import { isObject } from '../../json.ts'
import type { Reply } from '../../reply.ts'
import type { AudioAsked, AudioOperation } from '../audio-api.ts'
import { bytesReply, keyBehind, memberOf, refusalStyle, speedOf } from '../speech-api.ts'
import type { Saying } from '../speaking.ts'

const rates = new Set([8_000, 16_000, 22_050, 24_000, 44_100, 48_000])
const bitRates = new Set([32_000, 64_000, 96_000, 128_000, 192_000])

/** Cartesia's refusals. */
export const cartesiaStyle = refusalStyle({
  keyOf: ({ authorization }) => keyBehind('Bearer', authorization),
  usual: {
    401: { code: 'unauthorized', message: 'Invalid API key.' },
    402: { code: 'quota_exceeded', message: 'The credits of the plan are used up.' },
    404: { code: 'model_not_found', message: 'The model was not found.' },
    429: { code: 'concurrency_limited', message: 'Too many requests at once for your plan.' },
    503: { code: 'unavailable', message: 'The service is unavailable.' },
  },
  body: ({ code, message }, requestId) => ({
    error_code: code,
    title: message.split('.')[0] ?? message,
    message,
    request_id: requestId,
  }),
})

function refusal(message: string, status = 400, code: string | null = null): ApiError {
  return new ApiError({ status, message, code })
}

async function speak(asked: AudioAsked): Promise<Reply> {
  const { json, request } = asked
  if (request.headers['cartesia-version'] !== '2026-08-14')
    throw refusal('A supported Cartesia-Version header is required.')
  const text = memberOf(json, 'transcript')
  if (typeof text !== 'string' || text === '') throw refusal('transcript is required.')
  if (!String(memberOf(json, 'model_id')).startsWith('sonic-'))
    throw refusal('The model was not found.', 404, 'model_not_found')
  if (memberOf(json, 'language') !== undefined && memberOf(json, 'locale') !== undefined)
    throw refusal('Only one of language and locale may be given.')
  const speed = speedOf(memberOf(json, 'generation_config', 'speed'), {
    min: 0.6,
    max: 1.5,
    refuse: () => refusal('generation_config.speed must be between 0.6 and 1.5.'),
  })
  const format = formatOf(memberOf(json, 'output_format'))
  return bytesReply(asked, { text, voice: voiceOf(memberOf(json, 'voice')), speed, ...format }, format)
}

/** In the real API a voice is a UUID; here it is any text that does not begin with `missing`. */
function voiceOf(voice: unknown): string {
  const id = isObject(voice) ? voice['id'] : voice
  if (isObject(voice) && voice['mode'] !== undefined)
    throw refusal('voice.mode is not supported by this version.')
  if (typeof id !== 'string' || id === '') throw refusal('voice is required.')
  if (id.startsWith('missing')) throw refusal('The voice was not found.', 404, 'voice_not_found')
  return id
}

function formatOf(wire: unknown): Pick<Saying, 'sound' | 'rate'> & { contentType: string } {
  const format = isObject(wire) ? wire : {}
  const { container, encoding, sample_rate: rate, bit_rate: bitRate } = format
  if (typeof rate !== 'number' || !rates.has(rate))
    throw refusal('output_format.sample_rate is not supported.')
  if (container === 'mp3') {
    if (!bitRates.has(Number(bitRate))) throw refusal('output_format.bit_rate is not supported.')
    return { sound: 'mp3', rate, contentType: 'audio/mpeg' }
  }
  const sound = { pcm_s16le: 's16le', pcm_f32le: 'f32le' }[String(encoding)] as 's16le' | 'f32le' | undefined
  if (sound === undefined) throw refusal('output_format.encoding is not supported.')
  if (container === 'raw') return { sound, rate, contentType: 'audio/pcm' }
  if (container !== 'wav') throw refusal('output_format.container is not supported.')
  return { sound: 'wav', rate, contentType: 'audio/wav' }
}

/** Speech as bytes. Events and WebSockets are not simulated. */
export const cartesiaSpeech: AudioOperation = { method: 'POST', path: /^\/tts\/bytes$/, answer: speak }
