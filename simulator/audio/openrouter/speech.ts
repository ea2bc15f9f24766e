import * as check from '../../checks.ts'
import { ApiError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../json.ts'
import type { Reply } from '../../reply.ts'
import { type AudioAsked, textMember } from '../audio-api.ts'
import { bytesReply } from '../speech-api.ts'
import { generationId, refused } from './refusals.ts'

/**
 * The voices that each model takes: whether it has a default voice, how many clips it takes, and whether it
 * takes a picture.
 */
const models: Readonly<Record<string, { hasVoice: boolean; clips: number; image: boolean }>> = {
  'openai/gpt-4o-mini-tts': { hasVoice: false, clips: 0, image: false },
  'mistralai/voxtral-mini-tts': { hasVoice: true, clips: 1, image: false },
  'mimic/all-voices': { hasVoice: true, clips: 3, image: true },
}

const fields: Record<string, check.Check> = {
  model: check.string(),
  input: check.string(),
  voice: check.string(),
  response_format: check.oneOf('mp3', 'pcm'),
  speed: check.decimal(0.25, 4),
  input_references: check.listOf(check.object, 6),
  provider: check.object,
  session_id: check.string(256),
  user: check.string(256),
  trace: check.object,
}

/** `POST /audio/speech` with the contract's references. */
export async function speech(asked: AudioAsked): Promise<Reply> {
  const json = asked.json ?? {}
  validate(json)
  const model = textMember(json, 'model') ?? ''
  const traits = models[model]
  if (traits === undefined) throw refused(`${model} is not a valid model ID`)
  const { clips, images } = referencesIn(json)
  if (clips > traits.clips || (images > 0 && !traits.image))
    throw refused(`No endpoints found for ${model} that support input_references.`, 404)
  if (textMember(json, 'voice') === null && clips + images === 0 && !traits.hasVoice)
    throw refused('An explicit voice is required for this TTS provider.')
  const isMp3 = json['response_format'] === 'mp3'
  const saying = {
    text: textMember(json, 'input') ?? '',
    voice: 'alloy',
    speed: typeof json['speed'] === 'number' ? json['speed'] : 1,
    rate: 24_000,
    sound: isMp3 ? 'mp3' : 's16le',
  } as const
  return bytesReply(asked, saying, {
    contentType: isMp3 ? 'audio/mpeg' : 'audio/pcm;rate=24000;channels=1',
    headers: generationId('tts', asked.key),
  })
}

function validate(json: JsonObject): void {
  try {
    check.checkMembers(json, { fields, required: ['model', 'input'], strict: true })
  } catch (error) {
    if (error instanceof ApiError) throw refused(error.message)
    throw error
  }
}

function referencesIn(json: JsonObject): { clips: number; images: number } {
  const parts = Array.isArray(json['input_references']) ? json['input_references'] : []
  const count = { clips: 0, images: 0 }
  for (const [index, part] of parts.entries()) {
    const type = isObject(part) ? part['type'] : null
    if (type === 'image_url') count.images += 1
    else if (type === 'input_audio') count.clips += 1
    else if (type !== 'text') throw refused(`input_references[${index}].type is invalid`)
  }
  if (count.images > 0 && parts.length > 1) throw refused('An image reference must be alone.')
  return count
}
