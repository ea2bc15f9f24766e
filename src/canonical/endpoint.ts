import type { Modality } from './operation.ts'
import type { Price } from './usage.ts'

/** Where a request carries its credential, as data; transport puts it there. */
export type AuthScheme =
  /** In the header of this lower-case name, after the prefix with its space: `{ name: 'authorization', prefix: 'Bearer ' }`. */
  | { type: 'header'; name: string; prefix: string }
  /** In the query parameter of this name. Like any secret it is never shown, not even as part of a URL. */
  | { type: 'query'; name: string }

/** Keys with which transport signs each request as Amazon's Signature Version 4 has it. */
export interface SigningKeys {
  type: 'signature'
  accessKeyId: string
  secret: string
  /** Goes with keys that are valid for a while; null for others. */
  sessionToken: string | null
  service: string
  region: string
}

/** How a request authenticates at a moment; `none` when it has no credential. */
export type Login = (AuthScheme & { secret: string }) | SigningKeys | { type: 'none' }

/** A login that changes: tokens and keys that are valid for a while, and are fetched anew before they end. */
export interface Identity {
  readonly type: 'identity'
  /**
   * The login that is valid now; a promise only while the first one is being fetched. Throws, or rejects with,
   * `provider_failed` and the fault of a credential when there is none.
   */
  login(): Login | Promise<Login>
  /** Another login in the place of one that the provider has refused, fetched at most once a minute; null where there is none. */
  instead(refused: Login): Promise<Login | null>
  /** The login that `login` gave last, for its secrets; `none` before. */
  readonly last: Login
}

/** How requests of one deployment authenticate. */
export type UpstreamAuth = Login | Identity

/** The operator's additions to every request of a deployment. Any value may be a secret: none is ever shown. */
export interface RequestAdditions {
  /** By lower-case name; they replace headers that the gateway itself would send. */
  headers: Readonly<Record<string, string>>
  query: Readonly<Record<string, string>>
}

/**
 * A provider with one credential of the operator's, base URL, region, weight and limits. Health, cool-down and limits are kept per
 * deployment, because two keys of one provider fail separately.
 */
export interface Deployment {
  /** Stable name, unique in the configuration, such as `openai` or `openai-eu`. */
  id: string
  /** Slug of the preset whose adapters it uses. */
  preset: string
  /**
   * The provider's slug, by which callers select it and by which batches, usage and reports name it. It is the preset's
   * slug; a custom server has its own id instead, because custom servers have only their format in common.
   */
  provider: string
  /** What callers see in the `provider` field. */
  providerName: string
  /** Without a trailing slash. Never shown to callers. */
  baseUrl: string
  /** As in its targets. */
  client?: 'fetch' | undefined
  /**
   * Set when a caller's own provider login may be passed on; has the headers that go with it. Only the provider's
   * official host gets a login, and only when the operator allows it.
   */
  callerLogins?: { headers: Readonly<Record<string, string>> }
  /**
   * Whether its server is, or may be, in the operator's own network. Such a server gets no URL that a caller could not
   * fetch from outside.
   */
  isGuarded?: true
  /** The operator's statement that this custom server accepts prompt cache marks; nothing else can tell. */
  takesCacheMarks?: true
  /** The operator's statement of the member by which this server limits output; absent without one. Chat completions only. */
  maxTokensField?: 'max_tokens' | 'max_completion_tokens'
  /** The operator's statements about its batch service; absent without any. */
  batches?: BatchSettings
  region: string | null
  /** Relative share among equals, above 0; 1 by default. */
  weight: number
  /** Most calls at once to this deployment; null leaves it to adaptation. */
  concurrencyMax: number | null
  /** What the provider allows to it, by the operator's word; absent where no quota is set. */
  quota?: Quota
}

/** What a provider allows a minute; null for what has no limit. */
export interface Quota {
  requestsPerMinute: number | null
  tokensPerMinute: number | null
}

/** What the operator states of a deployment's batch service. What is left out is as its preset has it. */
export interface BatchSettings {
  /**
   * The provider's name of each operation, by the gateway's own, such as `/v1/chat/completions`; null for one that its
   * batches do not run.
   */
  endpoints?: Readonly<Record<string, string | null>> | undefined
  /** The most items of a job, bytes of its lines, and texts to embed in them. */
  items?: number | undefined
  bytes?: number | undefined
  texts?: number | undefined
  /** The least wait between two looks at a job. */
  look_seconds?: number | undefined
}

/** What an endpoint's provider does with the data of calls; unknown counts as "stores and trains". */
export interface DataPolicy {
  zdr: boolean
  trains: boolean
  stores: boolean
}

/** The key terms that a provider accepts. A bound that is null is unknown, and not checked. */
export interface KeytermRules {
  /** Most terms of one call. */
  countMax: number | null
  /** Most code points of one term. */
  charactersMax: number | null
  /** The most words of one term; words are separated by spaces. */
  wordsMax: number | null
  /**
   * The most tokens of all terms together, as the provider counts them. The gateway cannot count its tokens, but a word has
   * at least one. So terms with more words than this are refused here, and in a close case the provider refuses.
   */
  tokensMax: number | null
  /** Characters that no term may contain; empty where all may. */
  forbidden: string
}

/** Any terms at all, as far as is known. */
export const unboundedKeyterms: KeytermRules = Object.freeze({
  countMax: null,
  charactersMax: null,
  wordsMax: null,
  tokensMax: null,
  forbidden: '',
})

/** Formats of speech that the gateway does not make: Opus in Ogg, AAC with ADTS headers, FLAC. */
export const passedFormats = ['opus', 'aac', 'flac'] as const
/** One of them. */
export type PassedFormat = (typeof passedFormats)[number]

/** What a speech or transcription endpoint can do beyond the basics. */
export interface AudioCapabilities {
  /** Whether it tells segments or words with their times, of which `verbose_json` is made. */
  verboseJson: boolean
  /** Whether it tells the time of every word. */
  wordTimes: boolean
  /** Whether it reports the speaker of every word when `diarize` is set. */
  diarize: boolean
  /**
   * Whether it reports the speaker of every segment but of no word: `diarize` is refused, and `verbose_json` shows the
   * speakers.
   */
  segmentSpeakers: boolean
  /** Null when it takes no key terms. */
  keyterms: KeytermRules | null
  /** Whether it finds entities, such as names and places, when the provider's own options ask for them. */
  entities: boolean
  /** Whether it fetches audio from an address itself; else the gateway fetches it. */
  url: boolean
  /**
   * Short names of the formats that it transcribes; null when they are unknown, and any format is then sent. Without
   * `pcm` among them, headerless samples are sent as a WAV file.
   */
  uploadFormats: readonly string[] | null
  /** The largest audio that it takes; null when no bound is known. */
  uploadBytesMax: number | null
  /** The longest audio that it transcribes; null when no bound is known. */
  audioMillisecondsMax: number | null
  /**
   * The languages that it accepts, in the provider's own spelling: mostly two-letter codes, but also `cmn` or `jw`.
   * Null when they are unknown.
   */
  languages: readonly string[] | null
  /** The factors of the usual speed that it takes; null when it has no such member. */
  speed: { min: number; max: number } | null
  /** What it makes itself; the gateway makes mp3 of samples. */
  speechFormats: readonly ('mp3' | 'pcm')[]
  /** Further formats of the provider, which are passed through unchanged; absent when there are none. */
  passedFormats?: readonly PassedFormat[]
  /** The longest text that it speaks; null when no bound is known. */
  inputCharactersMax: number | null
  /** Whether it speaks with the voice of reference clips. */
  voiceCloning: boolean
  /** Whether it takes more than one of them. */
  multipleReferences: boolean
  /** Whether each reference must have its transcript. */
  referenceTranscripts: boolean
  /** Whether a reference may be a picture. */
  imageReference: boolean
  /** The voice of calls that name none; null where a call must name one, or the provider chooses. */
  defaultVoice: string | null
  /** Whether it chooses a voice itself when none is requested; `defaultVoice` is then null. */
  isVoiceOptional: boolean
  /** The voices that exist, in its own spelling; null when it does not list them, and any is then sent. */
  voices: readonly string[] | null
  /**
   * The beginning of the ids of voices that an account has created, which exist besides `voices`. Empty: such ids may
   * be anything. Absent: there are no such voices.
   */
  ownVoicePrefix?: string
}

/** Whether the voice is one that an account has created. */
export function isOwnVoice(
  voice: string,
  { ownVoicePrefix }: Pick<AudioCapabilities, 'ownVoicePrefix'>,
): boolean {
  return ownVoicePrefix !== undefined && voice.startsWith(ownVoicePrefix)
}

/**
 * The voice's name at the endpoint, in the spelling of its list, whatever the caller's case; or a voice that an account
 * has created. Null when the endpoint has no such voice.
 */
export function voiceAt(
  voice: string,
  audio: Pick<AudioCapabilities, 'voices' | 'ownVoicePrefix'>,
): string | null {
  const { voices } = audio
  if (voices === null || voices.includes(voice)) return voice
  const lower = voice.toLowerCase()
  const listed = voices.find((known) => known.toLowerCase() === lower)
  return listed ?? (isOwnVoice(voice, audio) ? voice : null)
}

/** The price of calls with a long input; the whole call is billed at it. */
export interface LongPrice {
  /** The number of input tokens, cached ones included, above which it applies. */
  inputTokensAbove: number
  price: Price
}

/** One model on one deployment. Immutable; live health is kept by routing. */
export interface Endpoint {
  /** `<deployment id>/<upstream model>`, unique. */
  id: string
  deployment: Deployment
  /** The public model id, `author/slug`, without variant. */
  model: string
  /** The name the upstream knows. */
  upstreamModel: string
  /** The provider's name of the model, where `upstreamModel` is an address that tells none, such as a profile's. */
  knownAs?: string
  modality: Modality
  /** What the provider allows to this model, in the place of its deployment's quota; absent where none is set. */
  quota?: Quota
  price: Price
  /** By rising bound; empty for nearly all. */
  longPrices: readonly LongPrice[]
  /**
   * The prices of calls at other service tiers, by tier; absent for nearly all endpoints.
   */
  tierPrices?: Readonly<Record<string, Price>>
  /** By tier, its prices of calls with a long input; absent where a tier's price applies to prompts of every length. */
  tierLongPrices?: Readonly<Record<string, readonly LongPrice[]>>
  /** True when a price is stated, even a price of zero; false when a unit in use may have none. */
  isPriced: boolean
  contextLength: number | null
  outputTokensMax: number | null
  /**
   * The limit that the gateway itself states to the provider where neither the caller nor the endpoint has one, because the
   * format requires one; absent where it states none. It is held for such a call.
   */
  outputTokensStated?: number
  /**
   * Contract names of the parameters that the endpoint honours, for chat completions and embeddings. Null for audio, where
   * routing checks each capability by itself.
   */
  parameters: ReadonlySet<string> | null
  inputModalities: readonly string[]
  outputModalities: readonly string[]
  dataPolicy: DataPolicy
  /** Whether the model is known to think before it answers, even when the amount cannot be set. */
  reasons: boolean
  /**
   * Whether it searches without being asked; the results become part of its prompt. Absent for nearly all endpoints.
   */
  searches?: true
  /** Interfaces that the provider lists for the model, in its own words; absent where it lists none. */
  interfaces?: readonly string[]
  quantization: string | null
  /** The day on which the provider shuts the model down, `YYYY-MM-DD`; absent where no list has one. */
  expirationDate?: string
  batch: 'native' | 'emulated' | 'none'
  /** The name that its provider's batch service knows, where that is another one; absent for nearly all endpoints. */
  batchUpstream?: string
  audio: AudioCapabilities | null
}

/** Percentiles: the value below which this percentage of the values lies. */
export interface Percentiles {
  p50: number
  p75: number
  p90: number
  p99: number
}

/** An endpoint's performance in this process; null when there were no calls. */
export interface EndpointFigures {
  /** Milliseconds to the first byte of output, of the last half hour. */
  latencyMs: Percentiles | null
  /** Output tokens a second, of the last half hour. */
  throughput: Percentiles | null
  /** Percent of the calls that were answered, by the length of the window. */
  uptime5m: number | null
  uptime30m: number | null
  uptime1d: number | null
}

export const unknownFigures: EndpointFigures = Object.freeze({
  latencyMs: null,
  throughput: null,
  uptime5m: null,
  uptime30m: null,
  uptime1d: null,
})

/** A model as the catalog shows it: the union of its endpoints, and the facts of price sources. */
export interface Model {
  id: string
  name: string
  /** Unix seconds when it was first offered, 0 when unknown. */
  created: number
  description: string | null
  modality: Modality
  endpoints: readonly Endpoint[]
}

/** The endpoint's price for a call with this many input tokens at this service tier; null means the usual tier. */
export function priceAt(endpoint: PricedEndpoint, inputTokens: number, tier: string | null = null): Price {
  const { price, longPrices } = pricesAt(endpoint, tier)
  let reached = price
  for (const long of longPrices) if (inputTokens > long.inputTokensAbove) reached = long.price
  return reached
}

/** The prices of an endpoint. */
type PricedEndpoint = Pick<Endpoint, 'price' | 'longPrices' | 'tierPrices' | 'tierLongPrices'>

const noLongPrices: readonly LongPrice[] = []

function pricesAt(endpoint: PricedEndpoint, tier: string | null): Pick<Endpoint, 'price' | 'longPrices'> {
  const { tierPrices, tierLongPrices } = endpoint
  if (tier === null || tierPrices === undefined || !Object.hasOwn(tierPrices, tier)) return endpoint
  return { price: tierPrices[tier] ?? endpoint.price, longPrices: tierLongPrices?.[tier] ?? noLongPrices }
}

/** The endpoint with the prices of one service tier as its only ones; unchanged where the tier has no price of its own. */
export function atTier(endpoint: Endpoint, tier: string): Endpoint {
  if (endpoint.tierPrices === undefined || !Object.hasOwn(endpoint.tierPrices, tier)) return endpoint
  const { tierPrices: _tiers, tierLongPrices: _longs, ...rest } = endpoint
  return { ...rest, ...pricesAt(endpoint, tier) }
}

/** The provider's name of the model, by which its form, abilities and prices are known. */
export function knownNameOf({ knownAs, upstreamModel }: Pick<Endpoint, 'knownAs' | 'upstreamModel'>): string {
  return knownAs ?? upstreamModel
}
