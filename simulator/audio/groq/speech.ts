import * as check from '../../checks.ts'
import { modelNotFound } from '../../errors.ts'
import type { Reply } from '../../reply.ts'
import { type AudioAsked, textMember } from '../audio-api.ts'
import { bytesReply } from '../speech-api.ts'

const voicesOf: Readonly<Record<string, readonly string[]>> = {
  'canopylabs/orpheus-v1-english': ['autumn', 'diana', 'hannah', 'austin', 'daniel', 'troy'],
  'canopylabs/orpheus-arabic-saudi': ['abdullah', 'fahad', 'sultan', 'lulwa', 'noura', 'aisha'],
}

/** `POST /audio/speech`: takes short texts and gives only WAV. */
export async function speech(asked: AudioAsked): Promise<Reply> {
  const json = asked.json ?? {}
  const model = textMember(json, 'model') ?? ''
  const voices = voicesOf[model]
  if (voices === undefined) throw modelNotFound(model)
  check.checkMembers(json, {
    fields: {
      model: check.string(),
      input: check.string(200),
      voice: check.oneOf(...voices),
      response_format: check.oneOf('wav'),
      sample_rate: check.integer(8000, 48_000),
      speed: check.decimal(0.25, 4),
    },
    required: ['model', 'input', 'voice', 'response_format'],
    strict: true,
  })
  const speed = typeof json['speed'] === 'number' ? json['speed'] : 1
  const text = textMember(json, 'input') ?? ''
  const saying = { text, voice: 'alloy', speed, rate: 48_000, sound: 'wav' } as const
  return bytesReply(asked, saying, { contentType: 'audio/wav' })
}
