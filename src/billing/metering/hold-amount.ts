import { priceAt, type Endpoint } from '../../canonical/endpoint.ts'
import type { Demand, Price } from '../../canonical/usage.ts'
import {
  audioMillisecondsUnknownHold,
  audioTokensPerSecondMax,
  outputTokensUnknown,
  speechTokensPerCharacterMax,
  transcriptTokensPerSecondMax,
  usageTokensMax,
} from '../../core/limits/billing.ts'
import { costOf } from '../../core/money.ts'
import type { PricedQuantity } from '../../core/money.ts'
import { billedMilliseconds } from './price.ts'

/**
 * The most a call of this demand can cost on an endpoint, in nanocredits: estimated prompt, corrected by `ratio` (actual
 * to estimated tokens, learned), plus output limit times choices, plus the fee. Where a token may be billed under
 * several prices the dearest counts. Units without a price count nothing; `missingPrices` names them.
 */
export function holdAmountOf(demand: Demand, endpoint: Endpoint, ratio: number): bigint {
  const amount = amountAt(demand, endpoint, ratio)
  // Which tier serves a call the provider decides.
  return Object.values(endpoint.tierPrices ?? none)
    .map((price) => amountAt(demand, { ...endpoint, price, longPrices: [] }, ratio))
    .reduce((most, one) => (one > most ? one : most), amount)
}

const none: Readonly<Record<string, Price>> = {}

function amountAt(demand: Demand, endpoint: Endpoint, ratio: number): bigint {
  return costOf([...inputTerms(demand, endpoint, ratio), ...outputTerms(demand, endpoint, ratio)])
}

/** The largest output, in tokens per choice, whose hold fits into `available`; 0 when not even the prompt does. */
export function largestOutput(
  demand: Demand,
  endpoint: Endpoint,
  given: { available: bigint; ratio: number },
): number {
  const left = given.available - costOf(inputTerms(demand, endpoint, given.ratio))
  const price = dearestOutput(priceOf(demand, endpoint, given.ratio))
  if (left <= 0n) return 0
  const bound = outputBound({ ...demand, outputTokensMax: null }, endpoint, given.ratio)
  if (price === 0n) return bound
  const tokens = (left * 1_000_000n) / (price * BigInt(demand.choices))
  return tokens < BigInt(bound) ? Number(tokens) : bound
}

function inputTerms(demand: Demand, endpoint: Endpoint, ratio: number): PricedQuantity[] {
  const price = priceOf(demand, endpoint, ratio)
  const terms: PricedQuantity[] = [{ quantity: 1, price: price.request ?? 0n }]
  const { inputToken, cachedInputToken, cacheWriteToken, cacheWriteHourToken } = price
  const inputPrice = dearest(inputToken, cachedInputToken, cacheWriteToken, cacheWriteHourToken)
  const prompt = promptTokens(demand, ratio)
  const audio = Math.min(prompt, Math.ceil((demand.audioInputTokens ?? 0) * ratio))
  terms.push({ quantity: prompt - audio, price: inputPrice })
  terms.push({ quantity: audio, price: dearest(inputPrice, price.inputAudioToken) })
  if (endpoint.modality === 'transcription') {
    // Providers that bill time round it up to whole seconds, some from a length a little longer than the container's.
    const milliseconds = wholeSeconds(demand.audioMilliseconds ?? audioMillisecondsUnknownHold)
    const billed = billedMilliseconds(Math.ceil(milliseconds), price)
    terms.push({ quantity: billed, price: price.audioMillisecond ?? 0n })
    if (price.audioMillisecond === undefined) {
      const tokens = Math.ceil((milliseconds / 1_000) * audioTokensPerSecondMax)
      terms.push({ quantity: tokens, price: dearest(inputPrice, price.inputAudioToken) })
    }
  }
  if (endpoint.modality === 'speech') {
    terms.push({ quantity: demand.characters, price: price.character ?? 0n })
    if (price.character === undefined) {
      terms.push({ quantity: demand.characters, price: inputPrice })
      // Slow speech: a tenth of a second per character, doubled.
      const billed = billedMilliseconds(demand.characters * 200, price)
      terms.push({ quantity: billed, price: price.audioMillisecond ?? 0n })
    }
  }
  return terms
}

function outputTerms(demand: Demand, endpoint: Endpoint, ratio: number): PricedQuantity[] {
  const price = priceOf(demand, endpoint, ratio)
  const outputPrice = dearestOutput(price)
  switch (endpoint.modality) {
    case 'embedding':
      return []
    case 'language':
      return [{ quantity: outputBound(demand, endpoint, ratio) * demand.choices, price: outputPrice }]
    case 'transcription': {
      if (price.audioMillisecond !== undefined) return []
      const seconds = (demand.audioMilliseconds ?? audioMillisecondsUnknownHold) / 1_000
      return [{ quantity: Math.ceil(seconds * transcriptTokensPerSecondMax), price: outputPrice }]
    }
    case 'speech': {
      if (price.character !== undefined || price.audioMillisecond !== undefined) return []
      return [{ quantity: demand.characters * speechTokensPerCharacterMax, price: outputPrice }]
    }
  }
}

/**
 * The caller's limit, at most what the endpoint can give, else what the context leaves, else a bound of ours. A limit of
 * quadrillions is no reason to hold more than a report of usage could ever be believed to say.
 */
function outputBound(demand: Demand, endpoint: Endpoint, ratio: number): number {
  const asked = demand.outputTokensMax
  const own = endpoint.outputTokensMax
  if (asked !== null) return Math.min(asked, own ?? endpoint.contextLength ?? usageTokensMax)
  if (own !== null) return own
  if (endpoint.contextLength !== null) {
    return Math.min(outputTokensUnknown, Math.max(1, endpoint.contextLength - promptTokens(demand, ratio)))
  }
  return outputTokensUnknown
}

/** The price that the estimated prompt reaches. */
function priceOf(demand: Demand, endpoint: Endpoint, ratio: number): Price {
  return priceAt(endpoint, promptTokens(demand, ratio))
}

function dearestOutput({ outputToken, outputAudioToken }: Price): bigint {
  return dearest(outputToken, outputAudioToken)
}

function promptTokens(demand: Demand, ratio: number): number {
  return Math.ceil(demand.inputTokens * ratio)
}

function dearest(...prices: readonly (bigint | undefined)[]): bigint {
  let most = 0n
  for (const price of prices) if (price !== undefined && price > most) most = price
  return most
}

function wholeSeconds(milliseconds: number): number {
  return milliseconds <= 0 ? 0 : (Math.ceil(milliseconds / 1_000) + 1) * 1_000
}
