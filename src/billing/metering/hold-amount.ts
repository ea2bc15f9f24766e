import { atTier, priceAt, type Endpoint } from '../../canonical/endpoint.ts'
import { modalityRow } from '../../canonical/operation.ts'
import { priceWith, unknownSurcharges } from '../../canonical/surcharges.ts'
import { priceUnitRows } from '../../canonical/usage.ts'
import type { Demand, Price } from '../../canonical/usage.ts'
import { uncountedInputTokens } from '../../core/limits/billing.ts'
import { CostSum } from '../../core/money.ts'
import { isUncounted } from './meter.ts'
import { dearest, heardMilliseconds, meteredModalities, outputBound } from './modalities.ts'
import { addHourlySurcharges, addShares, featuresOf } from './surcharge-cost.ts'

/**
 * The most a call of this demand can cost on an endpoint, in nanocredits, as far as that is known. It sums the estimated
 * prompt times `ratio` (actual to estimated tokens, learned), `uncountedTokens` where the prompt has parts that only
 * the provider can count, the output limit times the choices, and the fee. Where a token may be billed under several
 * prices, the highest counts. Units without a price add nothing; `missingPrices` names them.
 */
export function holdAmountOf(
  demand: Demand,
  endpoint: Endpoint,
  ratio: number,
  uncountedTokens: number = uncountedInputTokens,
): bigint {
  const prompt = promptOf(demand, endpoint, { ratio, uncountedTokens })
  let most = amountAt(demand, endpoint, prompt)
  // The provider decides which tier serves a call, so every tier's price counts.
  for (const tier in endpoint.tierPrices) {
    const amount = amountAt(demand, atTier(endpoint, tier), prompt)
    if (amount > most) most = amount
  }
  return most
}

/** Tokens of a prompt, and how many of them are of sound. */
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

function amountAt(demand: Demand, endpoint: Endpoint, prompt: Prompt): bigint {
  const price = priceOf(demand, endpoint, prompt)
  const sum = new CostSum()
  addInput(sum, demand, { endpoint, price, prompt })
  const held = { price, promptTokens: prompt.tokens, tokenPrice: dearestOutput(price) }
  meteredModalities[endpoint.modality].holdOutput(sum, demand, { endpoint, ...held })
  if (modalityRow(endpoint.modality).hasSurcharges) {
    addShares(sum, price)
    addHourlySurcharges(sum, heardMilliseconds(demand, price), price)
  }
  if (price.request !== undefined) sum.add(1, price.request)
  return sum.rounded()
}

/** The largest output, in tokens per choice, whose hold fits into `available`; 0 when the prompt alone does not fit. */
export function largestOutput(
  demand: Demand,
  endpoint: Endpoint,
  given: { available: bigint; ratio: number; uncountedTokens?: number },
): number {
  const { ratio, uncountedTokens = uncountedInputTokens } = given
  const prompt = promptOf(demand, endpoint, { ratio, uncountedTokens })
  const reached = priceOf(demand, endpoint, prompt)
  const besides = new CostSum()
  addInput(besides, demand, { endpoint, price: reached, prompt })
  besides.add(1, reached.request ?? 0n)
  const left = given.available - besides.rounded()
  const price = dearestOutput(reached)
  if (left <= 0n) return 0
  const bound = outputBound({ ...demand, outputTokensMax: null }, endpoint, prompt.tokens)
  if (price === 0n) return bound
  const tokens = (left * 1_000_000n) / (price * BigInt(demand.choices))
  return tokens < BigInt(bound) ? Number(tokens) : bound
}

function addInput(
  sum: CostSum,
  demand: Demand,
  { endpoint, price, prompt }: { endpoint: Endpoint; price: Price; prompt: Prompt },
): void {
  const { inputToken, cachedInputToken, cacheWriteToken, cacheWriteHourToken } = price
  const inputPrice = dearest(inputToken, cachedInputToken, cacheWriteToken, cacheWriteHourToken)
  const { audioTokens } = prompt
  sum.add(prompt.tokens - audioTokens, inputPrice)
  if (audioTokens > 0) sum.add(audioTokens, dearest(inputPrice, price.inputAudioToken))
  meteredModalities[endpoint.modality].holdInput(sum, demand, { price, tokenPrice: inputPrice })
}

/** The price at the estimated prompt's length; for a transcription, with its features' surcharges. */
function priceOf(demand: Demand, endpoint: Endpoint, { tokens }: Prompt): Price {
  const price = priceAt(endpoint, tokens)
  return modalityRow(endpoint.modality).hasSurcharges ? priceWith(price, featuresOf(demand, endpoint)) : price
}

function dearestOutput({ outputToken, outputAudioToken }: Price): bigint {
  return dearest(outputToken, outputAudioToken)
}

/**
 * What a call of this demand would use on an endpoint that has no price for it, in words; empty when the worst case can
 * be priced. Prepaid and limited accounts may not call an endpoint with missing prices. A surcharge of unknown amount
 * counts only where the operator refuses calls without a known price; otherwise it would make the feature unusable.
 */
export function missingPrices(
  demand: Demand,
  endpoint: Endpoint,
  refusesUnknownPrices = false,
): readonly string[] {
  const missing = meteredModalities[endpoint.modality]
    .units(demand, endpoint.price)
    .filter((unit) => endpoint.price[unit] === undefined)
  if (refusesUnknownPrices && modalityRow(endpoint.modality).hasSurcharges)
    missing.push(...unknownSurcharges(priceWith(endpoint.price, featuresOf(demand, endpoint))))
  return missing.map((unit) => priceUnitRows[unit].words)
}
