import { type Modality, modalityRow } from '../../canonical/operation.ts'
import type { Remarks } from './remarks.ts'
import { findPrices, readPrices, type CarriedPrices, type PriceMap, type Unpriced } from './litellm-prices.ts'
import type { YamlValue } from './yaml-tree.ts'

/** A model as the configuration file will state it. */
export interface ImportedModel {
  id: string
  upstream: string
  modality?: Modality
  prices?: Record<string, string>
  context_length?: number
  output_tokens_max?: number
  requests_per_minute?: number
  tokens_per_minute?: number
}

interface Described {
  entry: YamlValue
  /** A member of `litellm_params`, which may state prices too. */
  parameter: (name: string) => YamlValue | null
  mode: ImportedModel['modality'] | undefined
  remarks: Remarks
  /** The requested model and its preset. */
  asked: Pick<Unpriced, 'asked' | 'preset'>
  /** LiteLLM's map of prices; empty when none was given. */
  map: PriceMap
}

/** The model, with its kind, prices and limits from `model_info`. */
export function readModel(
  { id, upstream }: Pick<ImportedModel, 'id' | 'upstream'>,
  { entry, parameter, mode, remarks, asked, map }: Described,
): ImportedModel {
  const info = entry.member('model_info')
  const member = (name: string) => info?.member(name) ?? parameter(name)
  const baseModel = info?.member('base_model')?.text() ?? null
  const stated = readPrices(
    (name) => {
      const value = member(name)
      return value === null ? undefined : value.text()
    },
    (name) => remarks.about(member(name) ?? entry, 'is no amount, so the price is not carried'),
  )
  const lacking = Object.keys(stated).length > 0 ? lackingPrices(mode, stated) : []
  if (lacking.length > 0)
    remarks.about(
      entry,
      `says no price of ${lacking.join(' and ')}, so keys with a budget are refused its calls; other keys pay nothing for ${lacking.length > 1 ? 'these' : 'it'}`,
    )
  const found =
    Object.keys(stated).length > 0
      ? stated
      : unstated(entry, { unpriced: { ...asked, baseModel, upstream }, map, remarks })
  const context = info?.member('max_input_tokens')?.number()
  const output = info?.member('max_output_tokens')?.number() ?? info?.member('max_tokens')?.number()
  return {
    id,
    upstream,
    ...(mode === undefined ? {} : { modality: mode }),
    ...(Object.keys(found).length === 0 ? {} : { prices: found }),
    ...(isCount(context) ? { context_length: context } : {}),
    ...(isCount(output) ? { output_tokens_max: output } : {}),
    ...quotaOf(parameter, remarks),
  }
}

/** The largest quota a minute. */
const quotaMax = 1_000_000_000

const keptQuota =
  'is kept to here: a twenty-fifth of it may come at once, and what is beyond it waits a moment, goes to the next deployment or is 429. LiteLLM only weighs by it, unless "enforce_model_rate_limits" is on'

/** The rates of an entry, which are the provider's quota for it. */
function quotaOf(
  parameter: (name: string) => YamlValue | null,
  remarks: Remarks,
): Pick<ImportedModel, 'requests_per_minute' | 'tokens_per_minute'> {
  const rate = (name: string): number | null => {
    const value = parameter(name)
    const perMinute = value?.number() ?? null
    if (value === null) return null
    if (isCount(perMinute) && perMinute <= quotaMax) {
      remarks.about(value, keptQuota)
      return perMinute
    }
    remarks.about(value, `is not carried: a quota is a whole number from 1 to ${quotaMax}`)
    return null
  }
  const [requests, tokens] = [rate('rpm'), rate('tpm')]
  return {
    ...(requests === null ? {} : { requests_per_minute: requests }),
    ...(tokens === null ? {} : { tokens_per_minute: tokens }),
  }
}

/** What a model of text is paid by and has no price of; a price of audio prices none of it. */
function lackingPrices(mode: ImportedModel['modality'], stated: CarriedPrices): string[] {
  const isText = mode === undefined || modalityRow(mode).isConversation
  if (!isText) return []
  const needed = { input_per_million: 'input tokens', output_per_million: 'output tokens' }
  return Object.entries(needed).flatMap(([name, words]) => (stated[name] === undefined ? [words] : []))
}

/**
 * When the file states no price, LiteLLM uses its map. In this gateway a key with a limit cannot use a model without a
 * price.
 */
function unstated(
  entry: YamlValue,
  { unpriced, map, remarks }: { unpriced: Unpriced; map: PriceMap; remarks: Remarks },
): CarriedPrices {
  const found = findPrices(unpriced, map)
  if (found === null) return {}
  if (found === 'unknown') {
    remarks.about(
      entry,
      'has no price here, so keys with a budget are refused its calls: state input_cost_per_token and output_cost_per_token in model_info, or give --prices',
    )
    return {}
  }
  remarks.about(entry, `says no price; that of ${found.source} is carried: ${shownPrices(found.prices)}`)
  return found.prices
}

function shownPrices(found: CarriedPrices): string {
  return Object.entries(found)
    .map(([name, amount]) => `${name} ${amount}`)
    .join(', ')
}

/** Whether this is a positive whole number. */
export function isCount(value: number | null | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0
}
