/**
 * What one call consumed, in the units that prices name. All values are whole, never negative, and zero when the unit
 * does not apply. Totals include their parts: cached and written input is part of the input, what is written
 * for an hour of what is written, and reasoning of the output, as chat completions counts them; formats that count otherwise
 * are converted when read.
 */
export interface Usage {
  inputTokens: number
  cachedInputTokens: number
  cacheWriteTokens: number
  /** Those of the written ones that the provider keeps for an hour; its usual time is five minutes. */
  cacheWriteHourTokens: number
  inputAudioTokens: number
  outputTokens: number
  reasoningTokens: number
  outputAudioTokens: number
  /** Length of the audio transcribed, or of the speech made where its length is known. */
  audioMilliseconds: number
  /** Channels of that audio; 0 where it has none or nobody knows. */
  audioChannels: number
  /** Unicode code points synthesized. */
  characters: number
  /** The same text in bytes of UTF-8: what some sellers of speech count. */
  utf8Bytes: number
}

/** How far a usage may be trusted: `provider` reported it; `estimated` was bounded by us because it was missing or absurd. */
export type UsageSource = 'provider' | 'estimated'

/** A unit that a price can be set for. `request` is a fixed fee per call. */
export const priceUnits = [
  'inputToken',
  'cachedInputToken',
  'cacheWriteToken',
  'cacheWriteHourToken',
  'inputAudioToken',
  'outputToken',
  'outputAudioToken',
  'audioHour',
  'diarizedHour',
  'keytermHour',
  'entityHour',
  'editHour',
  'roleHour',
  'character',
  'utf8Byte',
  'request',
] as const
/**
 * Something that is priced by the million. The hours of `diarizedHour`, `keytermHour`, `entityHour`, `editHour` and `roleHour`
 * are hours of the same audio, and cost this besides where the call asked for the feature.
 */
export type PriceUnit = (typeof priceUnits)[number]

/** What a caller may ask of a transcription that some sellers charge for besides the audio. */
export const surchargedFeatures = [
  'diarize',
  'keyterms',
  'entities',
  'transcript_edit',
  'speaker_roles',
] as const
/**
 * One of them: speakers told apart, terms to listen for, entities found in the text, the transcript edited by an instruction,
 * and roles instead of numbers for the speakers.
 */
export type SurchargedFeature = (typeof surchargedFeatures)[number]

/** What a call asks for that decides its price: the features with a surcharge, and each channel transcribed apart. */
export const audioFeatures = [...surchargedFeatures, 'channels'] as const
/** One of them. */
export type AudioFeature = (typeof audioFeatures)[number]

/** How the seller of audio by time counts the time of one call, in whole milliseconds; what is absent, 0 or false changes nothing. */
export interface TimeRules {
  /** A call is billed for at least this long. */
  readonly minimumMilliseconds?: number
  /** A call is billed in whole steps of this length; a step that has begun counts. */
  readonly roundToMilliseconds?: number
  /** Every channel is billed as if it were all of the audio; `when_asked`: only where the call asks for each channel apart. */
  readonly isPerChannel?: boolean | 'when_asked'
}

/** What a call that asked for a feature costs besides, in millionths of what its audio costs. 0 undoes what is known otherwise. */
export interface SurchargeShares {
  readonly diarizeMillionths?: number
  readonly keytermsMillionths?: number
  readonly entitiesMillionths?: number
  readonly transcriptEditMillionths?: number
  readonly speakerRolesMillionths?: number
}

/** Nanocredits per million units. A unit without an entry has no known price, which is not the same as a price of 0n. */
export type Price = Readonly<Partial<Record<PriceUnit, bigint>>> &
  TimeRules &
  SurchargeShares & {
    /** Features that are charged for besides, by an amount that nobody has told unless a unit or a share states it. */
    readonly surcharged?: readonly SurchargedFeature[]
    /** Milliseconds that a call which asked for the feature is billed for at least. */
    readonly featureMinimums?: Readonly<Partial<Record<SurchargedFeature, number>>>
  }

/** A price of zero for every unit, stated and not forgotten: for servers that somebody runs himself, and for what is given. */
export const freePrice: Price = Object.freeze({
  inputToken: 0n,
  cachedInputToken: 0n,
  cacheWriteToken: 0n,
  cacheWriteHourToken: 0n,
  inputAudioToken: 0n,
  outputToken: 0n,
  outputAudioToken: 0n,
  audioHour: 0n,
  diarizedHour: 0n,
  keytermHour: 0n,
  entityHour: 0n,
  editHour: 0n,
  roleHour: 0n,
  character: 0n,
  utf8Byte: 0n,
  request: 0n,
} satisfies Record<PriceUnit, bigint>)

export const noUsage: Usage = Object.freeze({
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  cacheWriteHourTokens: 0,
  inputAudioTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  outputAudioTokens: 0,
  audioMilliseconds: 0,
  audioChannels: 0,
  characters: 0,
  utf8Bytes: 0,
})

/** What a call may consume at the most, as known before it is made; the base of the hold. */
export interface Demand {
  /** Estimated prompt tokens; 0 for audio. */
  inputTokens: number
  /** Those of them that are of audio in a conversation; absent when there is none. */
  audioInputTokens?: number
  /**
   * The prompt has what the request's bytes do not tell the length of: documents, files by id, addresses that the provider
   * fetches, or what it searches for and its own tools find. Such a prompt may fill the context, more than once where the
   * provider asks the model again; without it a provider that counts more input than was sent is not believed.
   */
  hasUncountedInput?: true
  /** Bytes of the request; absent for audio. A token of text is a byte at least. */
  inputBytes?: number
  /** Pictures that were sent with the request, of which a few bytes may be many tokens; absent when there are none. */
  images?: number
  /** The caller's output limit, or null when none was given and the endpoint's own limit applies. */
  outputTokensMax: number | null
  /** How many answers were asked for (`n`), at least 1. */
  choices: number
  /** Length of the audio to transcribe, 0 when none, null when unknown before the call. */
  audioMilliseconds: number | null
  /** Channels of that audio; absent when unknown before the call, or none. */
  audioChannels?: number
  /** What is asked for that may be charged for besides the audio; absent when nothing is. */
  audioFeatures?: readonly AudioFeature[]
  /** By feature, the slugs of the providers whose own options ask for it; absent when there are none. */
  askedAt?: Readonly<Partial<Record<AudioFeature, readonly string[]>>>
  /** Code points to synthesize; 0 when none. */
  characters: number
  /** Bytes of UTF-8 to synthesize; absent when none. */
  utf8Bytes?: number
}
