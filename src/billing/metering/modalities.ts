import type { Endpoint } from '../../canonical/endpoint.ts'
import type { Modality } from '../../canonical/operation.ts'
import type { MeterReading } from '../../canonical/upstream.ts'
import { noUsage } from '../../canonical/usage.ts'
import type { Demand, Price, PriceUnit, Usage } from '../../canonical/usage.ts'
import { outputTokensUnknown, usageAudioMillisecondsMax, usageTokensMax } from '../../core/limits/billing.ts'
import type { CostSum } from '../../core/money.ts'
import { billedMilliseconds, pricesCounts, pricesTokens } from './price.ts'
import { addTime } from './surcharge-cost.ts'

/** Channels assumed for the hold of audio of unknown channels, where each is billed. A file seldom has more. */
const audioChannelsUnknownHold = 2
/** The length assumed for audio of unknown length: for the hold and, when no report came either, for the charge. */
const audioMillisecondsUnknownHold = 3_600_000
const audioMillisecondsUnknownCharge = 60_000
/** Most tokens per second of audio that any known tokenizer makes, heard or spoken. */
const audioTokensPerSecondMax = 32
/** Most transcript tokens per second of audio, and most spoken audio tokens per character: fast speech, doubled. */
const transcriptTokensPerSecondMax = 10
const speechTokensPerCharacterMax = 4
/** Most spoken audio tokens in addition: silence surrounds even a single word. */
const speechTokensOfSilenceMax = 256
/**
 * How many characters a provider may bill for one of the input, and how many in addition: UTF-8 has at most four bytes
 * for one.
 */
const charactersBilledFactor = 4
const charactersBilledBeyond = 100

/** What the meter needs beside the reading. */
export interface MeterContext {
  demand: Demand
  endpoint: Endpoint
  /** `cancelled`: the caller left and pays for what was streamed until then. `failed`: nothing useful came, or the answer broke off. */
  ending: 'completed' | 'cancelled' | 'failed'
  /** Actual to estimated prompt tokens, learned; 1 by default. */
  promptRatio?: number
}

/**
 * How calls of one modality are held, metered and estimated. The parts that all modalities share (the prompt's tokens,
 * the fee, the bounds of a plausible count) are in `hold-amount.ts` and `meter.ts`.
 */
export interface MeteredModality {
  /** Units that a call of this demand is certain to use. Each needs a price before a prepaid account may call. */
  units(demand: Demand, price: Price): readonly PriceUnit[]
  /** Adds what to hold for input beside the prompt's tokens. `tokenPrice` is the highest price of an input token. */
  holdInput(sum: CostSum, demand: Demand, held: { price: Price; tokenPrice: bigint }): void
  /** Adds what to hold for the output; `promptTokens` share the context with it. `tokenPrice` is the highest price of an output token. */
  holdOutput(
    sum: CostSum,
    demand: Demand,
    held: { endpoint: Endpoint; price: Price; promptTokens: number; tokenPrice: bigint },
  ): void
  /** The usage, estimated from the request and the seen output, at most what the request allows. */
  estimate(reading: MeterReading, context: MeterContext): Usage
  /** Whether a report is impossible for the answer that came. */
  contradicts(usage: Usage, reading: MeterReading, context: MeterContext): boolean
}

/** By the kind of model. */
export const meteredModalities: Readonly<Record<Modality, MeteredModality>> = {
  language: {
    units(demand) {
      const hears = (demand.audioInputTokens ?? 0) > 0
      const input: PriceUnit[] = hears ? ['inputToken', 'inputAudioToken'] : ['inputToken']
      return demand.outputTokensMax === 0 ? input : [...input, 'outputToken']
    },
    holdInput: noMore,
    holdOutput(sum, demand, { endpoint, promptTokens, tokenPrice }) {
      sum.add(outputBound(demand, endpoint, promptTokens) * demand.choices, tokenPrice)
    },
    estimate: (reading, context) => ({
      ...noUsage,
      inputTokens: promptOf(context),
      inputAudioTokens: audioOfPrompt(context),
      outputTokens: outputOf(reading, context),
    }),
    contradicts: (usage, reading, { demand }) =>
      !hasCounts(usage, demand) || (usage.outputTokens === 0 && hasOutput(reading)),
  },
  embedding: {
    units: () => ['inputToken'],
    holdInput: noMore,
    holdOutput: noMore,
    estimate: (_, context) => ({ ...noUsage, inputTokens: promptOf(context) }),
    contradicts: (usage, _, { demand }) => !hasCounts(usage, demand),
  },
  transcription: {
    units(_, price) {
      if (price.audioHour !== undefined || !pricesTokens(price)) return ['audioHour']
      return [price.inputAudioToken === undefined ? 'inputToken' : 'inputAudioToken', 'outputToken']
    },
    holdInput(sum, demand, { price, tokenPrice }) {
      if (price.audioHour !== undefined)
        return addTime(sum, heardMilliseconds(demand, price), price.audioHour)
      const tokens = Math.ceil((longestOf(demand) / 1_000) * audioTokensPerSecondMax)
      sum.add(tokens, dearest(tokenPrice, price.inputAudioToken))
    },
    holdOutput(sum, demand, { price, tokenPrice }) {
      if (price.audioHour !== undefined) return
      const seconds = (demand.audioMilliseconds ?? audioMillisecondsUnknownHold) / 1_000
      sum.add(Math.ceil(seconds * transcriptTokensPerSecondMax), tokenPrice)
    },
    estimate: (reading, { demand, endpoint }) => ({
      ...noUsage,
      audioMilliseconds: Math.min(
        usageAudioMillisecondsMax,
        Math.max(0, Math.ceil(demand.audioMilliseconds ?? audioMillisecondsUnknownCharge)),
      ),
      audioChannels: demand.audioChannels ?? 0,
      ...tokensOfAudio(reading, demand, endpoint),
    }),
    contradicts: (usage) => isEmpty(usage),
  },
  speech: {
    units(_, price) {
      if (pricesCounts(price)) return []
      if (!pricesTokens(price)) return ['character']
      return ['inputToken', price.outputAudioToken === undefined ? 'outputToken' : 'outputAudioToken']
    },
    holdInput(sum, { characters, utf8Bytes = 0 }, { price, tokenPrice }) {
      if (price.character !== undefined || price.utf8Byte !== undefined) {
        sum.add(characters, price.character ?? 0n)
        return sum.add(utf8Bytes, price.utf8Byte ?? 0n)
      }
      // Assumes slow speech, a tenth of a second per character, and doubles it.
      const billed = billedMilliseconds({ audioMilliseconds: characters * 200, audioChannels: 1 }, price)
      sum.add(characters, tokenPrice)
      addTime(sum, billed, price.audioHour ?? 0n)
    },
    holdOutput(sum, demand, { price, tokenPrice }) {
      if (!pricesCounts(price)) sum.add(speechTokensMax(demand), tokenPrice)
    },
    estimate: (_, { demand, endpoint }) => ({
      ...noUsage,
      characters: demand.characters,
      utf8Bytes: demand.utf8Bytes ?? 0,
      ...tokensOfSpeech(demand, endpoint),
    }),
    contradicts: (usage, _, context) => !isSpokenWithin(usage, context),
  },
  rerank: {
    units: (_, { inputToken, searchUnit }) => [
      inputToken === undefined || searchUnit !== undefined ? 'searchUnit' : 'inputToken',
    ],
    holdInput: (sum, { searchUnits = 0 }, { price: { searchUnit = 0n } }) => sum.add(searchUnits, searchUnit),
    holdOutput: noMore,
    estimate: (_, context) =>
      isBySearches(context.endpoint.price)
        ? { ...noUsage, searchUnits: context.demand.searchUnits ?? 0 }
        : { ...noUsage, inputTokens: promptOf(context) },
    contradicts(usage, _, { demand, endpoint: { price } }) {
      if (usage.searchUnits > (demand.searchUnits ?? 0) * searchUnitsBeyondFactor) return true
      // Where both units have a price, a report of either decides.
      const isSearched =
        usage.searchUnits > 0 && (price.searchUnit !== undefined || price.inputToken === undefined)
      return !isSearched && (isBySearches(price) || isEmpty(usage))
    },
  },
}

/** For a modality that is held by its tokens alone. */
function noMore(): void {
  // Nothing is added.
}

/** Whether a reranking is billed by searches alone. Where neither unit has a price it is counted in tokens. */
function isBySearches({ searchUnit, inputToken }: Price): boolean {
  return searchUnit !== undefined && inputToken === undefined
}

/** How far a report of search units may exceed the estimate: a token has at least one byte where the estimate assumes three, and cutting a document adds a piece. */
const searchUnitsBeyondFactor = 4

/** Whether a report has any count above zero, if the request had any input. */
function hasCounts(usage: Usage, demand: Demand): boolean {
  return !isEmpty(usage) || demand.inputTokens === 0
}

function isEmpty({ inputTokens, outputTokens, audioMilliseconds, characters }: Usage): boolean {
  return inputTokens + outputTokens + audioMilliseconds + characters === 0
}

function hasOutput({ outputBytes, outputPieces }: MeterReading): boolean {
  return outputBytes > 0 || outputPieces > 0
}

/** The estimated prompt, corrected by the learned ratio of the model. */
export function promptOf({ demand, promptRatio = 1 }: MeterContext): number {
  return Math.ceil(demand.inputTokens * promptRatio)
}

/** Tokens of audio in a conversation, where audio has a price of its own; elsewhere 0, because audio costs what text costs. */
export function audioOfPrompt({ demand, endpoint, promptRatio = 1 }: MeterContext): number {
  const tokens = endpoint.price.inputAudioToken === undefined ? 0 : (demand.audioInputTokens ?? 0)
  return Math.ceil(Math.min(tokens, demand.inputTokens) * promptRatio)
}

/**
 * The caller's limit, but at most what the endpoint can give; else what the provider is told, but at most what the context
 * leaves, and the gateway's own bound at least. A limit of quadrillions must not make the hold larger than the largest usage that the meter would believe.
 */
export function outputBound(demand: Demand, endpoint: Endpoint, promptTokens: number): number {
  const asked = demand.outputTokensMax
  const own = endpoint.outputTokensMax
  if (asked !== null) return Math.min(asked, own ?? endpoint.contextLength ?? usageTokensMax)
  if (own !== null) return own
  const unstated = unstatedOutputOf(endpoint)
  if (endpoint.contextLength === null) return unstated
  return Math.min(unstated, Math.max(1, endpoint.contextLength - promptTokens))
}

/** The longest answer to count with where neither the caller nor the endpoint states a limit. */
function unstatedOutputOf({ outputTokensStated = 0 }: Endpoint): number {
  return Math.max(outputTokensUnknown, outputTokensStated)
}

/** Bytes of answer text per token. Real text has more, so the estimate is rather too high than too low. */
const bytesPerToken = 3

function outputOf(reading: MeterReading, { demand, endpoint }: MeterContext): number {
  const seen = Math.max(reading.outputPieces, Math.ceil(reading.outputBytes / bytesPerToken))
  const limit = demand.outputTokensMax ?? endpoint.outputTokensMax ?? unstatedOutputOf(endpoint)
  return Math.min(seen, limit * demand.choices)
}

/** Providers that bill time round it up to whole seconds, and some measure a little more than the container states. */
function longestOf({ audioMilliseconds }: Demand): number {
  return wholeSeconds(audioMilliseconds ?? audioMillisecondsUnknownHold)
}

function wholeSeconds(milliseconds: number): number {
  return milliseconds <= 0 ? 0 : (Math.ceil(milliseconds / 1_000) + 1) * 1_000
}

/** The longest time that a transcription can be billed for. */
export function heardMilliseconds(demand: Demand, price: Price): number {
  const audioChannels = demand.audioChannels ?? audioChannelsUnknownHold
  return billedMilliseconds({ audioMilliseconds: longestOf(demand), audioChannels }, price)
}

// Ten tokens per second of audio is what the token-priced transcription models count.
function tokensOfAudio(reading: MeterReading, demand: Demand, endpoint: Endpoint): Partial<Usage> {
  if (endpoint.price.audioHour !== undefined) return {}
  const seconds = (demand.audioMilliseconds ?? audioMillisecondsUnknownCharge) / 1_000
  const inputTokens = Math.ceil(seconds * 10)
  const inputAudioTokens = endpoint.price.inputAudioToken === undefined ? 0 : inputTokens
  return { inputTokens, inputAudioTokens, outputTokens: Math.ceil(reading.outputBytes / bytesPerToken) }
}

/** The most tokens that the speech for a text can have. */
function speechTokensMax({ characters }: Demand): number {
  return characters * speechTokensPerCharacterMax + speechTokensOfSilenceMax
}

/** Whether the speech for a text can have so many characters, tokens and seconds. Slow speech has four times as many tokens. */
function isSpokenWithin(
  { characters, inputTokens, outputTokens, audioMilliseconds }: Usage,
  { demand }: MeterContext,
): boolean {
  const tokensMax = speechTokensMax(demand) * speechSlownessMax
  return (
    characters > 0 &&
    characters <= demand.characters * charactersBilledFactor + charactersBilledBeyond &&
    outputTokens <= tokensMax &&
    // A model that counts tokens counts some of each kind when there was speech.
    inputTokens > 0 === outputTokens > 0 &&
    // Every speech model has at least ten tokens per second.
    audioMilliseconds <= tokensMax * 100
  )
}

/** Callers may ask for a quarter of the usual speed. */
const speechSlownessMax = 4

function tokensOfSpeech(demand: Demand, endpoint: Endpoint): Partial<Usage> {
  const { price } = endpoint
  if ((price.character ?? price.utf8Byte) !== undefined) return {}
  const inputTokens = Math.ceil(demand.characters / bytesPerToken)
  const outputTokens = Math.ceil(demand.characters * 1.5)
  const outputAudioTokens = price.outputAudioToken === undefined ? 0 : outputTokens
  // A quick speaker says 15 characters a second; an estimate assumes 12.
  return {
    inputTokens,
    outputTokens,
    outputAudioTokens,
    audioMilliseconds: Math.ceil((demand.characters / 12) * 1_000),
  }
}

/** The highest of these prices; undefined ones are skipped. */
export function dearest(...prices: readonly (bigint | undefined)[]): bigint {
  let most = 0n
  for (const price of prices) if (price !== undefined && price > most) most = price
  return most
}
