import type { SpeechCall } from '../../canonical/call.ts'
import { passedFormats } from '../../canonical/endpoint.ts'
import { choosePreferred } from '../content-negotiation.ts'
import { parseField } from '../field-error.ts'
import { parsePreferences } from '../preferences.ts'
import { chooseSession, codePoints, unknownMembers } from '../transcription/audio-fields.ts'
import { toReferences } from './references.ts'
import { parseSpeechFields } from './speech-fields.ts'
import { openAiSpeechSchema, speechRequestSchema } from './speech-request.ts'

/** The headers that matter to a speech request. */
export interface SpeechHeaders {
  sessionId: string | null
  accept: string | null
  /** True at the address where OpenAI's own formats and defaults apply; otherwise absent. */
  isOpenAiDialect?: true
}

/**
 * Reads a speech request as a call, in steps of a few milliseconds. Throws `invalid_request` or `payload_too_large`,
 * which names the field, with its index in lists.
 */
export function* decodeSpeechJson(bytes: Uint8Array, headers: SpeechHeaders): Generator<void, SpeechCall> {
  const schema = headers.isOpenAiDialect ? openAiSpeechSchema : speechRequestSchema
  const { fields, slicesOf } = yield* parseSpeechFields(bytes, schema.shape)
  const wire = parseField(schema, '', fields)
  const { preferences, dropped } = parsePreferences(wire.provider)
  const media = mediaOf(wire, headers)
  const passedFormat = passedFormats.find((format) => format === media)
  return {
    kind: 'speech',
    operation: 'speech',
    model: wire.model,
    fallbackModels: [],
    preferences,
    parameters: sentParameters(wire),
    demand: {
      inputTokens: 0,
      outputTokensMax: null,
      choices: 1,
      audioMilliseconds: 0,
      characters: codePoints(wire.input),
      utf8Bytes: Buffer.byteLength(wire.input),
    },
    sessionId: chooseSession(wire.session_id, headers),
    userId: wire.user ?? null,
    trace: wire.trace ?? null,
    dropped: [...unknownMembers(fields, speechRequestSchema.shape), ...dropped],
    input: wire.input,
    voice: wire.voice ?? null,
    responseFormat: media === 'mp3' ? 'mp3' : 'pcm',
    isWav: media === 'wav',
    ...(passedFormat === undefined ? {} : { passedFormat }),
    speed: wire.speed ?? 1,
    references: yield* toReferences(wire.input_references ?? [], slicesOf),
  }
}

/** The body's format wins; `Accept` counts only when the body names none. */
const mediaOfType = {
  'audio/pcm': 'pcm',
  'audio/*': 'pcm',
  '*/*': 'pcm',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/wav': 'wav',
  'audio/wave': 'wav',
  'audio/x-wav': 'wav',
} as const

type Wire = ReturnType<typeof openAiSpeechSchema.parse>

/** OpenAI's clients always send the same `Accept`, whatever format they want, and expect mp3. */
function mediaOf(
  { response_format: named }: Pick<Wire, 'response_format'>,
  { accept, isOpenAiDialect }: SpeechHeaders,
): NonNullable<Wire['response_format']> {
  if (named !== undefined) return named
  return isOpenAiDialect ? 'mp3' : choosePreferred(accept, mediaOfType, 'pcm')
}

/** The normal speed and an empty list of references ask for nothing, so they exclude no endpoint. */
function sentParameters(wire: Wire): string[] {
  const sent: string[] = []
  if (wire.voice !== undefined) sent.push('voice')
  if (wire.response_format !== undefined) sent.push('response_format')
  if (wire.speed !== undefined && wire.speed !== 1) sent.push('speed')
  if (wire.input_references !== undefined && wire.input_references.length > 0) sent.push('input_references')
  return sent
}
