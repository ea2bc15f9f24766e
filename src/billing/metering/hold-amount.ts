import { priceAt, type Endpoint } from '../../canonical/endpoint.ts'
import { priceWith } from '../../canonical/surcharges.ts'
import type { Demand, Price } from '../../canonical/usage.ts'
import {
  audioChannelsUnknownHold,
  audioMillisecondsUnknownHold,
  audioTokensPerSecondMax,
  outputTokensUnknown,
  transcriptTokensPerSecondMax,
  uncountedInputTokens,
  usageTokensMax,
} from '../../core/limits/billing.ts'
import { costOf } from '../../core/money.ts'
import type { PricedQuantity } from '../../core/money.ts'
import { isUncounted, speechTokensMax } from './meter.ts'
import { billedMilliseconds } from './price.ts'
import { featuresOf, hourlySurcharges, timeTerm, withShares } from './surcharge-cost.ts'

/**
 * The most a call of this demand can cost on an endpoint, in nanocredits, as far as it can be told: estimated prompt,
 * corrected by `ratio` (actual to estimated tokens, learned), plus `uncountedTokens` where the prompt has what only its
 * provider can count, plus output limit times choices, plus the fee. Where a token may be billed under several prices the
 * dearest counts. Units without a price count nothing; `missingPrices` names them.
 */
export function holdAmountOf(
  demand: Demand,
  endpoint: Endpoint,
  ratio: number,
  uncountedTokens: number = uncountedInputTokens,
): bigint {
  const prompt = promptOf(demand, endpoint, { ratio, uncountedTokens })
  const amount = amountAt(demand, endpoint, prompt)
  // Which tier serves a call the provider decides.
  return Object.values(endpoint.tierPrices ?? none)
    .map((price) => amountAt(demand, { ...endpoint, price, longPrices: [] }, prompt))
    .reduce((most, one) => (one > most ? one : most), amount)
}

/** Tokens of a prompt, those of sound among them. */
interface Prompt {
  tokens: number
  audioTokens: number
}

function promptOf(
  demand: Demand,
  endpoint: Endpoint,
  { ratio, uncountedTokens }: { ratio: number; uncountedTokens: number },
): Prompt {
  const counted = Math.ceil(demand.inputTokens * ratio)
  const besides = isUncounted(demand, endpoint)
    ? Math.min(uncountedTokens, endpoint.contextLength ?? uncountedTokens)
    : 0
  return {
    tokens: counted + besides,
    audioTokens: Math.min(counted, Math.ceil((demand.audioInputTokens ?? 0) * ratio)),
  }
}

const none: Readonly<Record<string, Price>> = {}

function amountAt(demand: Demand, endpoint: Endpoint, prompt: Prompt): bigint {
  const price = priceOf(demand, endpoint, prompt)
  const terms = [...inputTerms(demand, endpoint, prompt), ...outputTerms(demand, endpoint, prompt)]
  const fee = { quantity: 1, price: price.request ?? 0n }
  if (endpoint.modality !== 'transcription') return costOf([...terms, fee])
  const besides = hourlySurcharges(heardMilliseconds(demand, price), price)
  return costOf([...withShares(terms, price), ...besides, fee])
}

/** The largest output, in tokens per choice, whose hold fits into `available`; 0 when not even the prompt does. */
export function largestOutput(
  demand: Demand,
  endpoint: Endpoint,
  given: { available: bigint; ratio: number; uncountedTokens?: number },
): number {
  const { ratio, uncountedTokens = uncountedInputTokens } = given
  const prompt = promptOf(demand, endpoint, { ratio, uncountedTokens })
  const reached = priceOf(demand, endpoint, prompt)
  const fee = { quantity: 1, price: reached.request ?? 0n }
  const left = given.available - costOf([...inputTerms(demand, endpoint, prompt), fee])
  const price = dearestOutput(reached)
  if (left <= 0n) return 0
  const bound = outputBound({ ...demand, outputTokensMax: null }, endpoint, prompt)
  if (price === 0n) return bound
  const tokens = (left * 1_000_000n) / (price * BigInt(demand.choices))
  return tokens < BigInt(bound) ? Number(tokens) : bound
}

function inputTerms(demand: Demand, endpoint: Endpoint, prompt: Prompt): PricedQuantity[] {
  const price = priceOf(demand, endpoint, prompt)
  const terms: PricedQuantity[] = []
  const { inputToken, cachedInputToken, cacheWriteToken, cacheWriteHourToken } = price
  const inputPrice = dearest(inputToken, cachedInputToken, cacheWriteToken, cacheWriteHourToken)
  const { audioTokens } = prompt
  terms.push({ quantity: prompt.tokens - audioTokens, price: inputPrice })
  terms.push({ quantity: audioTokens, price: dearest(inputPrice, price.inputAudioToken) })
  if (endpoint.modality === 'transcription') {
    terms.push(timeTerm(heardMilliseconds(demand, price), price.audioHour ?? 0n))
    if (price.audioHour === undefined) {
      const tokens = Math.ceil((longestOf(demand) / 1_000) * audioTokensPerSecondMax)
      terms.push({ quantity: tokens, price: dearest(inputPrice, price.inputAudioToken) })
    }
  }
  if (endpoint.modality === 'speech') terms.push(...speechTerms(demand, price, inputPrice))
  return terms
}

/** Providers that bill time round it up to whole seconds, some from a length a little longer than the container's. */
function longestOf({ audioMilliseconds }: Demand): number {
  return wholeSeconds(audioMilliseconds ?? audioMillisecondsUnknownHold)
}

/** What a transcription is billed for at the most. */
function heardMilliseconds(demand: Demand, price: Price): number {
  const audioChannels = demand.audioChannels ?? audioChannelsUnknownHold
  return billedMilliseconds({ audioMilliseconds: longestOf(demand), audioChannels }, price)
}

function speechTerms(
  { characters, utf8Bytes = 0 }: Demand,
  price: Price,
  inputPrice: bigint,
): PricedQuantity[] {
  if (price.character !== undefined || price.utf8Byte !== undefined) {
    return [
      { quantity: characters, price: price.character ?? 0n },
      { quantity: utf8Bytes, price: price.utf8Byte ?? 0n },
    ]
  }
  // Slow speech: a tenth of a second per character, doubled.
  const billed = billedMilliseconds({ audioMilliseconds: characters * 200, audioChannels: 1 }, price)
  return [{ quantity: characters, price: inputPrice }, timeTerm(billed, price.audioHour ?? 0n)]
}

function outputTerms(demand: Demand, endpoint: Endpoint, prompt: Prompt): PricedQuantity[] {
  const price = priceOf(demand, endpoint, prompt)
  const outputPrice = dearestOutput(price)
  switch (endpoint.modality) {
    case 'embedding':
      return []
    case 'language':
      return [{ quantity: outputBound(demand, endpoint, prompt) * demand.choices, price: outputPrice }]
    case 'transcription': {
      if (price.audioHour !== undefined) return []
      const seconds = (demand.audioMilliseconds ?? audioMillisecondsUnknownHold) / 1_000
      return [{ quantity: Math.ceil(seconds * transcriptTokensPerSecondMax), price: outputPrice }]
    }
    case 'speech': {
      if ((price.character ?? price.utf8Byte ?? price.audioHour) !== undefined) return []
      return [{ quantity: speechTokensMax(demand), price: outputPrice }]
    }
  }
}

/**
 * The caller's limit, at most what the endpoint can give, else what the context leaves, else a bound of ours. A limit of
 * quadrillions is no reason to hold more than a report of usage could ever be believed to say.
 */
function outputBound(demand: Demand, endpoint: Endpoint, { tokens }: Prompt): number {
  const asked = demand.outputTokensMax
  const own = endpoint.outputTokensMax
  if (asked !== null) return Math.min(asked, own ?? endpoint.contextLength ?? usageTokensMax)
  if (own !== null) return own
  if (endpoint.contextLength !== null) {
    return Math.min(outputTokensUnknown, Math.max(1, endpoint.contextLength - tokens))
  }
  return outputTokensUnknown
}

/** The price that the estimated prompt reaches, and of a transcription with what its features cost. */
function priceOf(demand: Demand, endpoint: Endpoint, { tokens }: Prompt): Price {
  const price = priceAt(endpoint, tokens)
  return endpoint.modality === 'transcription' ? priceWith(price, featuresOf(demand, endpoint)) : price
}

function dearestOutput({ outputToken, outputAudioToken }: Price): bigint {
  return dearest(outputToken, outputAudioToken)
}

function dearest(...prices: readonly (bigint | undefined)[]): bigint {
  let most = 0n
  for (const price of prices) if (price !== undefined && price > most) most = price
  return most
}

function wholeSeconds(milliseconds: number): number {
  return milliseconds <= 0 ? 0 : (Math.ceil(milliseconds / 1_000) + 1) * 1_000
}
