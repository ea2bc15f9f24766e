import type { SpeechAdapter, TranscriptionAdapter } from '../canonical/audio.ts'
import type { AudioCapabilities, AuthScheme, DataPolicy, Endpoint } from '../canonical/endpoint.ts'
import { isSoundModality, type Modality, type TextModality } from '../canonical/operation.ts'
import type { ModelRule } from '../catalog/capabilities.ts'
import type { Inspection } from '../catalog/inspection.ts'
import { inOnePart } from '../catalog/model-ids.ts'
import type { HourRule, PriceEntry, TierRule } from '../catalog/prices/provider-prices.ts'
import type { TextInterface } from '../formats/text/text-interface.ts'

/**
 * What a provider can do. A modality is supported when its adapter is here. A modality of text has interfaces, several
 * where its models can be asked in several formats; the first is asked where a translation is needed.
 */
export type Adapters = { [Name in TextModality]?: readonly TextInterface[] } & {
  transcription?: TranscriptionAdapter
  speech?: SpeechAdapter
}

/** The interfaces through which models of a kind are asked with text; none for kinds of sound. */
export function textInterfacesOf(adapters: Adapters, modality: Modality): readonly TextInterface[] {
  return (isSoundModality(modality) ? undefined : adapters[modality]) ?? []
}

/** Models, by the provider's own names, that it shuts down on a day (`YYYY-MM-DD`), with where and when (`YYYY-MM`) that was read. */
export interface Retirement {
  upstream: readonly string[]
  on: string
  source: string
  seen: string
}

/** Everything the gateway knows about a provider before the operator has said anything. Immutable data. */
export interface Preset {
  /** The tag callers use in `provider.only`, and what `preset` in the configuration names. */
  slug: string
  /** What callers see in the `provider` field. */
  name: string
  /**
   * What its adapters were checked against: replies that it really gave, which `test/recordings` replays, or its documents
   * alone. Only the first is called supported.
   */
  status: 'recorded' | 'documented only'
  /** Without a trailing slash; null when the operator must name it. */
  baseUrl: string | null
  /**
   * How the operator's address must end, the usual ending first, where the ending says in which of its forms it is asked;
   * empty where any address will do.
   */
  baseUrlEndings: readonly string[]
  /** Where its key travels. Without a `keyVariable` the key is optional, and sent when one is configured. */
  auth: AuthScheme
  /** Other ways in which a key travels there, by the name that `key_form` in the configuration gives them. */
  keyForms: Readonly<Record<string, AuthScheme>>
  /** What every request of it carries besides, such as the version of its interface; the operator's own win. */
  headers: Readonly<Record<string, string>>
  /** Environment variable of the key, null when there is none. */
  keyVariable: string | null
  /** Environment variable of the base URL, which for a server the operator runs also switches the provider on. */
  baseUrlVariable: string | null
  /**
   * Author of public model ids where the provider's own name for a model has none: how OpenRouter spells it, such as `x-ai`
   * or `z-ai`, which is not always the slug. Of a host that OpenRouter does not name, the slug.
   */
  author: string
  /** How to ask which models there are; null when the provider has no listing. */
  listing: { path: string; shape: 'openai' | 'bare_array' | 'pages' } | null
  /** How its server is asked what a model is, where the listing does not say; null when it has no way to tell. */
  inspection: Inspection | null
  /** True for servers on the operator's own machines: nothing costs anything, and only the listing says what exists. */
  isLocal: boolean
  /** True where only the listing or the operator says what exists; what has a price need not be there. */
  onlyListed: boolean
  /** Models that its listing leaves out, because they have an interface of their own. */
  unlisted: readonly string[]
  /** True where the provider is whatever the operator names: callers then choose it by its deployment's own id and name. */
  isOperatorNamed: boolean
  /** True of the simulator, which no document lists among the providers. */
  isSimulator: boolean
  /** The provider's id in the price package, or null. */
  pricesProviderId: string | null
  /** How its names of models end that cost nothing, such as `:free`; absent where names do not tell. */
  freeEnding?: string
  /** Prices and rules of counting that the package lacks or has wrong. */
  prices: readonly PriceEntry[]
  /** Models that it shuts down, and when; what its own listing says of a model goes before. */
  retirements: readonly Retirement[]
  /** Models that its documents name, for a provider that neither lists nor prices them; what they cost the operator says. */
  documentedModels: readonly string[]
  /** What its cache writes for an hour cost where only the price of others is known; absent where it has no rule. */
  hourWrites?: HourRule
  /** What its service tiers cost, as a fraction of the usual price; absent where it has no rule. */
  tiers?: readonly TierRule[]
  /**
   * A model's name without what is only an address of the provider's; the public id is made of it. Of a server that serves
   * whatever its operator loads it has no slash, so that what such a server lists is never the id of another's model.
   */
  publicName: (upstreamModel: string) => string
  /** The family that serves a name with a voice in it, so that not every voice need be listed; null of other names. */
  familyOfVoice?: (upstreamModel: string) => string | null
  /** What names tell of the models that it made, here and at every host of many makers. */
  family: readonly ModelRule[]
  /** What names tell of its models here alone, such as limits of its own. Counts before every family. */
  modelRules: readonly ModelRule[]
  /** It serves what others made, or whatever the operator loads: the families of all providers count. */
  hostsManyMakers: boolean
  /** As its terms for API customers say; what is not known counts as the worse. The operator can state otherwise. */
  dataPolicy: DataPolicy
  /** How batches run on it. */
  batch: Endpoint['batch']
  adapters: Adapters
  /** What its audio adapters add to or take from what a model's name suggests. */
  audio: { transcription?: Partial<AudioCapabilities>; speech?: Partial<AudioCapabilities> }
  /** Of what real replies are replayed in `test/recordings`; the rest of its audio was written after its documents alone. */
  recordedAudio: readonly ('transcription' | 'speech')[]
}

type Optional =
  | 'status'
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

/** What most providers take. */
export const bearer: AuthScheme = { type: 'header', name: 'authorization', prefix: 'Bearer ' }

const unknownPolicy: DataPolicy = { zdr: false, trains: true, stores: true }

/** Completes a row with what is usual: a hosted provider with a key, OpenAI's listing, and an unknown data policy. */
export function defineProvider(row: Omit<Preset, Optional> & Partial<Pick<Preset, Optional>>): Preset {
  return Object.freeze({
    status: 'documented only',
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

/** An interface that is asked in these cases alone, where a provider answers some models or calls in another way. */
export function onlyFor(
  serves: NonNullable<TextInterface['serves']>,
  interfaceOfSome: TextInterface,
): TextInterface {
  return { ...interfaceOfSome, serves }
}

/** Says yes to models whose public id or name at the provider fits. */
export function named(pattern: RegExp): (asked: Pick<Endpoint, 'model' | 'upstreamModel'>) => boolean {
  return ({ model, upstreamModel }) => pattern.test(model) || pattern.test(upstreamModel)
}

/** Says yes to all other models. */
export function notNamed(pattern: RegExp): NonNullable<TextInterface['serves']> {
  const isNamed = named(pattern)
  return (asked) => !isNamed(asked)
}
