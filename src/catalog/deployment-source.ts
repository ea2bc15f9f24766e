import type { AudioCapabilities, DataPolicy, Deployment, Endpoint, Quota } from '../canonical/endpoint.ts'
import type { Modality } from '../canonical/operation.ts'
import type { ModelRule } from './capabilities.ts'
import type { OperatorAudio } from './operator-audio.ts'
import type { OperatorPrices } from './prices/operator-prices.ts'
import type { HourRule, RegionRule, TierRule, ProviderPrices } from './prices/provider-prices.ts'

/** A model that the operator describes for a deployment; the members are those of the configuration file. */
export interface OperatorModel {
  /** The public id. */
  id: string
  /** The provider's name for it; by default the part of the id after the author. */
  upstream?: string | undefined
  /** When absent, the modality that the provider tells, or else language. */
  modality?: Modality | undefined
  prices?: OperatorPrices | undefined
  audio?: OperatorAudio | undefined
  context_length?: number | undefined
  output_tokens_max?: number | undefined
  /** The name that the provider's batch service knows. */
  batch_upstream?: string | undefined
  requests_per_minute?: number | undefined
  tokens_per_minute?: number | undefined
}

/** A deployment, with what its preset and the operator say about its models. */
export interface DeploymentSource {
  deployment: Deployment
  /** The author in the public ids of models whose own name has none. */
  author: string
  /** Modalities that the provider has an adapter for; other models are not offered. */
  modalities: readonly Modality[]
  /** The provider's id in the price package, or null. */
  pricesProviderId: string | null
  /** The prices that its provider's folder has. */
  prices: ProviderPrices
  /** A model's name without the parts that are only an address at this provider. */
  publicName: (upstreamModel: string) => string
  /** As of a preset. */
  upstreamOf?: (id: string) => string
  /** As of a preset. */
  nameBehind?: (upstreamModel: string, id: string) => string
  /** The family of a model whose name has a voice in it, as `familyOfVoice` of a preset says. */
  familyOfVoice?: (upstreamModel: string) => string | null
  /** Rules for the names of its models. */
  modelRules: readonly ModelRule[]
  /** The parameters that an endpoint of it honours, as `Endpoint.parameters`; called before that member is set. */
  parametersOf: (endpoint: Endpoint) => ReadonlySet<string> | null
  /**
   * The limit of output that is stated to a model's provider where none is known, as `Endpoint.outputTokensStated`; null where
   * its format needs none. Absent like null.
   */
  outputTokensStatedOf?: (upstreamModel: string, model: string) => number | null
  /** How to derive the price of cache writes for an hour from that of other writes; absent when the provider has no rule. */
  hourWrites?: HourRule
  /** How the prices of its region follow from the listed ones; absent where they are the same. */
  regional?: RegionRule
  /** The days on which the provider shuts models down, `YYYY-MM-DD`, by its own names for them. */
  expirationDates?: ReadonlyMap<string, string>
  /** How to derive the prices of service tiers that no source states; absent when the provider has no rule. */
  tiers?: readonly TierRule[]
  /** All its models cost nothing, as on the operator's own server. */
  isFree: boolean
  /** The ending of the names of free models; absent when names do not tell. */
  freeEnding?: string
  /** Only the listing tells which models exist; before the first listing only the operator's models are offered. */
  onlyListed: boolean
  /** Models that its listing leaves out. */
  unlisted?: readonly string[]
  dataPolicy: DataPolicy
  batch: Endpoint['batch']
  /** Changes by the provider's adapters to the audio capabilities of its models. */
  audio?: { transcription?: Partial<AudioCapabilities>; speech?: Partial<AudioCapabilities> } | undefined
  models: readonly OperatorModel[]
}

/** A provider that is not configured; errors name it when it would serve the requested model. */
export interface PotentialProvider {
  author: string
  pricesProviderId: string | null
  prices: ProviderPrices
  publicName: (upstreamModel: string) => string
  /** The environment variable that would switch it on. */
  keyVariable: string
  /** Set when the variable has a value that the configuration ignores; a provider of this preset would be needed then. */
  ignoredFor?: string
}

/** The quota that the operator states of a model or of a whole provider; nothing where none is stated. */
export function quotaOf(
  stated: Pick<OperatorModel, 'requests_per_minute' | 'tokens_per_minute'> | null | undefined,
): { quota?: Quota } {
  const { requests_per_minute: requests, tokens_per_minute: tokens } = stated ?? {}
  if (requests === undefined && tokens === undefined) return {}
  return { quota: { requestsPerMinute: requests ?? null, tokensPerMinute: tokens ?? null } }
}
