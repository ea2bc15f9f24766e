import type { SpeechAdapter, TranscriptionAdapter } from '../canonical/audio.ts'
import type { BatchJobs } from '../canonical/batch-jobs.ts'
import type { AudioCapabilities, AuthScheme, DataPolicy, Endpoint } from '../canonical/endpoint.ts'
import { isSoundModality, type Modality, type TextModality } from '../canonical/operation.ts'
import type { ModelRule } from '../catalog/capabilities.ts'
import type { FetchLogin } from '../transport/identities/identity-world.ts'
import type { Inspection } from '../catalog/inspection.ts'
import { inOnePart } from '../catalog/model-ids.ts'
import type { HourRule, PriceEntry, RegionRule, TierRule } from '../catalog/prices/provider-prices.ts'
import type { TextInterface } from '../formats/text/text-interface.ts'

/**
 * The adapters of a provider. A provider supports exactly the modalities that have an adapter. A text modality has a
 * list of interfaces, one for each format; a translation uses the first.
 */
export type Adapters = { [Name in TextModality]?: readonly TextInterface[] } & {
  transcription?: TranscriptionAdapter
  speech?: SpeechAdapter
}

/** The interfaces for text models of a kind; empty for kinds of sound. */
export function textInterfacesOf(adapters: Adapters, modality: Modality): readonly TextInterface[] {
  return (isSoundModality(modality) ? undefined : adapters[modality]) ?? []
}

/**
 * Models, by the provider's names, that it shuts down on a day (`YYYY-MM-DD`), with the source and its month
 * (`YYYY-MM`).
 */
export interface Retirement {
  upstream: readonly string[]
  on: string
  source: string
  seen: string
}

/** The parts of a base URL that belong to a deployment, with the names of variables that tell them. */
export type PlaceVariables = Readonly<Partial<Record<'region' | 'project', readonly string[]>>>

/** Whose logins they are. */
export type IdentityKind = 'aws' | 'google' | 'entra' | 'databricks' | 'snowflake'

/** All that the gateway knows about a provider before the operator configures it. Immutable data. */
export interface Preset {
  /** The tag of the provider: callers use it in `provider.only`, and the configuration in `preset`. */
  slug: string
  /** The provider's name in the `provider` field of answers. */
  name: string
  /**
   * The evidence for its adapters: replies that it really sent, which `test/recordings` replays, or only its
   * documentation. Only a recorded provider is called supported.
   */
  status: 'recorded' | 'documented only'
  /**
   * Without a trailing slash; null when the operator must name it. `{region}` and `{project}` stand for what the operator
   * says of the deployment.
   */
  baseUrl: string | null
  /** Hosts of regions that are not named as the others; absent where there are none. */
  regionHosts?: Readonly<Record<string, string>>
  /** Variables from which these are read where the configuration has none, in order. */
  placeVariables: PlaceVariables
  /**
   * Where its logins are valid for a while, or are found on the machine. Null where it takes only a key. Amazon's and Google's
   * serve where the configuration has no key; the others must be asked for.
   */
  identity: { kind: IdentityKind; fetch: FetchLogin } | null
  /**
   * The allowed endings of the operator's URL, the usual one first, when the ending decides the form of the API; empty
   * when any URL will do.
   */
  baseUrlEndings: readonly string[]
  /**
   * The place of the key in a request. Without a `keyVariable` the key is optional and is sent when one is configured.
   */
  auth: AuthScheme
  /** Other places of the key, by the name that the configuration's `key_form` uses. */
  keyForms: Readonly<Record<string, AuthScheme>>
  /** Headers of every request, such as the version of its API; the operator's own headers win. */
  headers: Readonly<Record<string, string>>
  /** The environment variable of the key; null when there is none. */
  keyVariable: string | null
  /**
   * The environment variable of the base URL. For a server that the operator runs, it also switches the provider on.
   */
  baseUrlVariable: string | null
  /**
   * The author in public model ids when the provider's name of a model has none: OpenRouter's spelling, such as `x-ai`
   * or `z-ai`, which may differ from the slug. For a host that OpenRouter does not name, the slug.
   */
  author: string
  /** The request that lists its models; null when the provider has no listing. */
  listing: { path: string; shape: 'openai' | 'bare_array' | 'pages' } | null
  /** How to ask its server about a model when the listing lacks the facts; null when there is no way. */
  inspection: Inspection | null
  /**
   * True for servers on the operator's own machines: they cost nothing, and only the listing says which models exist.
   */
  isLocal: boolean
  /** True when only the listing or the operator says which models exist; a model with a price may not exist. */
  onlyListed: boolean
  /** Models that its listing omits because they have their own interface. */
  unlisted: readonly string[]
  /** True when the operator names the provider; callers then select it by the id and name of its deployment. */
  isOperatorNamed: boolean
  /** True only for the simulator, which documents do not list among the providers. */
  isSimulator: boolean
  /** The provider's id in the price package, or null. */
  pricesProviderId: string | null
  /** The ending of its free models' names, such as `:free`; absent when names do not tell. */
  freeEnding?: string
  /** Prices and rules of counting that the package lacks or has wrong. */
  prices: readonly PriceEntry[]
  /** Models that it shuts down, and when; dates in its own listing win. */
  retirements: readonly Retirement[]
  /**
   * Models in its documentation, for a provider without a listing and without prices; the operator states their prices.
   */
  documentedModels: readonly string[]
  /** The price of its cache writes for an hour, when only the other price is known; absent when it has no rule. */
  hourWrites?: HourRule
  /** What models cost more in a region than in `global`, whose prices the lists state; absent when it has no rule. */
  regional?: RegionRule
  /** The prices of its service tiers, as fractions of the usual price; absent when it has no rule. */
  tiers?: readonly TierRule[]
  /**
   * The public part of a model's name: without what only belongs to the provider's paths. For a server whose models the
   * operator loads, the result has no slash, so that such a model never gets another maker's id.
   */
  publicName: (upstreamModel: string) => string
  /** Its name of a model that the operator names by a public id alone; by default the id without the author. */
  upstreamOf?: (id: string) => string
  /** Its name of the model behind an address that tells none, such as a profile's, by the public id; else the same name. */
  nameBehind?: (upstreamModel: string, id: string) => string
  /**
   * The family that serves a model name with a voice in it, so that not every voice must be listed; null for other
   * names.
   */
  familyOfVoice?: (upstreamModel: string) => string | null
  /** What names tell about the models that it made, at its own host and at hosts of many makers. */
  family: readonly ModelRule[]
  /** What names tell about models only at this host, such as its own limits. These rules come before every family's. */
  modelRules: readonly ModelRule[]
  /** It serves models of other makers, or any model that the operator loads, so the families of all providers apply. */
  hostsManyMakers: boolean
  /** From its terms for API customers; an unknown value counts as the worse one. The operator can state others. */
  dataPolicy: DataPolicy
  /** How batches run on it. */
  batch: Endpoint['batch']
  /** Its own batch service; absent when it has none, or none that is known well enough. */
  jobs?: BatchJobs
  adapters: Adapters
  /** Changes that its audio adapters make to the capabilities suggested by a model's name. */
  audio: { transcription?: Partial<AudioCapabilities>; speech?: Partial<AudioCapabilities> }
  /**
   * The audio operations whose real replies `test/recordings` replays; the others were written from its documentation
   * only.
   */
  recordedAudio: readonly ('transcription' | 'speech')[]
}

type Optional =
  | 'status'
  | 'placeVariables'
  | 'identity'
  | 'baseUrlEndings'
  | 'auth'
  | 'keyForms'
  | 'headers'
  | 'keyVariable'
  | 'baseUrlVariable'
  | 'listing'
  | 'inspection'
  | 'isLocal'
  | 'onlyListed'
  | 'unlisted'
  | 'isOperatorNamed'
  | 'isSimulator'
  | 'pricesProviderId'
  | 'prices'
  | 'retirements'
  | 'documentedModels'
  | 'publicName'
  | 'family'
  | 'modelRules'
  | 'hostsManyMakers'
  | 'dataPolicy'
  | 'batch'
  | 'audio'
  | 'recordedAudio'

/** The key's place at most providers. */
export const bearer: AuthScheme = { type: 'header', name: 'authorization', prefix: 'Bearer ' }

const unknownPolicy: DataPolicy = { zdr: false, trains: true, stores: true }

/** Completes a row with the defaults: a hosted provider with a key, OpenAI's listing, and an unknown data policy. */
export function defineProvider(row: Omit<Preset, Optional> & Partial<Pick<Preset, Optional>>): Preset {
  return Object.freeze({
    status: 'documented only',
    placeVariables: {},
    identity: null,
    baseUrlEndings: [],
    auth: bearer,
    keyForms: {},
    headers: {},
    keyVariable: null,
    baseUrlVariable: null,
    listing: { path: '/models', shape: 'openai' },
    inspection: null,
    isLocal: false,
    onlyListed: row.isLocal ?? false,
    unlisted: [],
    isOperatorNamed: false,
    isSimulator: false,
    pricesProviderId: null,
    prices: [],
    retirements: [],
    documentedModels: [],
    publicName: row.isLocal || row.isOperatorNamed ? inOnePart : (upstreamModel) => upstreamModel,
    family: [],
    modelRules: [],
    hostsManyMakers: false,
    dataPolicy: unknownPolicy,
    batch: 'emulated',
    audio: {},
    recordedAudio: [],
    ...row,
  } satisfies Preset)
}

/** Restricts an interface to some models or calls of a provider. */
export function onlyFor(
  serves: NonNullable<TextInterface['serves']>,
  interfaceOfSome: TextInterface,
): TextInterface {
  return { ...interfaceOfSome, serves }
}

/** Accepts models whose public id or provider's name matches. */
export function named(pattern: RegExp): (asked: Pick<Endpoint, 'model' | 'upstreamModel'>) => boolean {
  return ({ model, upstreamModel }) => pattern.test(model) || pattern.test(upstreamModel)
}

/** Accepts all other models. */
export function notNamed(pattern: RegExp): NonNullable<TextInterface['serves']> {
  const isNamed = named(pattern)
  return (asked) => !isNamed(asked)
}
