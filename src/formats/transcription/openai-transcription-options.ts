import type { Endpoint } from '../../canonical/endpoint.ts'
import type { TextPath } from '../text/text-interface.ts'
import type { TranscriptEventNames } from './openai-transcript-stream.ts'

/** How one provider departs from OpenAI's transcription form. */
export interface OpenAiTranscriptionOptions {
  /** Below the base URL. */
  path?: TextPath
  /** Other paths by how a deployment's base URL ends, as `elsewhere` of a text interface; a whole address asks another host. */
  elsewhere?: Readonly<Record<string, TextPath>>
  /** False where the address says what transcribes; the caller's own options for the provider may then name a model. */
  sendsModel?: boolean
  /** The model's name in the form, where it is not the name that the provider has otherwise. */
  nameOf?: (upstreamModel: string) => string
  /** What stands behind the name of a field that is repeated: most want brackets, some nothing. */
  listMark?: '[]' | ''
  /** False where times cannot be asked for: they come unasked, or never. */
  hasGranularities?: boolean
  /** Mistral takes one granularity, and tells words as if they were segments. */
  hasWordsInSegments?: boolean
  /** The `response_format` that brings times; null where there is none to ask for. */
  verboseFormat?: 'verbose_json' | 'diarized_json' | null
  /** False where it is not taken; the caller is then told that it was left out. */
  hasTemperature?: boolean
  /** The field for an address instead of a file; `file` takes it as text. Null where addresses are not taken. */
  urlField?: 'url' | 'file' | 'file_url' | null
  /** The field for domain terms, without the mark of a list; null where there is none. */
  keytermsField?: 'keywords' | 'context_bias' | 'keyterm' | null
  /** What stands between the words of a term where it may hold neither spaces nor commas; null where it may. */
  keytermJoiner?: '_' | null
  /** Sent when the caller names no language, where omitting it would mean English. */
  languageWhenOmitted?: string | null
  /** False where a language and granularities exclude each other; the language then wins and there are no times. */
  combinesLanguageAndTimes?: boolean
  /** Segments carry speakers where they are asked for with `diarize`, which costs nothing there. */
  diarizesSegments?: boolean
  /** The events in which it sends a transcript without times where it is asked to; null where it does not. */
  streams?: TranscriptEventNames | null
  /** Further fields, which the caller's own options for the provider replace. */
  fields?: Readonly<Record<string, string>>
  /** How headerless samples are described; null where they are given a WAV header instead. */
  sampleFields?: Readonly<Record<string, string>> | null
  /** In what one of its models departs from the others. */
  modelOf?: (asked: Pick<Endpoint, 'model' | 'upstreamModel'>) => OpenAiTranscriptionOptions
}

/** Every option decided, for one model. */
export type TranscriptionForm = Required<Omit<OpenAiTranscriptionOptions, 'modelOf'>>

const usual: TranscriptionForm = {
  path: '/audio/transcriptions',
  elsewhere: {},
  sendsModel: true,
  nameOf: (upstreamModel) => upstreamModel,
  listMark: '[]',
  hasGranularities: true,
  hasWordsInSegments: false,
  verboseFormat: 'verbose_json',
  hasTemperature: true,
  urlField: null,
  keytermsField: null,
  keytermJoiner: null,
  languageWhenOmitted: null,
  combinesLanguageAndTimes: true,
  diarizesSegments: false,
  streams: null,
  fields: {},
  sampleFields: null,
}

/** The options of a provider for one of its models. */
export function formFor(
  { modelOf, ...departures }: OpenAiTranscriptionOptions,
  asked: Pick<Endpoint, 'model' | 'upstreamModel'>,
): TranscriptionForm {
  return { ...usual, ...departures, ...modelOf?.(asked) }
}
