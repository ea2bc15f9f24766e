import { isObject, type JsonObject } from '../../json.ts'
import type { ReadBody } from '../../read-body.ts'
import { fieldOf } from '../audio-api.ts'
import { refusal, wrongOption } from './style.ts'

/** A checked request for a job. */
export interface RevAiRequest {
  /** Null when the request has the sound itself. */
  url: string | null
  transcriber: string
  /** Null when Rev AI is to identify the language. */
  language: string | null
  skipDiarization: boolean
  metadata: string | null
}

const transcribers = new Set(['machine', 'human', 'low_cost', 'fusion'])
const metadataLengthMax = 512
const urlLengthMax = 2048
const phrasesMax = 6000
const phraseWordsMax = 12
const wordLengthMax = 34

const switches = new Set(
  [
    'skip_diarization',
    'skip_punctuation',
    'skip_postprocessing',
    'remove_disfluencies',
    'remove_atmospherics',
  ]
    .concat(['filter_profanity', 'verbatim', 'rush', 'test_mode', 'strict_custom_vocabulary'])
    .concat(['forced_alignment', 'enable_multilingual']),
)
const others = new Set(
  ['source_config', 'media_url', 'metadata', 'callback_url', 'notification_config', 'delete_after_seconds']
    .concat(['transcriber', 'segments_to_transcribe', 'speaker_names', 'speaker_channels_count'])
    .concat(['speakers_count', 'diarization_type', 'custom_vocabulary_id', 'custom_vocabularies'])
    .concat(['summarization_config', 'translation_config', 'language']),
)

/** The options of a job: the JSON body itself, or the field `options` of a form. Throws `ApiError` 400. */
export function optionsIn(body: ReadBody, json: JsonObject | null): JsonObject {
  if (body.form === null) {
    if (json === null) throw refusal(400)
    return json
  }
  const options = fieldOf(body, 'options')
  if (options === null) return {}
  try {
    const parsed: unknown = JSON.parse(options)
    if (isObject(parsed)) return parsed
  } catch {
    throw wrongOption('options', 'The options are no JSON.')
  }
  throw wrongOption('options', 'The options are no object.')
}

/**
 * Reads the options of a job. Throws `ApiError` 400. An undocumented member is refused too, so that a client's mistakes
 * show, unless the request asks for leniency.
 */
export function parseRequest(options: JsonObject, isLenient: boolean): RevAiRequest {
  for (const [name, value] of Object.entries(options)) refuseWrong(name, value, isLenient)
  const { transcriber = 'machine', metadata = null, language = 'en' } = options
  if (typeof transcriber !== 'string' || !transcribers.has(transcriber))
    throw wrongOption('transcriber', 'The transcriber is not known.')
  if (metadata !== null && (typeof metadata !== 'string' || metadata.length > metadataLengthMax))
    throw wrongOption('metadata', `At most ${metadataLengthMax} characters.`)
  if (typeof language !== 'string' || !isLanguage(language))
    throw wrongOption('language', 'The language is not supported.')
  refuseVocabularies(options)
  return {
    url: urlIn(options),
    transcriber,
    language: language === 'auto' ? null : language,
    skipDiarization: options['skip_diarization'] === true,
    metadata,
  }
}

function refuseWrong(name: string, value: unknown, isLenient: boolean): void {
  if (switches.has(name) && typeof value !== 'boolean') throw wrongOption(name, 'It must be true or false.')
  if (!switches.has(name) && !others.has(name) && !isLenient) throw wrongOption(name, 'It is not known.')
}

/** Codes of two letters, except Mandarin's `cmn`; Rev AI does not know `zh`. */
function isLanguage(language: string): boolean {
  return /^(?:auto|cmn|en-us|en-gb|en\/es|[a-z]{2})$/.test(language) && language !== 'zh'
}

function urlIn({ source_config: source, media_url: older }: JsonObject): string | null {
  if (source !== undefined && older !== undefined)
    throw wrongOption('source_config', 'It cannot be set together with media_url.')
  const url = isObject(source) ? source['url'] : older
  if (url === undefined && source === undefined) return null
  if (typeof url !== 'string' || !/^https?:\/\/\S+$/.test(url) || url.length > urlLengthMax)
    throw wrongOption('source_config', 'It has no address of a file.')
  return url
}

const wrong = (why: string) => wrongOption('custom_vocabularies', why)

function refuseVocabularies(options: JsonObject): void {
  const { custom_vocabularies: lists, custom_vocabulary_id: id } = options
  if (lists === undefined) return
  if (id !== undefined) throw wrong('It cannot be set together with custom_vocabulary_id.')
  if (!Array.isArray(lists) || lists.length < 1 || lists.length > 50)
    throw wrong('From 1 to 50 vocabularies.')
  const phrases = (lists as unknown[]).flatMap((list) => {
    const own: unknown = isObject(list) ? list['phrases'] : null
    if (!Array.isArray(own) || own.length === 0) throw wrong('Each has phrases.')
    return own as unknown[]
  })
  if (phrases.length > phrasesMax) throw wrong(`At most ${phrasesMax} phrases.`)
  if (!phrases.every((phrase) => isPhrase(phrase))) throw wrong('A phrase is not allowed.')
}

function isPhrase(phrase: unknown): boolean {
  if (typeof phrase !== 'string' || /\d/.test(phrase) || !/\p{L}/u.test(phrase)) return false
  const words = phrase.trim().split(/\s+/)
  return words.length <= phraseWordsMax && words.every(({ length }) => length <= wordLengthMax)
}
