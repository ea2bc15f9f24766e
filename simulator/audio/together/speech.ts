import * as check from '../../checks.ts'
import { modelNotFound } from '../../errors.ts'
import type { Reply } from '../../reply.ts'
import { type AudioAsked, textMember } from '../audio-api.ts'
import { bytesReply } from '../speech-api.ts'

const models = new Set(['cartesia/sonic', 'hexgrad/Kokoro-82M', 'canopylabs/orpheus-3b-0.1-ft'])

const fields: Record<string, check.Check> = {
  model: check.string(),
  input: check.string(),
  voice: check.string(),
  response_format: check.oneOf('mp3', 'wav', 'raw'),
  response_encoding: check.oneOf('pcm_s16le', 'pcm_f32le'),
  sample_rate: check.integer(8000, 48_000),
  bit_rate: check.integer(1),
  language: check.string(),
}

/**
 * `POST /audio/speech`: `raw` samples; one maker's models send floats unless the request says otherwise. Events
 * are not simulated.
 */
export async function speech(asked: AudioAsked): Promise<Reply> {
  const json = asked.json ?? {}
  check.checkMembers(json, { fields, required: ['model', 'input', 'voice'], strict: true })
  const model = textMember(json, 'model') ?? ''
  if (!models.has(model)) throw modelNotFound(model)
  const isCartesia = model.startsWith('cartesia/')
  const rate = Number(json['sample_rate'] ?? (isCartesia ? 44_100 : 24_000))
  const format = textMember(json, 'response_format') ?? 'wav'
  const saying = { text: textMember(json, 'input') ?? '', voice: 'alloy', speed: 1, rate }
  if (format === 'mp3') return bytesReply(asked, { ...saying, sound: 'mp3' }, { contentType: 'audio/mpeg' })
  if (format === 'wav') return bytesReply(asked, { ...saying, sound: 'wav' }, { contentType: 'audio/wav' })
  const isFloat = isCartesia && (json['response_encoding'] ?? 'pcm_f32le') === 'pcm_f32le'
  const sound = isFloat ? 'f32le' : 's16le'
  return bytesReply(asked, { ...saying, sound }, { contentType: 'application/octet-stream' })
}
