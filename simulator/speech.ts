import type { Call } from './call.ts'
import * as check from './checks.ts'
import { invalidRequest } from './errors.ts'
import type { Faults } from './faults.ts'
import { isObject, type JsonObject } from './json.ts'
import { speechCharactersMax } from './limits.ts'
import { findModel } from './models.ts'
import type { MountSettings } from './mount-settings.ts'
import type { Programs } from './programs.ts'
import { eventReply, frame, type Reply } from './reply.ts'
import { beginSpeech } from './begun-speech.ts'
import { type SpeechFormat, speechFormats, type Utterance, voices } from './synthesize.ts'
import { countTokens } from './tokens.ts'
import { distortUsage } from './usage.ts'

const contentTypes: Record<SpeechFormat, string> = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}

/** Voices that came later than the tts-1 models. */
const newerVoices = new Set(['ballad', 'verse', 'marin', 'cedar'])

const fields: Record<string, check.Check> = {
  model: check.string(),
  input: check.string(),
  voice: check.either(check.members({ id: check.string() }, ['id']), check.string()),
  response_format: check.oneOf(...speechFormats),
  speed: check.decimal(0.25, 4),
  instructions: check.string(speechCharactersMax),
  stream_format: check.oneOf('audio', 'sse'),
}

/** One speech call: a JSON call, with the mount's settings and the machine's programs. */
export interface SpeechCall extends Call {
  settings: MountSettings
  programs: Programs
}

/** `POST /audio/speech`. Throws `ApiError` for requests that OpenAI refuses. */
export async function speech(call: SpeechCall): Promise<Reply> {
  const { body, faults } = call
  check.checkMembers(body, { fields, required: ['model', 'input', 'voice'], strict: faults.lenient !== true })
  const model = findModel(body['model'], 'speech').id
  const utterance = parseUtterance(body, model)
  const isStreamOfEvents = body['stream_format'] === 'sse'
  refuseForOldModels(body, model)
  const { engine, audio, dispose } = await beginSpeech(utterance, call)
  const headers = { 'x-simulator-speech': engine }
  if (!isStreamOfEvents) {
    return { status: 200, contentType: contentTypes[utterance.format], headers, body: audio, dispose }
  }
  return { ...eventReply(await eventFrames(audio, utterance.text, faults)), headers }
}

function parseUtterance(body: JsonObject, model: string): Utterance {
  const text = String(body['input'])
  const length = [...text].length
  if (length === 0)
    throw invalidRequest("Invalid 'input': it must not be empty.", 'input', 'string_too_short')
  if (length > speechCharactersMax) {
    const message = `Invalid 'input': at most ${speechCharactersMax} characters are allowed, got ${length}.`
    throw invalidRequest(message, 'input', 'string_above_max_length')
  }
  return {
    text,
    voice: parseVoice(body['voice'], model),
    speed: typeof body['speed'] === 'number' ? body['speed'] : 1,
    format: speechFormats.find((format) => format === body['response_format']) ?? 'mp3',
  }
}

function parseVoice(voice: unknown, model: string): string {
  const isOld = model.startsWith('tts-1')
  const allowed = isOld ? voices.filter((name) => !newerVoices.has(name)) : voices
  if (isObject(voice)) {
    const id = String(voice['id'])
    if (id.startsWith('voice_')) return id
    throw invalidRequest(`No custom voice '${id}' was found.`, 'voice', 'invalid_value')
  }
  check.oneOf(...allowed)(voice, 'voice')
  return String(voice)
}

function refuseForOldModels(body: JsonObject, model: string): void {
  if (!model.startsWith('tts-1')) return
  if (body['stream_format'] === 'sse') {
    throw invalidRequest(
      `stream_format 'sse' is not supported by model '${model}'.`,
      'stream_format',
      'unsupported_value',
    )
  }
  if (typeof body['instructions'] === 'string') {
    throw invalidRequest(
      `'instructions' is not supported by model '${model}'.`,
      'instructions',
      'unsupported_parameter',
    )
  }
}

async function eventFrames(
  audio: AsyncIterable<Uint8Array>,
  text: string,
  faults: Faults,
): Promise<string[]> {
  const frames: string[] = []
  let bytes = 0
  for await (const chunk of audio) {
    bytes += chunk.length
    frames.push(frame({ type: 'speech.audio.delta', audio: Buffer.from(chunk).toString('base64') }))
  }
  const inputTokens = countTokens(text)
  const outputTokens = Math.ceil(bytes / 1_000)
  const usage = {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  }
  return [...frames, frame({ type: 'speech.audio.done', usage: distortUsage(usage, faults.usage) })]
}
