import {
  type CanonicalTranscription,
  isRemoteAudio,
  type TranscriptionAdapter,
} from '../../canonical/audio.ts'
import type { TranscriptionCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { CallAt, Exchange } from '../../canonical/steps.ts'
import { fieldError, type GatewayError } from '../../core/errors.ts'
import { optionsFor, optionsLeftOut } from '../provider-options.ts'
import { readUpstreamFailure } from '../upstream-errors.ts'
import { addressAt } from '../text/text-interface.ts'
import { audioPart, wavPart } from './audio-part.ts'
import { joinTerm } from './joined-terms.ts'
import { tidyKeyterms } from './keyterms.ts'
import { encodeForm, type FormFile } from './multipart-body.ts'
import { openAiTranscriptReader, type TranscriptEventNames } from './openai-transcript-stream.ts'
import { readOpenAiTranscript } from './openai-transcript.ts'
import { toldLanguage } from './told-language.ts'
import {
  formFor,
  type OpenAiTranscriptionOptions,
  type TranscriptionForm,
} from './openai-transcription-options.ts'
import { textOrJson } from '../../json/values.ts'

/** OpenAI's multipart transcription, for providers that follow it, each with its differences as data. */
export function openAiTranscription(options: OpenAiTranscriptionOptions = {}): TranscriptionAdapter {
  return {
    first(asked) {
      const form = formFor(options, asked.endpoint)
      const exchange = encode(asked, form)
      const names = eventsFor(asked, form)
      if (names === null) return { type: 'send', exchange, state: null }
      const open = () => openAiTranscriptReader(names, (bytes) => decode(bytes, asked, form))
      return { type: 'stream', exchange, open }
    },
    next: (_, { bytes }, asked) => ({
      type: 'answer',
      answer: decode(bytes, asked, formFor(options, asked.endpoint)),
    }),
    readError: readUpstreamFailure,
  }
}

type Asked = Pick<CallAt<TranscriptionCall>, 'call' | 'endpoint'>

function encode({ call, endpoint }: Asked, form: TranscriptionForm): Exchange {
  const { contentType, body } = encodeForm(...fieldsOf(call, endpoint, form))
  const target = { model: endpoint.upstreamModel, stream: false }
  const address = addressAt(endpoint.deployment.baseUrl, form, target)
  return {
    request: { ...address, headers: { 'content-type': contentType }, body },
    dropped: droppedOf(call, endpoint, form),
  }
}

function decode(
  bytes: Uint8Array,
  { call, endpoint, context }: CallAt<TranscriptionCall>,
  form: TranscriptionForm,
): CanonicalTranscription {
  return readOpenAiTranscript(bytes, {
    areSegmentsWords: form.hasWordsInSegments && granularitiesOf(call, endpoint, form).includes('word'),
    isTextOfSegments: form.verboseFormat === 'diarized_json',
    language: call.language,
    joinedTerms: form.keytermJoiner === null ? null : { terms: call.keyterms, joiner: form.keytermJoiner },
    context,
  })
}

/**
 * The events of a streamed answer; null for a whole one. Only plain text is streamed: times and speakers come only in
 * the whole answer, and joined terms can be restored only there.
 */
function eventsFor({ call, endpoint }: Asked, form: TranscriptionForm): TranscriptEventNames | null {
  const asksForTimes = form.verboseFormat === null ? wantsTimes(call) : isVerbose(call, endpoint)
  const joinsTerms = form.keytermJoiner !== null && call.keyterms.length > 0
  return call.stream === true && !asksForTimes && !joinsTerms ? form.streams : null
}

/** The names of the caller's fields that this endpoint does not get. */
function droppedOf(call: TranscriptionCall, endpoint: Endpoint, form: TranscriptionForm): readonly string[] {
  const dropped = optionsLeftOut(call.preferences, endpoint, (name) => isPassable(name, form))
  return [
    ...dropped,
    ...(losesTimes(call, form) ? ['timestamp_granularities'] : []),
    ...(call.temperature !== null && !form.hasTemperature ? ['temperature'] : []),
  ]
}

/** Whether the language excludes times from the transcript. */
function losesTimes(call: TranscriptionCall, { combinesLanguageAndTimes }: TranscriptionForm): boolean {
  return wantsTimes(call) && call.language !== null && !combinesLanguageAndTimes
}

type Field = readonly [name: string, value: string]

/** The fields in order, with the file last: some servers read it on arrival and need the other fields by then. */
function fieldsOf(
  call: TranscriptionCall,
  endpoint: Endpoint,
  form: TranscriptionForm,
): [fields: Field[], file: FormFile | null] {
  const { audio } = call
  const fields: Field[] = form.sendsModel ? [['model', form.nameOf(endpoint.upstreamModel)]] : []
  const language = call.language === null ? form.languageWhenOmitted : toldLanguage(call.language, endpoint)
  if (language !== null) fields.push(['language', language])
  if (call.temperature !== null && form.hasTemperature) fields.push(['temperature', String(call.temperature)])
  if (eventsFor({ call, endpoint }, form) !== null) fields.push(['stream', 'true'])
  fields.push(...timeFields(call, endpoint, form))
  fields.push(...keytermFields(call.keyterms, form))
  const passed = passedFields(optionsFor(call.preferences, endpoint), form)
  const chosen = new Set(passed.map(([name]) => name))
  fields.push(...Object.entries(form.fields).filter(([name]) => !chosen.has(name)), ...passed)
  if (isRemoteAudio(audio) && endpoint.audio?.url === true && form.urlField !== null) {
    return [[...fields, [form.urlField, audio.url]], null]
  }
  if (audio.format !== 'pcm') return [fields, audioPart(audio)]
  if (form.sampleFields === null) return [fields, wavPart(audio)]
  return [[...fields, ...Object.entries(form.sampleFields)], audioPart(audio)]
}

/** The fields that ask for times and speakers. */
function timeFields(call: TranscriptionCall, endpoint: Endpoint, form: TranscriptionForm): Field[] {
  const { verboseFormat, listMark, diarizesSegments } = form
  const fields: Field[] = []
  if (verboseFormat !== null)
    fields.push(['response_format', isVerbose(call, endpoint) ? verboseFormat : 'json'])
  const granularities = granularitiesOf(call, endpoint, form)
  for (const granularity of granularities) fields.push([`timestamp_granularities${listMark}`, granularity])
  const hasSpeakers = diarizesSegments && granularities.length === 1 && granularities[0] === 'segment'
  if (call.diarize || hasSpeakers) fields.push(['diarize', 'true'])
  return fields
}

function wantsTimes(call: TranscriptionCall): boolean {
  return call.responseFormat === 'verbose_json'
}

/** Also asked for when the length of the audio could not be measured: some providers report it nowhere else. */
function isVerbose(call: TranscriptionCall, endpoint: Endpoint): boolean {
  return endpoint.audio?.verboseJson === true && (wantsTimes(call) || call.measuredMilliseconds === null)
}

/**
 * Segments whenever times are wanted, because `word` alone would omit them; also words when speakers are wanted. Throws
 * `invalid_request` for words that the caller asked for by name and that cannot come.
 */
function granularitiesOf(
  call: TranscriptionCall,
  endpoint: Endpoint,
  form: TranscriptionForm,
): ('word' | 'segment')[] {
  const hasTimes = endpoint.audio?.verboseJson === true || form.verboseFormat === null
  if (!wantsTimes(call) || !hasTimes || !form.hasGranularities) return []
  if (losesTimes(call, form)) {
    if (call.granularities.includes('word')) throw wordsRefused()
    return []
  }
  const wantsWords = call.granularities.includes('word') || call.diarize
  if (!wantsWords || endpoint.audio?.wordTimes !== true) return ['segment']
  return form.hasWordsInSegments ? ['word'] : ['segment', 'word']
}

function wordsRefused(): GatewayError {
  return fieldError(
    'timestamp_granularities',
    'cannot have "word" together with `language` at the provider of this model. Leave one of them out.',
  )
}

function keytermFields(
  keyterms: readonly string[],
  { keytermsField, keytermJoiner, listMark }: TranscriptionForm,
): Field[] {
  if (keytermsField === null) return []
  return tidyKeyterms(keyterms).flatMap((term): Field[] => {
    const value = keytermJoiner === null ? term : joinTerm(term, keytermJoiner)
    return value === '' ? [] : [[`${keytermsField}${listMark}`, value]]
  })
}

/**
 * Fields that the gateway decides, or that would change the form of the answer. The caller's options cannot set them.
 */
const reserved = new Set(
  [
    'file',
    'url',
    'file_url',
    'file_id',
    'model',
    'stream',
    'response_format',
    'language',
    'temperature',
    'diarize',
  ]
    .concat(['timestamp_granularities', 'keywords', 'keyterm', 'context_bias', 'audio_format', 'sample_rate'])
    .concat(['session_id', 'user', 'trace']),
)

function isPassable(name: string, { sendsModel }: TranscriptionForm): boolean {
  if (name === 'model') return !sendsModel
  return !reserved.has(name.replace(/\[\]$/, ''))
}

function passedFields(options: Readonly<Record<string, unknown>>, form: TranscriptionForm): Field[] {
  const { listMark } = form
  return Object.entries(options).flatMap(([name, value]): Field[] => {
    if (!isPassable(name, form) || value === null || value === undefined) return []
    if (!Array.isArray(value)) return [[name, textOrJson(value)]]
    const repeated = name.endsWith(listMark) ? name : `${name}${listMark}`
    return value.map((item): Field => [repeated, textOrJson(item)])
  })
}
