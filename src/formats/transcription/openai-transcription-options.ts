import type { Endpoint } from '../../canonical/endpoint.ts'
import type { TextPath } from '../text/text-interface.ts'
import type { TranscriptEventNames } from './openai-transcript-stream.ts'

/** Where a provider differs from OpenAI's transcription form. */
export interface OpenAiTranscriptionOptions {
  /** The path below the base URL. */
  path?: TextPath
  /**
   * Other paths, by the end of a deployment's base URL, like `elsewhere` of a text interface; a whole URL goes to
   * another host.
   */
  elsewhere?: Readonly<Record<string, TextPath>>
  /** False when the path decides the model; the caller's own options for the provider may then name one. */
  sendsModel?: boolean
  /** The model's name in the form, when it differs from the provider's usual name. */
  nameOf?: (upstreamModel: string) => string
  /** The suffix of a repeated field's name: brackets for most providers, nothing for some. */
  listMark?: '[]' | ''
  /** False when the request cannot ask for times: they come always or never. */
  hasGranularities?: boolean
  /** True for Mistral, which takes one granularity and sends words as segments. */
  hasWordsInSegments?: boolean
  /** The `response_format` that adds times; null when there is none. */
  verboseFormat?: 'verbose_json' | 'diarized_json' | null
  /** False when the provider takes no temperature; it is then listed as dropped. */
  hasTemperature?: boolean
  /** The field for a URL instead of a file; `file` takes it as text. Null when URLs are not taken. */
  urlField?: 'url' | 'file' | 'file_url' | null
  /** The field for key terms, without the suffix of a list; null when there is none. */
  keytermsField?: 'keywords' | 'context_bias' | 'keyterm' | null
  /** The joiner between the words of a term, when terms may contain neither spaces nor commas; null when they may. */
  keytermJoiner?: '_' | null
  /** Sent when the caller names no language, for providers that would then assume English. */
  languageWhenOmitted?: string | null
  /** False when a language and granularities exclude each other; the language then wins, and there are no times. */
  combinesLanguageAndTimes?: boolean
  /** Whether segments have speakers when `diarize` is sent; it costs nothing there. */
  diarizesSegments?: boolean
  /** The events of a streamed transcript without times; null when the provider does not stream. */
  streams?: TranscriptEventNames | null
  /** Further fields; the caller's own options for the provider replace them. */
  fields?: Readonly<Record<string, string>>
  /** The fields that describe headerless samples; null when such samples get a WAV header instead. */
  sampleFields?: Readonly<Record<string, string>> | null
  /** The options in which one model differs from the provider's other models. */
  modelOf?: (asked: Pick<Endpoint, 'model' | 'upstreamModel'>) => OpenAiTranscriptionOptions
}

/** All options for one model, with defaults. */
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
