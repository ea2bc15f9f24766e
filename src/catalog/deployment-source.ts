import type { AudioCapabilities, DataPolicy, Deployment, Endpoint } from '../canonical/endpoint.ts'
import type { Modality } from '../canonical/operation.ts'
import type { ModelRule } from './capabilities.ts'
import type { OperatorAudio } from './operator-audio.ts'
import type { OperatorPrices } from './operator-prices.ts'
import type { HourRule, TierRule, PriceOverlay } from './price-overlay.ts'

/** A model that the operator describes for a deployment; the members are those of the configuration file. */
export interface OperatorModel {
  /** The public id. */
  id: string
  /** The name the provider knows; by default the part of the id after the author. */
  upstream?: string | undefined
  /** Left out, it is what the provider tells, or else a language model. */
  modality?: Modality | undefined
  prices?: OperatorPrices | undefined
  audio?: OperatorAudio | undefined
  context_length?: number | undefined
  output_tokens_max?: number | undefined
}

/** A deployment with what its preset and the operator say about its models. */
export interface DeploymentSource {
  deployment: Deployment
  /** Author of the public ids of models whose own name has none. */
  author: string
  /** Modalities the provider has an adapter for; models of others are not offered. */
  modalities: readonly Modality[]
  /** The provider's id in the price package, or null. */
  pricesProviderId: string | null
  /** What the gateway itself knows of its prices. */
  prices: PriceOverlay
  /** A model's name without what is only an address of the provider's. */
  publicName: (upstreamModel: string) => string
  /** The family of a model whose name has a voice in it, as `familyOfVoice` of a preset says. */
  familyOfVoice?: (upstreamModel: string) => string | null
  /** What names tell of its models. */
  modelRules: readonly ModelRule[]
  /** Which parameters an endpoint of it honours, as `parameters` of the endpoint says; asked before that is set. */
  parametersOf: (endpoint: Endpoint) => ReadonlySet<string> | null
  /** What cache writes for an hour cost where only the price of others is known; absent where the provider has no rule. */
  hourWrites?: HourRule
  /** The days on which the provider shuts models down, `YYYY-MM-DD`, by its own names for them. */
  expirationDates?: ReadonlyMap<string, string>
  /** What service tiers cost where nobody states it; absent where the provider has no rule. */
  tiers?: readonly TierRule[]
  /** Everything costs nothing here, as on a server the operator runs himself. */
  isFree: boolean
  /** How the names of models end that cost nothing here; left out where names do not tell. */
  freeEnding?: string
  /** Only its listing tells which models exist; before the first listing there are none but the operator's. */
  onlyListed: boolean
  /** Models that its listing leaves out. */
  unlisted?: readonly string[]
  dataPolicy: DataPolicy
  batch: Endpoint['batch']
  /** What the provider's adapters change about the audio capabilities of its models. */
  audio?: { transcription?: Partial<AudioCapabilities>; speech?: Partial<AudioCapabilities> } | undefined
  models: readonly OperatorModel[]
}

/** A provider that is not configured, for telling people what would serve the model they asked for. */
export interface PotentialProvider {
  author: string
  pricesProviderId: string | null
  prices: PriceOverlay
  publicName: (upstreamModel: string) => string
  /** The environment variable that would switch it on. */
  keyVariable: string
}
