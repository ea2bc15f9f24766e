import {
  isRemoteAudio,
  pcmInputRate,
  wavHeader,
  type CanonicalTranscription,
  type TranscriptionAdapter,
} from '../../canonical/audio.ts'
import type { AudioSource, TranscriptionCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import { oneExchange } from '../../canonical/steps.ts'
import { optionsFor, optionsLeftOut } from '../provider-options.ts'
import { readUpstreamFailure } from '../upstream-errors.ts'
import { encodeForm, type FormFile } from './multipart-body.ts'
import { readOpenAiTranscript } from './openai-transcript.ts'

/** How one provider departs from OpenAI's transcription form. */
export interface OpenAiTranscriptionOptions {
  /** Below the base URL. */
  path?: string
  /** What the field for granularities is called; null where times cannot be asked for. */
  granularitiesField?: 'timestamp_granularities[]' | 'timestamp_granularities' | null
  /** Mistral takes one granularity, and tells words as if they were segments. */
  hasWordsInSegments?: boolean
  /** Whether verbose answers have a response_format of their own; false where granularities alone bring times. */
  hasResponseFormat?: boolean
  /** The field for an address instead of a file; `file` takes it as text. Null where addresses are not taken. */
  urlField?: 'url' | 'file' | 'file_url' | null
  /** The field for domain terms; null where there is none. Mistral's holds neither spaces nor commas. */
  keytermsField?: 'keywords[]' | 'context_bias' | null
  /** Sent when the caller names no language, where omitting it would mean English. */
  languageWhenOmitted?: string | null
  /** False where a language and granularities exclude each other; the language then wins and there are no times. */
  combinesLanguageAndTimes?: boolean
}

type Options = Required<OpenAiTranscriptionOptions>

const defaults: Options = {
  path: '/audio/transcriptions',
  granularitiesField: 'timestamp_granularities[]',
  hasWordsInSegments: false,
  hasResponseFormat: true,
  urlField: null,
  keytermsField: null,
  languageWhenOmitted: null,
  combinesLanguageAndTimes: true,
}

/** OpenAI's multipart transcription, for the providers that took it over, each with its departures as data. */
export function openAiTranscription(departures: OpenAiTranscriptionOptions = {}): TranscriptionAdapter {
  const options: Options = { ...defaults, ...departures }
  return oneExchange<TranscriptionCall, CanonicalTranscription>({
    encode({ call, endpoint }) {
      const { form, file } = toForm(call, endpoint, options)
      const { contentType, body } = encodeForm(form, file)
      const headers = { 'content-type': contentType }
      return {
        request: { method: 'POST', path: options.path, headers, body },
        dropped: droppedOf(call, endpoint, options),
      }
    },
    decode({ bytes }, { call, endpoint }) {
      const wantsWords =
        options.hasWordsInSegments && granularitiesOf(call, endpoint, options).includes('word')
      return readOpenAiTranscript(bytes, { areSegmentsWords: wantsWords, language: call.language })
    },
    readError: readUpstreamFailure,
  })
}

/** Names of sent fields that this endpoint is not sent. */
function droppedOf(call: TranscriptionCall, endpoint: Endpoint, options: Options): readonly string[] {
  const dropped = optionsLeftOut(call.preferences, endpoint, isPassable)
  const loses = wantsTimes(call) && call.language !== null && !options.combinesLanguageAndTimes
  return loses ? [...dropped, 'timestamp_granularities'] : dropped
}

type Field = readonly [name: string, value: string]

function toForm(
  call: TranscriptionCall,
  endpoint: Endpoint,
  options: Options,
): { form: Field[]; file: FormFile | null } {
  const form: Field[] = [['model', endpoint.upstreamModel]]
  const language = call.language ?? options.languageWhenOmitted
  if (language !== null) form.push(['language', language])
  if (call.temperature !== null) form.push(['temperature', String(call.temperature)])
  if (options.hasResponseFormat)
    form.push(['response_format', isVerbose(call, endpoint) ? 'verbose_json' : 'json'])
  const granularities = granularitiesOf(call, endpoint, options)
  if (options.granularitiesField !== null) {
    for (const granularity of granularities) form.push([options.granularitiesField, granularity])
  }
  if (call.diarize) form.push(['diarize', 'true'])
  if (options.keytermsField !== null) form.push(...keytermFields(call.keyterms, options.keytermsField))
  form.push(...passedFields(optionsFor(call.preferences, endpoint)))
  if (isRemoteAudio(call.audio) && endpoint.audio?.url === true && options.urlField !== null) {
    return { form: [...form, [options.urlField, call.audio.url]], file: null }
  }
  return { form, file: toFile(call.audio) }
}

function wantsTimes(call: TranscriptionCall): boolean {
  return call.responseFormat === 'verbose_json'
}

/** Also for the length of audio that could not be measured: some providers tell it nowhere else. */
function isVerbose(call: TranscriptionCall, endpoint: Endpoint): boolean {
  return endpoint.audio?.verboseJson === true && (wantsTimes(call) || call.measuredMilliseconds === null)
}

/** Segments whenever times are wanted, because `word` alone would leave them out; words also to carry speakers. */
function granularitiesOf(
  call: TranscriptionCall,
  endpoint: Endpoint,
  options: Options,
): ('word' | 'segment')[] {
  const hasTimes = endpoint.audio?.verboseJson === true || !options.hasResponseFormat
  if (!wantsTimes(call) || !hasTimes) return []
  if (call.language !== null && !options.combinesLanguageAndTimes) return []
  const wantsWords = call.granularities.includes('word') || call.diarize
  if (!wantsWords || endpoint.audio?.wordTimes !== true) return ['segment']
  return options.hasWordsInSegments ? ['word'] : ['segment', 'word']
}

function keytermFields(keyterms: readonly string[], field: 'keywords[]' | 'context_bias'): Field[] {
  return keyterms.flatMap((term): Field[] => {
    const trimmed = term.trim()
    const value = field === 'context_bias' ? trimmed.replace(/[\s,]+/g, '_') : trimmed
    return value === '' ? [] : [[field, value]]
  })
}

/** The format alone names the file; the caller's own name for it stays here. */
function toFile(audio: AudioSource): FormFile {
  const base = {
    name: 'file',
    prefix: new Uint8Array(0),
    sizeBytes: audio.sizeBytes,
    open: () => audio.open(),
  }
  if (audio.format !== 'pcm') return { ...base, fileName: audio.fileName, contentType: audio.contentType }
  // These providers take no headerless samples.
  const prefix = wavHeader(audio.sizeBytes, pcmInputRate)
  return { ...base, fileName: 'audio.wav', contentType: 'audio/wav', prefix }
}

/** What the gateway itself decides, and what would change the shape of the answer, is not for the caller to set. */
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
    .concat(['timestamp_granularities', 'keywords', 'context_bias'])
    .concat(['session_id', 'user', 'trace']),
)

function isPassable(name: string): boolean {
  return !reserved.has(name.replace(/\[\]$/, ''))
}

function passedFields(options: Readonly<Record<string, unknown>>): Field[] {
  return Object.entries(options).flatMap(([name, value]): Field[] => {
    if (!isPassable(name) || value === null || value === undefined) return []
    if (Array.isArray(value)) return value.map((item): Field => [name, toText(item)])
    return [[name, toText(value)]]
  })
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
