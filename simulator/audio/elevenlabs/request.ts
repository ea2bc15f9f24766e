import type { ReadBody } from '../../read-body.ts'
import type { UploadedFile } from '../../uploaded-file.ts'
import { fieldOf, fieldsOf } from '../audio-api.ts'
import { invalidField, refusal } from './refusals.ts'

/** A checked form. Exactly one of `file` and `url` is set. */
export interface SpeechToTextRequest {
  file: UploadedFile | null
  url: string | null
  diarize: boolean
  granularity: 'none' | 'word' | 'character'
  entities: boolean
  multiChannel: boolean
  samples: { rate: number; channels: number } | undefined
}

const models = ['scribe_v2', 'scribe_v1', 'scribe_v1_experimental']
const granularities = ['none', 'word', 'character'] as const
const keytermsMax = 1000
/** Of fewer than fifty characters. */
const keytermLengthMax = 49
const keytermWordsMax = 5

/** Reads a form as ElevenLabs does. Throws `ApiError`. */
export function parseSpeechToText(body: ReadBody): SpeechToTextRequest {
  const model = fieldOf(body, 'model_id')
  if (model === null) throw invalidField('model_id', 'Field required')
  if (!models.includes(model)) {
    throw refusal(
      400,
      'invalid_model_id',
      `'${model}' is not a valid model_id. Use one of: ${models.join(', ')}`,
    )
  }
  const { file, url } = sourceOf(body)
  refuseLanguage(fieldOf(body, 'language_code'))
  refuseNumber(body, 'temperature', 2)
  refuseKeyterms(fieldsOf(body, 'keyterms'))
  const asked = fieldOf(body, 'timestamps_granularity') ?? 'word'
  const granularity = granularities.find((known) => known === asked)
  if (granularity === undefined)
    throw invalidField('timestamps_granularity', "Input should be 'none', 'word' or 'character'")
  const diarize = isTrue(body, 'diarize')
  if (!diarize && fieldOf(body, 'diarization_threshold') !== null)
    throw refusal(400, 'invalid_parameters', 'diarization_threshold can only be set when diarize is true.')
  return {
    file,
    url,
    diarize,
    granularity,
    entities: fieldsOf(body, 'entity_detection').length > 0 && fieldOf(body, 'entity_redaction') === null,
    multiChannel: isTrue(body, 'use_multi_channel'),
    samples: fieldOf(body, 'file_format') === 'pcm_s16le_16' ? { rate: 16_000, channels: 1 } : undefined,
  }
}

function sourceOf(body: ReadBody): Pick<SpeechToTextRequest, 'file' | 'url'> {
  const file = body.form?.files.find(({ name }) => name === 'file') ?? null
  const url = fieldOf(body, 'source_url') ?? fieldOf(body, 'cloud_storage_url')
  if ((file === null) === (url === null)) {
    throw refusal(400, 'invalid_request', 'Must provide either file or source_url, and only one of them.')
  }
  return { file, url }
}

function isTrue(body: ReadBody, name: string): boolean {
  const value = fieldOf(body, name)
  if (value === null || value === 'false') return false
  if (value === 'true') return true
  throw invalidField(name, 'Input should be a valid boolean, unable to interpret input')
}

function refuseLanguage(code: string | null): void {
  if (code === null || /^[a-z]{2,3}$/.test(code)) return
  throw refusal(400, 'invalid_language_code', `Language code '${code}' is not supported.`)
}

function refuseNumber(body: ReadBody, name: string, max: number): void {
  const value = fieldOf(body, name)
  if (value === null || (value.trim() !== '' && Number(value) >= 0 && Number(value) <= max)) return
  throw invalidField(name, `Input should be a number from 0 to ${max}`)
}

function refuseKeyterms(keyterms: readonly string[]): void {
  if (keyterms.length > keytermsMax)
    throw invalidField('keyterms', `List should have at most ${keytermsMax} items`)
  for (const term of keyterms) {
    const isShort = [...term].length <= keytermLengthMax && term.trim().split(/\s+/).length <= keytermWordsMax
    if (!isShort || /[<>{}[\]\\]/.test(term))
      throw refusal(400, 'invalid_keyterms', `The keyterm '${term}' is not valid.`)
  }
}
