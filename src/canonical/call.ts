import type { PassedFormat, Percentiles } from './endpoint.ts'
import type { OperationName, TextFormat } from './operation.ts'
import type { Demand } from './usage.ts'
import type { JsonDocument } from '../json/document.ts'

/** A caller's routing wishes: the contract's `provider` object. Every member is optional there and has its default here. */
export interface Preferences {
  order: readonly string[] | null
  only: readonly string[] | null
  ignore: readonly string[]
  allowFallbacks: boolean
  requireParameters: boolean
  denyDataCollection: boolean
  requireZdr: boolean
  quantizations: readonly string[] | null
  sort: 'price' | 'throughput' | 'latency' | null
  /** Only models whose author allows distillation. */
  requireDistillable: boolean
  /**
   * Minimum tokens per second and maximum milliseconds to the first output: endpoints that miss one of them come after
   * the others.
   */
  preferredThroughputMin: Partial<Percentiles> | null
  preferredLatencyMaxMs: Partial<Percentiles> | null
  /** Nanocredits per million tokens, or per request for `request`; endpoints above are left out. */
  maxPrice: { prompt?: bigint; completion?: bigint; request?: bigint; audio?: bigint } | null
  /** Provider-specific options by slug, audio only. */
  options: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

export const defaultPreferences: Preferences = Object.freeze({
  order: null,
  only: null,
  ignore: [],
  allowFallbacks: true,
  requireParameters: false,
  denyDataCollection: false,
  requireZdr: false,
  quantizations: null,
  sort: null,
  requireDistillable: false,
  preferredThroughputMin: null,
  preferredLatencyMaxMs: null,
  maxPrice: null,
  options: {},
})

/** The members of every call, whatever its modality. */
export interface CallBase {
  operation: OperationName
  /** The model as asked, with its variant, such as `openai/gpt-4o:floor`. */
  model: string
  /** Models to try when every endpoint of the one before failed, in order. */
  fallbackModels: readonly string[]
  preferences: Preferences
  /** Contract names of the optional parameters that were sent, for `require_parameters` and capability filters. */
  parameters: readonly string[]
  demand: Demand
  /** Groups requests for routing and observability; never sent upstream. */
  sessionId: string | null
  /** The caller's end user; never sent upstream for audio. */
  userId: string | null
  trace: Readonly<Record<string, unknown>> | null
  /** Accepted parameters that are not passed on; shown in `headrace_metadata.dropped`. */
  dropped: readonly string[]
}

/** What a call asked for, as far as it is told beside what was used. Never sent to a provider. */
export interface AskedFor {
  /** The model by the name that the caller wrote, with its variant. */
  readonly model: string
  /** The caller's own words about where the call belongs. */
  readonly trace: Readonly<Record<string, unknown>> | null
  /** The call was to be served under zero data retention only. */
  readonly isZdr: boolean
}

/** An image or a document that a request names by address; `field` is its path as the caller wrote it. */
export interface MediaAddress {
  url: string
  kind: 'image' | 'file'
  field: string
}

/** Files that the gateway fetched for providers that accept no addresses, or not this kind. */
export interface FetchedMedia {
  /** The URLs that at least one provider of the call does not take. */
  addresses: readonly MediaAddress[]
  /** Why one of them could not be fetched, by its URL. */
  failures: ReadonlyMap<string, Error>
  /** The request with the bytes in place of the fetched URLs. */
  document: JsonDocument
}

/** Chat completions or embeddings. */
export interface TextCall extends CallBase {
  kind: 'text'
  format: TextFormat
  stream: boolean
  document: JsonDocument
  /** Absent when nothing had to be fetched. */
  fetched?: FetchedMedia
  /** Why the call must not go to a guarded deployment, by address; absent for nearly all calls. */
  refusedAddresses?: readonly { url: string; error: unknown }[]
  /** JSON of members that most upstreams need and the caller left out; empty for nearly all calls. */
  completed?: Readonly<Record<string, string>> | null
  /** The caller wants to see the request to the provider, and times of its answer. Chat completions and responses only. */
  debug?: true
  /**
   * Whether the request has nothing but texts by system, user and assistant, and common settings: no media, tools,
   * addresses or names, and nothing that a host must not be sent. Absent when it has more, or when that was not checked.
   */
  isPlain?: true
  /** Whether messages have only members that hosts of their format know; absent when that was not checked. */
  hasKnownMembers?: boolean
  /**
   * How much of the model's thoughts the answer must hide: all of them, or only their words. Absent when all may be shown.
   * It never makes a model think.
   */
  hiddenThoughts?: 'all' | 'words'
  /** Interfaces of Anthropic that the caller asks for by name, as it listed them; only messages carry them. */
  betas?: string
  /** True when the caller wants floats or base64 that the upstream may not give; embeddings only. */
  encodingFormat: 'float' | 'base64' | null
}

/** Audio to transcribe: bytes that can be opened again for every attempt, so that a fallback loses nothing. */
export interface AudioSource {
  /** Short format name such as `wav`, taken from the request, the file name or the bytes. */
  format: string
  fileName: string
  contentType: string
  sizeBytes: number
  open(): ReadableStream<Uint8Array>
}

/** A transcription that is asked for. Times in milliseconds, the temperature as sent. */
export interface TranscriptionCall extends CallBase {
  kind: 'transcription'
  audio: AudioSource
  /** The length of the audio from its container; null when unknown, and `demand` then has a bound instead. */
  measuredMilliseconds: number | null
  language: string | null
  temperature: number | null
  responseFormat: 'json' | 'verbose_json'
  granularities: readonly ('word' | 'segment')[]
  diarize: boolean
  keyterms: readonly string[]
  /** Whether the caller gets the text in pieces, if the provider streams it; absent for a whole answer. */
  stream?: true
}

/** A voice or a picture to speak like; either its data or its address is set. */
export interface SpeechReference {
  type: 'audio' | 'image'
  /** A clip's bytes, in pieces of less than a megabyte; null when `url` is set. */
  data: readonly Uint8Array[] | null
  url: string | null
  format: string | null
  transcript: string | null
}

/** Speech that is asked for. `speed` 1 is the voice's own. */
export interface SpeechCall extends CallBase {
  kind: 'speech'
  input: string
  voice: string | null
  responseFormat: 'mp3' | 'pcm'
  /** Whether the samples are sent as a WAV file. */
  isWav: boolean
  /** A format that the provider itself must make, in place of `responseFormat`; absent for nearly all calls. */
  passedFormat?: PassedFormat
  speed: number
  references: readonly SpeechReference[]
}

/** A caller's request, decoded only as far as routing, holding and billing need. */
export type Call = TextCall | TranscriptionCall | SpeechCall
