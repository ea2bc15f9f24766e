import { ApiError } from '../../errors.ts'
import type { Reply } from '../../reply.ts'
import type { AudioAsked, AudioOperation } from '../audio-api.ts'
import { bytesReply, lengthOf, memberOf, speedOf } from '../speech-api.ts'
import type { Saying } from '../speaking.ts'

/** A BCP-47 code, or `auto` to detect the language. */
const languagePattern = /^(?:auto|[a-z]{2,3}(?:-[A-Z]{2})?)$/

function refused(message: string): ApiError {
  return new ApiError({ status: 400, message, code: 'plain' })
}

/**
 * `POST /v1/tts`: bytes. A voice is one of xAI's names, in upper or lower case, or the id of a voice that a
 * team created. Timestamps are not simulated.
 */
async function speak(asked: AudioAsked): Promise<Reply> {
  const { json } = asked
  const text = memberOf(json, 'text')
  if (typeof text !== 'string' || text === '') throw refused('text is required')
  if (lengthOf(text) > 15_000) throw refused('text must have at most 15000 characters')
  const voice = memberOf(json, 'voice_id') ?? 'eve'
  if (typeof voice !== 'string' || voice.startsWith('missing')) throw refused(`unknown voice_id ${voice}`)
  const language = memberOf(json, 'language')
  if (typeof language !== 'string') throw refused('language is required')
  if (!languagePattern.test(language)) throw refused(`language ${language} is not supported`)
  const speed = speedOf(memberOf(json, 'speed'), {
    min: 0.7,
    max: 1.5,
    refuse: () => refused('speed must be between 0.7 and 1.5'),
  })
  const format = formatOf(asked)
  return bytesReply(asked, { text, voice, speed, ...format }, format)
}

function formatOf({ json }: AudioAsked): Pick<Saying, 'sound' | 'rate'> & { contentType: string } {
  const rate = memberOf(json, 'output_format', 'sample_rate') ?? 24_000
  if (typeof rate !== 'number' || rate < 8_000 || rate > 48_000) throw refused('sample_rate is not supported')
  const codec = memberOf(json, 'output_format', 'codec') ?? 'mp3'
  if (codec === 'mp3') return { sound: 'mp3', rate, contentType: 'audio/mpeg' }
  if (codec === 'pcm') return { sound: 's16le', rate, contentType: 'audio/pcm' }
  if (codec === 'wav') return { sound: 'wav', rate, contentType: 'audio/wav' }
  throw refused('codec is not supported')
}

export const xaiSpeech: AudioOperation = { method: 'POST', path: /^\/v1\/tts$/, answer: speak }
