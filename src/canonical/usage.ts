/**
 * What one call consumed, in the units that prices name. All values are whole, never negative, and zero when the unit
 * does not apply. Totals include their parts, as in chat completions: cached and written input is part of the input, input
 * written for an hour is part of the written input, and reasoning is part of the output. Formats that count differently are
 * converted when read.
 */
export interface Usage {
  inputTokens: number
  cachedInputTokens: number
  cacheWriteTokens: number
  /** The written tokens that the provider keeps for an hour; its usual time is five minutes. */
  cacheWriteHourTokens: number
  inputAudioTokens: number
  outputTokens: number
  reasoningTokens: number
  outputAudioTokens: number
  /** The length of the transcribed audio, or of the generated speech when it is known. */
  audioMilliseconds: number
  /** Channels of that audio; 0 when there is none or the number is unknown. */
  audioChannels: number
  /** Unicode code points synthesized. */
  characters: number
  /** The same text in bytes of UTF-8, which some speech providers bill. */
  utf8Bytes: number
  /** Searches of up to a hundred documents each, the unit of some reranking providers. */
  searchUnits: number
}

/** The source of a usage. `provider`: it was reported. `estimated`: the report was missing or absurd, so the gateway estimated it. */
export type UsageSource = 'provider' | 'estimated'

/** The words for a unit that can have a price, and how its price is shown. */
export interface PriceUnitRow {
  /** The unit in the plural. */
  words: string
  /** The thing that the price is for. */
  priced: string
  /** The count of a usage that this unit prices, unless it is tokens or time. */
  prices?: keyof Usage
  /** The name of its price in the catalog, when the contract's `pricing` has no member for it. */
  shownAs?: `per_${string}_unit`
  /** Whether its price is shown for one unit instead of a million. */
  isToldForOne?: true
}

/**
 * Every unit that can have a price, per million. `request` is a fixed fee per call. The hours of `diarizedHour`,
 * `keytermHour`, `entityHour`, `editHour` and `roleHour` are hours of the same audio, charged in addition when the call
 * asked for the feature.
 */
const unitRows = {
  inputToken: { words: 'input tokens', priced: 'input' },
  cachedInputToken: { words: 'cached input tokens', priced: 'cached input' },
  cacheWriteToken: { words: 'cache writes', priced: 'cache write' },
  cacheWriteHourToken: { words: 'cache writes for an hour', priced: 'cache write for an hour' },
  inputAudioToken: { words: 'input audio tokens', priced: 'input audio' },
  outputToken: { words: 'output tokens', priced: 'output' },
  outputAudioToken: { words: 'output audio tokens', priced: 'output audio' },
  audioHour: { words: 'audio time', priced: 'an hour of audio', isToldForOne: true },
  diarizedHour: {
    words: 'telling speakers apart',
    priced: 'an hour of audio with speakers, besides',
    isToldForOne: true,
  },
  keytermHour: { words: 'key terms', priced: 'an hour of audio with key terms, besides', isToldForOne: true },
  entityHour: { words: 'entities', priced: 'an hour of audio with entities, besides', isToldForOne: true },
  editHour: {
    words: 'editing the transcript',
    priced: 'an hour of audio with an edited transcript, besides',
    isToldForOne: true,
  },
  roleHour: {
    words: 'speaker roles',
    priced: 'an hour of audio with roles of speakers, besides',
    isToldForOne: true,
  },
  character: { words: 'characters', priced: 'characters', prices: 'characters' },
  utf8Byte: { words: 'bytes of text', priced: 'bytes of text', prices: 'utf8Bytes' },
  searchUnit: {
    words: 'search units',
    priced: 'a search unit',
    prices: 'searchUnits',
    shownAs: 'per_search_unit',
    isToldForOne: true,
  },
  request: { words: 'requests', priced: 'a request', isToldForOne: true },
} as const satisfies Record<string, PriceUnitRow>

/** A unit that is priced by the million. */
export type PriceUnit = keyof typeof unitRows

/** The row of each unit. */
export const priceUnitRows: Readonly<Record<PriceUnit, PriceUnitRow>> = unitRows

/** The units in the order of their rows. */
export const priceUnits = Object.keys(unitRows) as readonly PriceUnit[]

/** Units other than tokens and time, with the counts that they price. */
export const countedUnits = priceUnits.flatMap((unit) => {
  const { prices: count } = priceUnitRows[unit]
  return count === undefined ? [] : [{ unit, count }]
})

/** A price as people write it: its unit, the factor to the price of a million, and a note for readers. */
export interface WrittenPriceRow {
  unit: PriceUnit
  factor: bigint
  description?: string
}

const written = {
  input_per_million: { unit: 'inputToken', factor: 1n },
  cached_input_per_million: { unit: 'cachedInputToken', factor: 1n },
  cache_write_per_million: { unit: 'cacheWriteToken', factor: 1n },
  cache_write_hour_per_million: {
    unit: 'cacheWriteHourToken',
    factor: 1n,
    description:
      'Input that the provider keeps for an hour; left out, it costs what other cache writes do, at Anthropic 1.6 times that',
  },
  output_per_million: { unit: 'outputToken', factor: 1n },
  input_audio_per_million: { unit: 'inputAudioToken', factor: 1n },
  output_audio_per_million: { unit: 'outputAudioToken', factor: 1n },
  audio_per_second: { unit: 'audioHour', factor: 3_600n * 1_000_000n },
  audio_per_minute: { unit: 'audioHour', factor: 60n * 1_000_000n },
  audio_per_hour: { unit: 'audioHour', factor: 1_000_000n },
  characters_per_million: {
    unit: 'character',
    factor: 1n,
    description: 'Text that is spoken, by Unicode code points',
  },
  utf8_bytes_per_million: {
    unit: 'utf8Byte',
    factor: 1n,
    description: 'Text that is spoken, by its bytes in UTF-8, where the provider counts those',
  },
  search_units_per_thousand: {
    unit: 'searchUnit',
    factor: 1_000n,
    description: 'Reranking, where the provider counts searches: a query with up to a hundred documents each',
  },
  per_request: { unit: 'request', factor: 1_000_000n },
} as const satisfies Record<string, WrittenPriceRow>

/** The member of a price list, in the configuration and in a provider's `prices.ts`. */
export type WrittenPrice = keyof typeof written

/** The row of each member. */
export const writtenPrices: Readonly<Record<WrittenPrice, WrittenPriceRow>> = written

/** Optional features of a transcription that some providers charge for in addition to the audio. */
export const surchargedFeatures = [
  'diarize',
  'keyterms',
  'entities',
  'transcript_edit',
  'speaker_roles',
] as const
/**
 * One of them: telling speakers apart, terms to listen for, finding entities in the text, editing the transcript by an
 * instruction, and naming the speakers' roles instead of numbers.
 */
export type SurchargedFeature = (typeof surchargedFeatures)[number]

/** Every request that changes a call's price: the features with a surcharge, and a transcript for each channel. */
export const audioFeatures = [...surchargedFeatures, 'channels'] as const
/** One of them. */
export type AudioFeature = (typeof audioFeatures)[number]

/** How a provider counts the billed time of one call, in whole milliseconds; an absent, zero or false member changes nothing. */
export interface TimeRules {
  /** A call is billed for at least this long. */
  readonly minimumMilliseconds?: number
  /** A call is billed in whole steps of this length; a step that has begun counts. */
  readonly roundToMilliseconds?: number
  /**
   * Whether every channel is billed for the whole length; `when_asked`: only when the call asks for separate channels.
   */
  readonly isPerChannel?: boolean | 'when_asked'
}

/** The surcharge for a feature, in millionths of the audio's cost. 0 removes a surcharge that a lower source states. */
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
    /** Features with a surcharge. Its amount is unknown unless a unit or a share states it. */
    readonly surcharged?: readonly SurchargedFeature[]
    /** The shortest billed time, in milliseconds, of a call that asked for the feature. */
    readonly featureMinimums?: Readonly<Partial<Record<SurchargedFeature, number>>>
  }

/** A stated price of zero for every unit: for the operator's own servers, and for free models. */
export const freePrice: Price = Object.freeze(Object.fromEntries(priceUnits.map((unit) => [unit, 0n])))

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
  searchUnits: 0,
})

/**
 * The counts of a usage by their columns in the database. A record of a provider's report uses the same names. Every count
 * that has a price is stored, so that a charge can be computed again from its row.
 */
export const usageColumns = {
  input_tokens: 'inputTokens',
  cached_input_tokens: 'cachedInputTokens',
  cache_write_tokens: 'cacheWriteTokens',
  cache_write_hour_tokens: 'cacheWriteHourTokens',
  input_audio_tokens: 'inputAudioTokens',
  output_tokens: 'outputTokens',
  reasoning_tokens: 'reasoningTokens',
  output_audio_tokens: 'outputAudioTokens',
  audio_milliseconds: 'audioMilliseconds',
  audio_channels: 'audioChannels',
  characters: 'characters',
  utf8_bytes: 'utf8Bytes',
  search_units: 'searchUnits',
} as const satisfies Record<string, keyof Usage>

/** The most that a call may consume, as known before it is made; the base of the hold. */
export interface Demand {
  /** Estimated prompt tokens; 0 for audio. */
  inputTokens: number
  /** The prompt tokens that are audio in a conversation; absent when there are none. */
  audioInputTokens?: number
  /**
   * Whether the prompt has parts whose length the request's bytes do not tell: documents, files by id, URLs that the
   * provider fetches, results of its searches and tools. Such a prompt may fill the context, and several times when the
   * provider calls the model again. Without such parts, a provider's count above what was sent is not believed.
   */
  hasUncountedInput?: true
  /** Bytes of the request; absent for audio. A token of text has at least one byte. */
  inputBytes?: number
  /** Pictures in the request, because few bytes of a picture may be many tokens; absent when there are none. */
  images?: number
  /** The caller's output limit, or null when none was given and the endpoint's own limit applies. */
  outputTokensMax: number | null
  /** The number of requested answers (`n`), at least 1. */
  choices: number
  /** Length of the audio to transcribe, 0 when none, null when unknown before the call. */
  audioMilliseconds: number | null
  /** Channels of that audio; absent when unknown before the call, or none. */
  audioChannels?: number
  /** Requested features that may have a surcharge; absent when there are none. */
  audioFeatures?: readonly AudioFeature[]
  /** For each feature, the slugs of the providers whose own options request it; absent when there are none. */
  askedAt?: Readonly<Partial<Record<AudioFeature, readonly string[]>>>
  /** Code points to synthesize; 0 when none. */
  characters: number
  /** Bytes of UTF-8 to synthesize; absent when none. */
  utf8Bytes?: number
  /** The estimated search units for ordering the documents; absent when there are none. */
  searchUnits?: number
}
