import { countTokens } from '../../tokens.ts'
import { refusal } from './style.ts'

/** The checked query of a request to `/v1/listen`. */
export interface ListenRequest {
  model: string
  language: string | null
  detectLanguage: boolean
  diarize: boolean
  utterances: boolean
  punctuate: boolean
  entities: boolean
  multichannel: boolean
  samples: { rate: number; channels: number } | undefined
}

const models =
  /^(?:nova-3(?:-general|-medical)?|nova-2(?:-[a-z]+)?|nova(?:-[a-z]+)?|enhanced(?:-[a-z]+)?|base(?:-[a-z]+)?|whisper(?:-[a-z]+)?)$/
const keytermsMax = 100
const keytermTokensMax = 500

/** Options that take only true or false. */
const switches = new Set(
  [
    'diarize',
    'utterances',
    'smart_format',
    'punctuate',
    'paragraphs',
    'numerals',
    'measurements',
    'dictation',
  ]
    .concat(['filler_words', 'profanity_filter', 'detect_entities', 'multichannel', 'mip_opt_out'])
    .concat(['topics', 'intents', 'sentiment']),
)
const others = new Set(
  ['model', 'language', 'detect_language', 'diarize_model', 'keyterm', 'keywords', 'utt_split', 'encoding']
    .concat([
      'sample_rate',
      'channels',
      'redact',
      'replace',
      'search',
      'summarize',
      'tag',
      'extra',
      'version',
    ])
    .concat(['callback', 'callback_method', 'custom_topic', 'custom_intent']),
)

/** Reads the query as Deepgram does. Throws `ApiError`. */
export function parseListen(query: URLSearchParams): ListenRequest {
  for (const [name, value] of query) refuseWrong(name, value)
  const model = query.get('model') ?? 'base-general'
  if (!models.test(model)) throw badRequest('No such model/language/tier combination found.')
  const language = query.get('language')
  if (language !== null && !/^(?:multi|[a-z]{2,3}(?:-[A-Za-z0-9]+)*)$/.test(language))
    throw badRequest('No such model/language/tier combination found.')
  refuseKeyterms(query.getAll('keyterm'), model)
  const diarizer = query.get('diarize_model')
  if (diarizer !== null && !['latest', 'v1', 'v2'].includes(diarizer))
    throw invalidQuery('diarize_model', diarizer)
  const isOn = (name: string) => query.get(name) === 'true'
  const entities = isOn('detect_entities')
  return {
    model,
    language,
    detectLanguage: query.has('detect_language') && query.get('detect_language') !== 'false',
    diarize: diarizer !== null || isOn('diarize'),
    utterances: isOn('utterances'),
    punctuate: isOn('smart_format') || isOn('punctuate') || entities,
    entities,
    multichannel: isOn('multichannel'),
    samples: parseSamples(query),
  }
}

function refuseWrong(name: string, value: string): void {
  if (switches.has(name) && value !== 'true' && value !== 'false') throw invalidQuery(name, value)
  if (!switches.has(name) && !others.has(name)) throw invalidQuery(name, value)
}

function refuseKeyterms(keyterms: readonly string[], model: string): void {
  if (keyterms.length === 0) return
  if (!model.startsWith('nova-3')) throw badRequest('Keyterms are only supported by Nova-3 models.')
  const tokens = keyterms.reduce((sum, term) => sum + countTokens(term), 0)
  if (keyterms.length <= keytermsMax && tokens <= keytermTokensMax) return
  throw badRequest(
    `Keyterm limit exceeded. The maximum number of tokens across all keyterms is ${keytermTokensMax}.`,
  )
}

function parseSamples(query: URLSearchParams): ListenRequest['samples'] {
  const encoding = query.get('encoding')
  if (encoding === null) return undefined
  const rate = Number(query.get('sample_rate') ?? Number.NaN)
  if (encoding !== 'linear16' || !(rate >= 8000 && rate <= 192_000)) throw invalidQuery('encoding', encoding)
  return { rate, channels: Number(query.get('channels') ?? 1) }
}

function badRequest(message: string) {
  return refusal(400, 'Bad Request', `Bad Request: ${message}`)
}

function invalidQuery(name: string, value: string) {
  return refusal(400, 'INVALID_QUERY_PARAMETER', `Failed to deserialize query parameters: ${name}=${value}`)
}
