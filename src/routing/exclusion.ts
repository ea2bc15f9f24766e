import { defaultPreferences } from '../canonical/call.ts'
import type { Preferences } from '../canonical/call.ts'
import { priceAt, type Endpoint } from '../canonical/endpoint.ts'
import type { Price } from '../canonical/usage.ts'
import type { Constraints } from '../canonical/principal.ts'
import { isFree } from '../catalog/prices/compared-price.ts'
import type { Variant } from '../catalog/model-ids.ts'
import { collectsData, isAnyProvider, prohibitionOf } from '../catalog/permissions.ts'
import type { Requirement } from './requirement.ts'

/** The checks of an endpoint, in order. An endpoint that is left out counts under the first check that it fails. */
export const exclusionSteps = [
  'capability',
  'policy',
  'provider.only',
  'provider.ignore',
  'provider.require_parameters',
  'provider.data_collection',
  'provider.zdr',
  'provider.quantizations',
  'provider.enforce_distillable_text',
  'provider.max_price',
  'variant',
  'provider.order',
  'credential',
  'adapt',
] as const

/** The name of one check. */
export type ExclusionStep = (typeof exclusionSteps)[number]

/** An endpoint that will not be tried, and why; shown in the routing metadata. */
export interface Exclusion {
  endpointId: string
  /** Display name of the provider. */
  provider: string
  model: string
  step: ExclusionStep
  /** The step, or the rule or field within it, such as `enforce_zdr` or `diarize`. */
  reason: string
}

/** What an endpoint must satisfy. */
export interface Filter {
  preferences: Preferences
  /** Optional parameters that were sent. */
  parameters: readonly string[]
  /** Estimated input tokens; 0 when they are not known yet. */
  inputTokens: number
  /** A batch's own list of providers, in addition to that of the preferences. */
  providerOnly: readonly string[] | null
  constraints: Constraints
  requirements: readonly Requirement[]
  variant: Variant | null
  /** The operator's own name that the caller asked for; null when the caller asked for a model. */
  name: string | null
}

/** The first check that the endpoint fails, or null. Allocates only when it fails one. */
export function exclusionOf(endpoint: Endpoint, filter: Filter): Exclusion | null {
  for (const requirement of filter.requirements) {
    if (!requirement.supports(endpoint)) return exclude(endpoint, 'capability', requirement.field)
  }
  const prohibition = prohibitionOf(endpoint, filter.constraints, filter.name ?? undefined)
  if (prohibition !== null) return exclude(endpoint, 'policy', prohibition)
  if (filter.providerOnly && !isAnyProvider(endpoint, filter.providerOnly))
    return exclude(endpoint, 'provider.only')
  const step = filter.preferences === defaultPreferences ? null : unwanted(endpoint, filter)
  if (step !== null) return exclude(endpoint, step)
  // A variant `:free` means endpoints without a price, not a discount on the others.
  return filter.variant === 'free' && !isFree(endpoint) ? exclude(endpoint, 'variant', 'free') : null
}

/** The preference that rules the endpoint out, or null. */
function unwanted(
  endpoint: Endpoint,
  { preferences, parameters, inputTokens }: Filter,
): ExclusionStep | null {
  const { only, ignore, quantizations, maxPrice } = preferences
  if (only && !isAnyProvider(endpoint, only)) return 'provider.only'
  if (ignore.length > 0 && isAnyProvider(endpoint, ignore)) return 'provider.ignore'
  if (preferences.requireParameters && !honours(endpoint, parameters)) return 'provider.require_parameters'
  if (preferences.denyDataCollection && collectsData(endpoint)) return 'provider.data_collection'
  if (preferences.requireZdr && !endpoint.dataPolicy.zdr) return 'provider.zdr'
  if (quantizations && !quantizations.includes(endpoint.quantization ?? 'unknown'))
    return 'provider.quantizations'
  // No source says whether a model's author allows distillation.
  if (preferences.requireDistillable) return 'provider.enforce_distillable_text'
  return maxPrice && !isAffordable(priceAt(endpoint, inputTokens), maxPrice) ? 'provider.max_price' : null
}

function honours({ parameters }: Endpoint, sent: readonly string[]): boolean {
  return parameters === null || sent.every((name) => parameters.has(name))
}

/**
 * Whether the price is within all stated limits; an unknown price exceeds every limit. `prompt` limits the price of a
 * character of speech where there are no tokens; `audio` that of a second where audio is billed by time.
 */
function isAffordable(price: Price, maxPrice: NonNullable<Preferences['maxPrice']>): boolean {
  return (
    isWithin(price.inputToken ?? price.character ?? price.utf8Byte, maxPrice.prompt) &&
    isWithin(price.outputToken ?? price.outputAudioToken ?? 0n, maxPrice.completion) &&
    isWithin(
      price.request ?? 0n,
      maxPrice.request === undefined ? undefined : maxPrice.request * 1_000_000n,
    ) &&
    (price.inputAudioToken === undefined && price.audioHour !== undefined
      ? isWithin(price.audioHour, maxPrice.audio && maxPrice.audio * secondsPerHour)
      : isWithin(price.inputAudioToken, maxPrice.audio))
  )
}

const secondsPerHour = 3_600n

function isWithin(amount: bigint | undefined, max: bigint | undefined): boolean {
  return max === undefined || (amount !== undefined && amount <= max)
}

/** An endpoint left out at a step. */
export function exclude(endpoint: Endpoint, step: ExclusionStep, reason: string = step): Exclusion {
  const { id, deployment, model } = endpoint
  return { endpointId: id, provider: deployment.providerName, model, step, reason }
}
