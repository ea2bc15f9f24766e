import { ApiError } from '../../errors.ts'
import { frame, type Reply } from '../../reply.ts'
import { countTokens } from '../../tokens.ts'
import type { AudioAsked, AudioOperation } from '../audio-api.ts'
import { base64Reply, memberOf, textReply } from '../speech-api.ts'
import type { Saying } from '../speaking.ts'

const models = new Set(['voxtral-mini-tts-3-0', 'voxtral-mini-tts-3', 'voxtral-mini-tts-2603'])

function invalid(param: string, message: string): ApiError {
  return new ApiError({ status: 422, param, message, type: 'value_error' })
}

/** `POST /v1/audio/speech`: JSON with base64, or events with base64. Samples are floats at 24,000 Hz. */
async function speak(asked: AudioAsked): Promise<Reply> {
  const { json } = asked
  const text = memberOf(json, 'input')
  if (typeof text !== 'string' || text === '') throw invalid('input', 'Field required')
  const model = memberOf(json, 'model')
  if (typeof model !== 'string' || !models.has(model))
    throw new ApiError({ status: 400, message: `Invalid model: ${model}`, type: 'invalid_model' })
  if (/\bforbidden\b/.test(text))
    throw new ApiError({ status: 403, message: 'The input was refused by moderation.', type: 'moderation' })
  const saying: Saying = { text, voice: voiceOf(asked), speed: 1, rate: 24_000, sound: soundOf(asked) }
  const usage = { prompt_tokens: countTokens(text), completion_tokens: text.length, total_tokens: 0 }
  usage.total_tokens = usage.prompt_tokens + usage.completion_tokens
  if (memberOf(json, 'stream') === true) {
    return textReply(asked, saying, {
      contentType: 'text/event-stream',
      wrap: (piece) => frame({ type: 'speech.audio.delta', audio_data: piece.toString('base64') }),
      end: () => frame({ type: 'speech.audio.done', usage }),
      failure: ({ code = '500', message = 'Internal server error', type = 'internal_server_error' }) =>
        frame({ object: 'error', message, type, param: null, code }),
    })
  }
  return base64Reply(asked, saying, 'audio_data')
}

/** A request has a clip or a voice, not both. */
function voiceOf({ json }: AudioAsked): string {
  const voice = memberOf(json, 'voice_id')
  const clip = memberOf(json, 'ref_audio')
  if ((voice === undefined) === (clip === undefined))
    throw invalid('voice_id', 'Give either voice_id or ref_audio')
  if (clip === undefined && typeof voice !== 'string') throw invalid('voice_id', 'Input should be a string')
  if (clip !== undefined && (typeof clip !== 'string' || !/^[A-Za-z0-9+/]+=*$/.test(clip)))
    throw invalid('ref_audio', 'Input should be base64 without a prefix')
  if (String(voice).startsWith('missing'))
    throw new ApiError({ status: 404, message: `Voice ${voice} was not found.`, type: 'not_found' })
  return String(voice ?? 'clip')
}

function soundOf({ json }: AudioAsked): Saying['sound'] {
  const sounds: Record<string, Saying['sound']> = { mp3: 'mp3', wav: 'wav', pcm: 'f32le' }
  const sound = sounds[String(memberOf(json, 'response_format') ?? 'mp3')]
  if (sound === undefined) throw invalid('response_format', 'The format is not played here')
  return sound
}

export const mistralSpeech: AudioOperation = {
  method: 'POST',
  path: /^\/v1\/audio\/speech$/,
  answer: speak,
}
