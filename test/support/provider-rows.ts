import type { SpeechBilled, SpeechOutput } from '../../src/canonical/audio.ts'
import type { ErrorType } from '../../src/core/errors.ts'
import type { RecordedTranscript } from '../recordings/transcripts.ts'
import type { Transcriber } from './transcribers.ts'

/**
 * What a provider's own folder gives to the tests that all providers share, as `rows` of `rows.case.ts`: written by hand after
 * the provider's documents. A kind that is absent is one that the provider has nothing to say to.
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
  /** Why the provider has no SDK whose requests could be compared; see `sdk.case.ts` for those that have one. */
  withoutSdk?: string
}

/** Where a call of a caller's format goes, and through which of the provider's interfaces. */
export interface ReachedAddress {
  asked: 'messages' | 'responses'
  through: 'chat' | 'messages' | 'responses'
  address: string
  /** Those that carry the key; absent for a bearer. */
  headers?: Readonly<Record<string, string>>
}

/** What follows from a refusal: tried again at the same endpoint, at another one, and whether the key is to blame. */
export type Consequence = 'again' | 'elsewhere' | 'caller' | 'key'

/** A refusal of a text call, with secrets that are nobody's. */
export interface Refusal {
  status: number
  body: unknown
  headers?: Record<string, string>
  type: ErrorType
  /** Of our answer. */
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

/** An error as OpenAI writes it, and many after it. */
export const envelope = (message: string, members: Record<string, unknown> = {}) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null, ...members },
})

/** The languages of a model, from the provider's own client or its documents. */
export interface KnownLanguages {
  model: string
  /** In the provider's own words. */
  languages: readonly string[]
  /** Codes of two letters that it has no word for. */
  unknown: readonly string[]
}

/** What Whisper hears, as most of its hosts list it. */
export const whisperLanguages = (
  'af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr ht hu hy id is it ja ka ' +
  'kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt ro ru sa sd si sk sl sn so sq sr su sv ' +
  'sw ta te tg th tk tl tr tt uk ur uz vi yi yo zh'
).split(' ')

/** A provider of speech as the simulator plays it. */
export interface SpeechProvider {
  preset: string
  /** Where its API is below the simulator's mount. */
  below: string
  model: string
  /** Absent where the voice is in the model's name or need not be given. */
  voice?: string
  /** A voice that it does not have, the status that the caller gets, and the field's name unless nothing tells it. */
  missing?: { voice: string; status: number; param?: null }
  /** A speed that it has, and one beyond; absent where it has none. */
  speeds?: { within: number; beyond: number }
  /** How many clips it can speak like; absent where none. */
  clips?: 1 | 3
  /** What the caller gets for its 503, where that is not 529. */
  busy?: number
  /** Characters billed of a text of a hundred, by what it says; absent where it says nothing. */
  billed?: number
}

/** What the provider is asked, member by member, for a speech call with these fields beside a model and the text "Hello". */
export interface SpeechAsked {
  model: string
  fields: Record<string, unknown>
  path: string
  body: Record<string, unknown>
}

/** A reply of a provider of speech; `audio/mpeg` where it names no type. */
export interface SpeechReply {
  contentType?: string
  headers?: Record<string, string>
  body: string
}

/** A reply whose sound is `sound`, what the sound is, and what was billed. */
export interface SpeechReplied {
  name: string
  reply: SpeechReply
  output: SpeechOutput
  billed: SpeechBilled | null
}

/** A failure in a reply with a status of success. */
export interface SpeechFailed {
  name: string
  reply: SpeechReply
  type: ErrorType
  param?: string
  /** The gateway's credential is at fault. */
  fault?: boolean
}

/** The sound of every reply, and how providers write it. */
export const sound = 'four'
export const base64 = Buffer.from(sound).toString('base64')
export const hex = Buffer.from(sound).toString('hex')
/** Samples as the gateway asks for them. */
export const samples = { container: 'pcm', encoding: 's16le', rate: 24_000, channels: 1 } as const
/** A server-sent event, and a line of JSON. */
export const event = (fields: unknown) => `data: ${JSON.stringify(fields)}\n\n`
export const line = (fields: unknown) => `${JSON.stringify(fields)}\n`
