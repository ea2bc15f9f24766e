import { isObject, type JsonObject } from '../../json.ts'
import { whisperLanguages } from '../whisper-languages.ts'
import { refusal } from './style.ts'

/** A checked request for a transcript. */
export interface TranscriptRequest {
  audioUrl: string
  model: string
  /** In AssemblyAI's spelling, such as `en_us`. Null to detect the language. */
  language: string | null
  speakerLabels: boolean
  entities: boolean
  /** The members of the request, which the transcript repeats. */
  sent: JsonObject
}

/** Further codes, with regions, of English and German. */
const languages = whisperLanguages('jw', 'en_au', 'en_uk', 'en_us', 'de_ch')
const models = ['universal-3-5-pro', 'universal-3-pro', 'universal-2']
const switches = new Set(
  ['language_detection', 'speaker_labels', 'entity_detection', 'sentiment_analysis', 'auto_chapters']
    .concat(['auto_highlights', 'iab_categories', 'content_safety', 'summarization', 'punctuate'])
    .concat(['format_text', 'disfluencies', 'filter_profanity', 'multichannel', 'redact_pii']),
)
const others = new Set(
  ['audio_url', 'speech_models', 'speech_model', 'language_code', 'language_confidence_threshold']
    .concat(['language_detection_options', 'speakers_expected', 'speaker_options', 'keyterms_prompt'])
    .concat(['prompt', 'temperature', 'audio_start_from', 'audio_end_at', 'speech_threshold'])
    .concat(['custom_spelling', 'domain', 'webhook_url', 'webhook_auth_header_name'])
    .concat(['webhook_auth_header_value', 'redact_pii_policies', 'redact_pii_sub', 'redact_pii_audio'])
    .concat(['redact_pii_audio_quality']),
)

/**
 * Reads the body of a request for a transcript. Throws `ApiError` 400. An undocumented member is refused too, so that a
 * client's mistakes show, unless the request asks for leniency.
 */
export function parseTranscriptRequest(json: JsonObject | null, isLenient: boolean): TranscriptRequest {
  if (json === null) throw refusal(400)
  for (const [name, value] of Object.entries(json)) refuseWrong(name, value, isLenient)
  const audioUrl = json['audio_url']
  if (typeof audioUrl !== 'string' || !/^https?:\/\/\S+$/.test(audioUrl))
    throw refusal(400, 'audio_url must be the address of a file')
  const model = modelOf(json)
  refuseConflicts(json, model)
  return {
    audioUrl,
    model,
    language: languageOf(json),
    speakerLabels: json['speaker_labels'] === true,
    entities: json['entity_detection'] === true,
    sent: json,
  }
}

function languageOf({ language_code: told, language_detection: detects }: JsonObject): string | null {
  if (detects === true) return null
  return typeof told === 'string' ? told : 'en_us'
}

function refuseWrong(name: string, value: unknown, isLenient: boolean): void {
  if (switches.has(name) && typeof value !== 'boolean') throw refusal(400, `${name} must be a boolean`)
  if (!switches.has(name) && !others.has(name) && !isLenient)
    throw refusal(400, `Invalid endpoint schema: ${name} is not known`)
}

function modelOf(json: JsonObject): string {
  const { speech_models: asked } = json
  if (asked === undefined) return 'universal-3-5-pro'
  const [first] = Array.isArray(asked) ? asked : []
  if (typeof first !== 'string' || !(asked as unknown[]).every((each) => models.includes(String(each))))
    throw refusal(400, `speech_models must be a list of ${models.join(', ')}`)
  return first
}

function refuseConflicts(json: JsonObject, model: string): void {
  const { language_code: language, language_detection: detects, keyterms_prompt: terms, temperature } = json
  if (language !== undefined && (typeof language !== 'string' || !languages.has(language)))
    throw refusal(400, 'language_code is not known')
  if (language !== undefined && detects === true)
    throw refusal(400, 'language_code cannot be used together with language_detection')
  if (terms !== undefined) refuseTerms(terms, json, model)
  if (temperature === undefined) return
  if (!model.startsWith('universal-3')) throw refusal(400, `temperature is not supported by ${model}`)
  if (typeof temperature !== 'number' || temperature < 0 || temperature > 1)
    throw refusal(400, 'temperature must be between 0 and 1')
}

function refuseTerms(terms: unknown, json: JsonObject, model: string): void {
  if (json['prompt'] !== undefined) throw refusal(400, 'keyterms_prompt cannot be used together with prompt')
  const most = model === 'universal-2' ? 200 : 1000
  const isList = Array.isArray(terms) && terms.every((term) => typeof term === 'string' && term.trim() !== '')
  if (!isList || terms.length > most)
    throw refusal(400, `keyterms_prompt must be a list of at most ${most} terms`)
  if (terms.some((term) => String(term).trim().split(/\s+/).length > 6))
    throw refusal(400, 'keyterms_prompt has a term of more than 6 words')
}

/** The model that a body names, or null. */
export function modelNamed(json: JsonObject | null): string | null {
  const asked = isObject(json) ? json['speech_models'] : undefined
  const first: unknown = Array.isArray(asked) ? asked[0] : undefined
  return typeof first === 'string' ? first : null
}
