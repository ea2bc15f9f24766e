import { invalidRequest, unknownParameter } from './errors.ts'
import { isObject } from './json.ts'
import type { MultipartForm } from './multipart.ts'
import type { UploadedFile } from './uploaded-file.ts'
import { findModel } from './models.ts'

/** A transcription request that has passed every check but the audio's own. */
export interface TranscriptionRequest {
  model: string
  file: UploadedFile
  format: 'json' | 'text' | 'srt' | 'verbose_json' | 'vtt' | 'diarized_json'
  language: string | null
  prompt: string
  wantsWords: boolean
  wantsSegments: boolean
  wantsLogprobs: boolean
  /** Long audio is cut into chunks. */
  isChunked: boolean
  stream: boolean
}

const whisperFormats = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const
const tokenFormats = ['json', 'text'] as const
const newestFormats = ['json'] as const
const diarizeFormats = ['json', 'text', 'diarized_json'] as const

/** Every documented part, and whether it may come more than once. */
const knownFields: Record<string, 'once' | 'many'> = {
  model: 'once',
  language: 'once',
  prompt: 'once',
  response_format: 'once',
  temperature: 'once',
  stream: 'once',
  chunking_strategy: 'once',
  'timestamp_granularities[]': 'many',
  'include[]': 'many',
  'known_speaker_names[]': 'many',
  'known_speaker_references[]': 'many',
  'languages[]': 'many',
  'keywords[]': 'many',
}

/** Reads the form's fields as strictly as OpenAI does. Throws `ApiError` naming the field. */
export function parseTranscription(form: MultipartForm, lenient: boolean): TranscriptionRequest {
  if (!lenient) refuseUnknown(form)
  const value = (name: string) => form.fields.findLast((field) => field.name === name)?.value ?? null
  const values = (name: string) =>
    form.fields.filter((field) => field.name === name).map((field) => field.value)
  const model = findModel(value('model'), 'transcription').id
  const file = form.files.find((part) => part.name === 'file')
  if (file === undefined) throw missing('file')
  if (file.bytes === 0) throw invalidRequest('The audio file is empty.', 'file')
  const format = parseFormat(value('response_format'), model)
  const granularities = values('timestamp_granularities[]')
  refuseForeign(model, values)
  refuseConflicts({ model, format, granularities, prompt: value('prompt'), include: values('include[]') })
  refuseTemperature(value('temperature'))
  return {
    model,
    file,
    format,
    language: parseLanguage(value('language')),
    prompt: value('prompt') ?? '',
    wantsWords: granularities.includes('word'),
    wantsSegments: granularities.length === 0 || granularities.includes('segment'),
    wantsLogprobs: values('include[]').includes('logprobs'),
    isChunked: parseChunking(value('chunking_strategy')),
    // Whisper ignores `stream`.
    stream: parseBoolean(value('stream')) && model !== 'whisper-1',
  }
}

function missing(param: string) {
  return invalidRequest(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter')
}

function refuseUnknown(form: MultipartForm): void {
  const seen = new Set<string>()
  for (const { name } of form.fields) {
    const kind = Object.hasOwn(knownFields, name) ? knownFields[name] : undefined
    if (kind === undefined) throw name === 'file' ? missing('file') : unknownParameter(name)
    if (kind === 'once' && seen.has(name))
      throw invalidRequest(`'${name}' was given twice.`, name, 'duplicate_parameter')
    seen.add(name)
  }
  const stray = form.files.find((part, index) => part.name !== 'file' || index > 0)
  if (stray !== undefined) throw unknownParameter(stray.name)
}

function parseFormat(value: string | null, model: string): TranscriptionRequest['format'] {
  const asked = value ?? 'json'
  const allowed = formatsOf(model)
  const found = allowed.find((format) => format === asked)
  if (found !== undefined) return found
  const message = `response_format '${asked}' is not compatible with model '${model}'. Use one of ${allowed.join(', ')}.`
  throw invalidRequest(message, 'response_format', 'unsupported_value')
}

function formatsOf(model: string): readonly TranscriptionRequest['format'][] {
  if (model === 'whisper-1') return whisperFormats
  if (model === 'gpt-transcribe') return newestFormats
  return model.endsWith('-diarize') ? diarizeFormats : tokenFormats
}

interface Conflicts {
  model: string
  format: string
  granularities: string[]
  prompt: string | null
  include: string[]
}

function refuseConflicts({ model, format, granularities, prompt, include }: Conflicts): void {
  const granularity = granularities.find((name) => name !== 'word' && name !== 'segment')
  if (granularity !== undefined) {
    const message = `Invalid value: '${granularity}'. Supported values are word and segment.`
    throw invalidRequest(message, 'timestamp_granularities', 'invalid_value')
  }
  if (granularities.length > 0 && format !== 'verbose_json') {
    const message = "'timestamp_granularities' needs response_format 'verbose_json'."
    throw invalidRequest(message, 'timestamp_granularities', 'invalid_value')
  }
  if (prompt !== null && model.endsWith('-diarize')) {
    throw invalidRequest(`'prompt' is not supported by model '${model}'.`, 'prompt', 'unsupported_parameter')
  }
  if (include.some((name) => name !== 'logprobs')) {
    throw invalidRequest("Supported values of 'include' are logprobs.", 'include', 'invalid_value')
  }
  const hasLogprobs = format === 'json' && model.startsWith('gpt-4o') && !model.endsWith('-diarize')
  if (include.length > 0 && !hasLogprobs) {
    throw invalidRequest(
      "'include' needs response_format 'json' and a gpt-4o model.",
      'include',
      'unsupported_value',
    )
  }
}

/** Fields of one model alone, and how often each may come there. */
const ownFields: Readonly<Record<string, { models: RegExp; most: number }>> = {
  'languages[]': { models: /^gpt-transcribe$/, most: Number.POSITIVE_INFINITY },
  'keywords[]': { models: /^gpt-transcribe$/, most: Number.POSITIVE_INFINITY },
  'known_speaker_names[]': { models: /-diarize$/, most: 4 },
  'known_speaker_references[]': { models: /-diarize$/, most: 4 },
}

function refuseForeign(model: string, values: (name: string) => string[]): void {
  for (const [name, { models, most }] of Object.entries(ownFields)) {
    const given = values(name).length
    const param = name.slice(0, -2)
    if (given > 0 && !models.test(model))
      throw invalidRequest(`'${param}' is not supported by model '${model}'.`, param, 'unsupported_parameter')
    if (given > most)
      throw invalidRequest(`'${param}' takes at most ${most} entries.`, param, 'invalid_value')
  }
}

function parseChunking(value: string | null): boolean {
  if (value === null) return false
  if (value === 'auto') return true
  try {
    const given: unknown = JSON.parse(value)
    if (isObject(given) && given['type'] === 'server_vad') return true
  } catch {
    // The refusal below covers invalid JSON too.
  }
  const message = "'chunking_strategy' must be auto or an object of type server_vad."
  throw invalidRequest(message, 'chunking_strategy', 'invalid_value')
}

function refuseTemperature(value: string | null): void {
  if (value === null) return
  const temperature = value.trim() === '' ? Number.NaN : Number(value)
  if (temperature >= 0 && temperature <= 1) return
  throw invalidRequest(
    `Invalid 'temperature': a number from 0 to 1 is expected, got '${value}'.`,
    'temperature',
    'invalid_value',
  )
}

function parseLanguage(value: string | null): string | null {
  if (value === null || /^[a-z]{2}$/.test(value)) return value
  throw invalidRequest(
    `Invalid language '${value}'. It must be in ISO-639-1 format.`,
    'language',
    'invalid_language_format',
  )
}

function parseBoolean(value: string | null): boolean {
  if (value === null || value === 'false') return false
  if (value === 'true') return true
  throw invalidRequest(
    `Invalid type for 'stream': expected a boolean, got '${value}'.`,
    'stream',
    'invalid_type',
  )
}
