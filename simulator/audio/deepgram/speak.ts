import type { Reply } from '../../reply.ts'
import type { AudioAsked, AudioOperation } from '../audio-api.ts'
import { bytesReply, lengthOf, memberOf, speedOf } from '../speech-api.ts'
import type { Saying } from '../speaking.ts'
import { refusal } from './style.ts'

const voices = /^aura-2-[a-z]+-(?:en|es|de|nl|fr|it|ja)$|^aura-[a-z]+-en$/
const charactersMax = 2_000
const known = new Set([
  'model',
  'encoding',
  'container',
  'sample_rate',
  'bit_rate',
  'speed',
  'tag',
  'mip_opt_out',
])
const rates = new Set(['8000', '16000', '24000', '32000', '48000'])

function badRequest(message: string) {
  return refusal(400, 'Bad Request', message)
}

function wrongQuery(message: string) {
  return refusal(400, 'INVALID_QUERY_PARAMETER', message)
}

/** `POST /v1/speak`: a voice whose name begins with `missing` does not exist. */
async function speak(asked: AudioAsked): Promise<Reply> {
  const { json, query } = asked
  for (const name of query.keys()) if (!known.has(name)) throw wrongQuery(`Unknown parameter: ${name}`)
  const model = query.get('model') ?? 'aura-asteria-en'
  if (!voices.test(model) || /-missing[a-z]*-/.test(model))
    throw badRequest('No such model/voice combination found.')
  const text = memberOf(json, 'text')
  if (typeof text !== 'string') throw refusal(400, 'PAYLOAD_ERROR', 'Failed to deserialize JSON payload.')
  const characters = lengthOf(text)
  if (characters === 0) throw badRequest('Text has no characters.')
  if (characters > charactersMax)
    throw refusal(413, 'Payload Too Large', 'Input text exceeds the maximum of 2400 characters.')
  const speed = speedOf(query.has('speed') ? Number(query.get('speed')) : undefined, {
    min: 0.7,
    max: 1.5,
    refuse: () => wrongQuery('speed must be between 0.7 and 1.5'),
  })
  const format = formatOf(query)
  return bytesReply(
    asked,
    { text, voice: model, speed, ...format },
    {
      contentType: format.contentType,
      headers: { 'dg-model-name': model, 'dg-char-count': String(characters) },
    },
  )
}

/** A parameter that does not belong to the encoding is refused. */
function formatOf(
  query: URLSearchParams,
): Pick<Saying, 'sound' | 'rate' | 'kilobits'> & { contentType: string } {
  const encoding = query.get('encoding') ?? 'mp3'
  const rate = query.get('sample_rate')
  if (encoding === 'mp3') {
    if (rate !== null || query.has('container')) throw wrongQuery('sample_rate is not applicable for mp3')
    return { sound: 'mp3', rate: 22_050, kilobits: 48, contentType: 'audio/mpeg' }
  }
  if (encoding !== 'linear16') throw wrongQuery('Unsupported audio format')
  if (rate !== null && !rates.has(rate)) throw wrongQuery('Unsupported audio format')
  const hasHeader = (query.get('container') ?? 'wav') === 'wav'
  const hertz = Number(rate ?? 24_000)
  return hasHeader
    ? { sound: 'wav', rate: hertz, contentType: 'audio/wav' }
    : { sound: 's16le', rate: hertz, contentType: `audio/l16;rate=${hertz}` }
}

export const deepgramSpeak: AudioOperation = { method: 'POST', path: /^\/v1\/speak$/, answer: speak }
