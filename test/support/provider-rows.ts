import type { SpeechBilled, SpeechOutput } from '../../src/canonical/audio.ts'
import type { ErrorType } from '../../src/core/errors.ts'
import type { RecordedTranscript } from '../recordings/transcripts.ts'
import type { Transcriber } from './transcribers.ts'

/**
 * The data of one provider for the tests that all providers share, as `rows` in its `rows.case.ts`: written by hand
 * from the provider's documentation. A kind that does not apply to the provider is absent.
 */
export interface ProviderRows {
  addresses?: readonly ReachedAddress[]
  refusals?: readonly Refusal[]
  transcribers?: readonly Omit<Transcriber, 'preset'>[]
  transcripts?: readonly Omit<RecordedTranscript, 'preset'>[]
  languages?: readonly KnownLanguages[]
  speech?: readonly Omit<SpeechProvider, 'preset'>[]
  speechRequests?: readonly SpeechAsked[]
  speechReplies?: readonly SpeechReplied[]
  speechFailures?: readonly SpeechFailed[]
  /** Sound that ends before its last event. */
  speechCutOff?: readonly { reply: SpeechReply }[]
  /** Why the provider has no SDK whose requests could be compared; `sdk.case.ts` is for providers that have one. */
  withoutSdk?: string
}

/** The URL of a call in a caller's format, and the interface it uses. */
export interface ReachedAddress {
  asked: 'messages' | 'responses'
  through: 'chat' | 'messages' | 'responses'
  address: string
  /** The headers with the key; absent for a bearer. */
  headers?: Readonly<Record<string, string>>
}

/** The consequence of a refusal: retry at the same endpoint, at another one, fail to the caller, or blame the key. */
export type Consequence = 'again' | 'elsewhere' | 'caller' | 'key'

/** A refusal of a text call, with invented secrets. */
export interface Refusal {
  status: number
  body: unknown
  headers?: Record<string, string>
  type: ErrorType
  /** The status of the gateway's answer. */
  ours: number
  next: Consequence
  retryAfterMs?: number
}

export const badKey = { type: 'provider_failed', ours: 502, next: 'key' } as const
export const noMoney = { type: 'provider_failed', ours: 502, next: 'key' } as const
export const tooLong = { type: 'context_length_exceeded', ours: 400, next: 'elsewhere' } as const
export const limited = { type: 'upstream_rate_limited', ours: 429, next: 'again' } as const
export const overloaded = { type: 'provider_overloaded', ours: 529, next: 'again' } as const
export const failed = { type: 'provider_failed', ours: 502, next: 'again' } as const
export const faulty = { type: 'invalid_request', ours: 400, next: 'caller' } as const

/** An error in OpenAI's form, which many providers follow. */
export const envelope = (message: string, members: Record<string, unknown> = {}) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null, ...members },
})

/** The languages of a model, from the provider's own client or its documents. */
export interface KnownLanguages {
  model: string
  /** In the provider's own spelling. */
  languages: readonly string[]
  /** Two-letter codes that it does not support. */
  unknown: readonly string[]
}

/** Whisper's languages, as most of its hosts list them. */
export const whisperLanguages = (
  'af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr ht hu hy id is it ja ka ' +
  'kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt ro ru sa sd si sk sl sn so sq sr su sv ' +
  'sw ta te tg th tk tl tr tt uk ur uz vi yi yo zh'
).split(' ')

/** A speech provider, as the simulator plays it. */
export interface SpeechProvider {
  preset: string
  /** The path of its API below the simulator's mount. */
  below: string
  model: string
  /** Absent when the voice is in the model's name or optional. */
  voice?: string
  /** An unknown voice, the status for the caller, and the field's name (null when the provider does not name it). */
  missing?: { voice: string; status: number; param?: null }
  /** A supported speed and an unsupported one; absent when it has no speed. */
  speeds?: { within: number; beyond: number }
  /** The most reference clips; absent when it takes none. */
  clips?: 1 | 3
  /** The caller's status for the provider's 503, when it is not 529. */
  busy?: number
  /** The characters that it bills for a text of a hundred; absent when it reports none. */
  billed?: number
}

/**
 * The provider's request, member by member, for a speech call with these fields besides a model and the text "Hello".
 */
export interface SpeechAsked {
  model: string
  fields: Record<string, unknown>
  path: string
  body: Record<string, unknown>
}

/** A speech provider's reply; `audio/mpeg` when it states no type. */
export interface SpeechReply {
  contentType?: string
  headers?: Record<string, string>
  body: string
}

/** A reply whose sound is `sound`, with its format and the billed amount. */
export interface SpeechReplied {
  name: string
  reply: SpeechReply
  output: SpeechOutput
  billed: SpeechBilled | null
}

/** A failure in a reply with a success status. */
export interface SpeechFailed {
  name: string
  reply: SpeechReply
  type: ErrorType
  param?: string
  /** Whether the gateway's credential is at fault. */
  fault?: boolean
}

/** The sound of every reply, and its encodings by providers. */
export const sound = 'four'
export const base64 = Buffer.from(sound).toString('base64')
export const hex = Buffer.from(sound).toString('hex')
/** Samples as the gateway asks for them. */
export const samples = { container: 'pcm', encoding: 's16le', rate: 24_000, channels: 1 } as const
/** A server-sent event, and a line of JSON. */
export const event = (fields: unknown) => `data: ${JSON.stringify(fields)}\n\n`
export const line = (fields: unknown) => `${JSON.stringify(fields)}\n`
