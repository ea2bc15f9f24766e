import type { Endpoint, LongPrice, Model } from '../canonical/endpoint.ts'
import { modalityRow, type Modality } from '../canonical/operation.ts'
import { divideHalfEven } from '../core/money.ts'
import { comparedPrice } from './prices/compared-price.ts'
import { pricingRules, promptUnitOf, type PricingRulesJson } from './pricing-rules.ts'

/** The value of an unknown price: the contract's clients need a string, and zero would mean free. */
const unknownPrice = '-1'

/**
 * A model as the public catalog shows it; every member that the official client requires is present, and with `object`
 * and `owned_by` it is OpenAI's model object too.
 */
export interface ModelJson {
  id: string
  object: 'model'
  owned_by: string
  canonical_slug: string
  name: string
  created: number
  description?: string
  architecture: {
    modality: string
    input_modalities: string[]
    output_modalities: string[]
    /** The contract's word for an unknown tokenizer; its clients need a string. */
    tokenizer: string
  }
  context_length: number | null
  pricing: PricingJson
  top_provider: { is_moderated: boolean; context_length: number | null; max_completion_tokens: number | null }
  per_request_limits: null
  supported_parameters: readonly string[]
  default_parameters: null
  supported_voices: string[] | null
  links: { details: string }
  /** The day from which no endpoint serves it, `YYYY-MM-DD`; absent while one endpoint has no such day. */
  expiration_date?: string
  /** Facts that the contract has no member for; only when there are any. */
  headrace?: { pricing_rules: PricingRulesJson }
}

/** USD per single unit, as decimal strings: a token, a character of speech (`prompt`), a second of audio (`audio`), a request. */
export interface PricingJson {
  prompt: string
  completion: string
  request?: string
  audio?: string
  audio_output?: string
  input_cache_read?: string
  input_cache_write?: string
  input_cache_write_1h?: string
  /** The prices of longer prompts, when they differ. */
  overrides?: PricingOverrideJson[]
}

/** The prices of calls whose prompt has at least so many tokens. */
export interface PricingOverrideJson {
  min_prompt_tokens: number
  prompt?: string
  completion?: string
  input_cache_read?: string
  input_cache_write?: string
  input_cache_write_1h?: string
}

/** How to show a model: with which of its endpoints (all by default), and under which id. */
export interface RenderOptions {
  /** Prefix of every path of this gateway; empty by default. */
  basePath?: string
  endpoints?: readonly Endpoint[]
  /** `batch` renders the entry for batches, whose endpoints have the prices of batches. */
  variant?: 'batch'
}

/** Renders a model by its cheapest endpoint among those given; limits and parameters are the union of them all. */
export function renderModel(model: Model, options: RenderOptions = {}): ModelJson {
  const endpoints = options.endpoints ?? model.endpoints
  const top = cheapest(endpoints)
  const suffix = options.variant ? `:${options.variant}` : ''
  const contextLength = largest(endpoints.map((endpoint) => endpoint.contextLength))
  const inputs = union(endpoints.map((endpoint) => endpoint.inputModalities))
  const outputs = union(endpoints.map((endpoint) => endpoint.outputModalities))
  return {
    id: `${model.id}${suffix}`,
    object: 'model',
    owned_by: ownerOf(model),
    canonical_slug: model.id,
    name: options.variant ? `${model.name} (${options.variant})` : model.name,
    created: model.created,
    ...(model.description === null ? {} : { description: model.description }),
    architecture: {
      modality: `${inputs.join('+')}->${outputs.join('+')}`,
      input_modalities: inputs,
      output_modalities: outputs,
      tokenizer: 'Other',
    },
    context_length: contextLength,
    pricing: top ? renderPricing(top) : { prompt: unknownPrice, completion: unknownPrice },
    top_provider: {
      is_moderated: false,
      context_length: top?.contextLength ?? contextLength,
      max_completion_tokens: top?.outputTokensMax ?? null,
    },
    per_request_limits: null,
    supported_parameters: supportedParameters(endpoints),
    default_parameters: null,
    supported_voices: voicesOf(endpoints),
    links: { details: `${options.basePath ?? ''}/api/v1/model/${toPath(model.id)}` },
    ...expirationOf(endpoints),
    ...shownRules(top),
  }
}

function expirationOf(endpoints: readonly Endpoint[]): Pick<ModelJson, 'expiration_date'> {
  let last: string | undefined
  for (const { expirationDate } of endpoints) {
    if (expirationDate === undefined) return {}
    if (last === undefined || expirationDate > last) last = expirationDate
  }
  return last === undefined ? {} : { expiration_date: last }
}

/** How the prices are applied, for facts that the contract has no member for; empty when there are none. */
export function shownRules(endpoint: Endpoint | undefined): {
  headrace?: { pricing_rules: PricingRulesJson }
} {
  const rules = endpoint && pricingRules(endpoint, perUnit)
  return rules ? { headrace: { pricing_rules: rules } } : {}
}

/** The author; for an operator's name without one, the provider that serves it. */
function ownerOf({ id, endpoints }: Model): string {
  const slash = id.indexOf('/')
  return slash > 0 ? id.slice(0, slash) : (endpoints[0]?.deployment.provider ?? id)
}

/** Escapes an id for a path. Ids may be names of local files or tags and have any character; a colon needs no escape. */
function toPath(modelId: string): string {
  return modelId
    .split('/')
    .map((part) => encodeURIComponent(part).replaceAll('%3A', ':'))
    .join('/')
}

/** The cheapest endpoint, those without a known price last; undefined when there is none. */
function cheapest(endpoints: readonly Endpoint[]): Endpoint | undefined {
  let best: Endpoint | undefined
  for (const endpoint of endpoints) if (!best || priceKey(endpoint) < priceKey(best)) best = endpoint
  return best
}

function priceKey(endpoint: Endpoint): number {
  return comparedPrice(endpoint) ?? Number.POSITIVE_INFINITY
}

/** The prices of one endpoint in the contract's units. */
export function renderPricing({ modality, price, longPrices, isPriced }: Endpoint): PricingJson {
  const unknown = isPriced ? '0' : unknownPrice
  const prompt = price[promptUnitOf({ modality, price }) ?? 'inputToken']
  // When the provider bills audio input by time, its price is for a second.
  const seconds = price.audioHour === undefined ? undefined : divideHalfEven(price.audioHour, secondsPerHour)
  return {
    prompt: prompt === undefined ? unknown : perUnit(prompt),
    completion: price.outputToken === undefined ? unknown : perUnit(price.outputToken),
    ...optional('request', price.request),
    ...optional('audio', price.inputAudioToken ?? seconds),
    ...optional('audio_output', price.outputAudioToken),
    ...optional('input_cache_read', price.cachedInputToken),
    ...optional('input_cache_write', price.cacheWriteToken),
    ...optional('input_cache_write_1h', price.cacheWriteHourToken),
    ...(longPrices.length === 0 ? {} : { overrides: longPrices.map(renderLongPrice) }),
  }
}

function renderLongPrice({ inputTokensAbove, price }: LongPrice): PricingOverrideJson {
  return {
    min_prompt_tokens: inputTokensAbove + 1,
    ...optional('prompt', price.inputToken),
    ...optional('completion', price.outputToken),
    ...optional('input_cache_read', price.cachedInputToken),
    ...optional('input_cache_write', price.cacheWriteToken),
    ...optional('input_cache_write_1h', price.cacheWriteHourToken),
  }
}

function optional<Name extends string>(
  name: Name,
  amount: bigint | undefined,
): { [Member in Name]?: string } {
  return amount === undefined ? {} : ({ [name]: perUnit(amount) } as { [Member in Name]?: string })
}

const secondsPerHour = 3_600n

const unitDigits = 15

/** Nanocredits per million units as exact USD per unit, without trailing zeros or an exponent. */
export function perUnit(amount: bigint): string {
  const digits = amount.toString().padStart(unitDigits + 1, '0')
  const fraction = digits.slice(-unitDigits).replace(/0+$/, '')
  return `${digits.slice(0, -unitDigits)}${fraction === '' ? '' : `.${fraction}`}`
}

const none: ReadonlySet<string> = new Set()

/** The parameter names that the contract's clients know. Other parameters of an endpoint count only for routing. */
const parameterNames = [
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'top_a',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'max_tokens',
  'max_completion_tokens',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'prediction',
  'seed',
  'response_format',
  'structured_outputs',
  'stop',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'include_reasoning',
  'reasoning',
  'reasoning_effort',
  'web_search_options',
  'verbosity',
] as const

/** The parameters that an endpoint shows. */
export function shownParameters({ modality, parameters }: Endpoint): ReadonlySet<string> {
  if (parameters === null) return shownOf(modality)
  const shown = ofContract.get(parameters) ?? new Set(parameterNames.filter((name) => parameters.has(name)))
  ofContract.set(parameters, shown)
  return shown
}

function shownOf(modality: Modality): ReadonlySet<string> {
  const shown = ofModality.get(modality) ?? new Set(modalityRow(modality).shownParameters)
  ofModality.set(modality, shown)
  return shown
}

const ofModality = new Map<Modality, ReadonlySet<string>>()

/** Cached, because thousands of models share a few sets. */
const ofContract = new WeakMap<ReadonlySet<string>, ReadonlySet<string>>()

/** In alphabetical order. Thousands of models share a few sets, so each set is sorted once. */
function supportedParameters(endpoints: readonly Endpoint[]): readonly string[] {
  const [first = none, ...others] = new Set(endpoints.map(shownParameters))
  if (others.length > 0) return union([first, ...others]).toSorted()
  const known = inOrder.get(first)
  if (known) return known
  const sorted = [...first].toSorted()
  inOrder.set(first, sorted)
  return sorted
}

const inOrder = new WeakMap<ReadonlySet<string>, readonly string[]>()

function voicesOf(endpoints: readonly Endpoint[]): string[] | null {
  const voices = endpoints.flatMap(({ audio }) => (audio?.voices ? [audio.voices] : []))
  return voices.length > 0 ? union(voices) : null
}

function union(lists: readonly Iterable<string>[]): string[] {
  return [...new Set(lists.flatMap((list) => [...list]))]
}

function largest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length > 0 ? Math.max(...known) : null
}
