import type { Credential, UpstreamTarget } from '../canonical/credential.ts'
import type { BatchJobs } from '../canonical/batch-jobs.ts'
import {
  knownNameOf,
  type BatchSettings,
  type DataPolicy,
  type Deployment,
  type Endpoint,
  type UpstreamAuth,
} from '../canonical/endpoint.ts'
import { modalityNames, type Modality } from '../canonical/operation.ts'
import {
  type DeploymentSource,
  type OperatorModel,
  type PotentialProvider,
  quotaOf,
} from '../catalog/deployment-source.ts'
import type { Inspection } from '../catalog/inspection.ts'
import { createProviderPrices } from '../catalog/prices/provider-prices.ts'
import { assert } from '../core/assert.ts'
import { isInsideHost } from '../transport/public-address.ts'
import { asMessages } from '../formats/text/messages/quirks.ts'
import type { Identities } from '../transport/identities/identities.ts'
import type { IdentitySettings } from '../transport/identities/identity-world.ts'
import { type Preset, textInterfacesOf } from './define-provider.ts'
import { findPreset, modelRulesOf, presets } from './registry.ts'
import { supportedParameters } from './supported-parameters.ts'

/** A provider as the operator configures it; the members are those of the configuration file, already checked. */
export interface ProviderSettings {
  id?: string | undefined
  preset: string
  name?: string | undefined
  base_url?: string | undefined
  api_key?: string | undefined
  key_form?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
  query?: Readonly<Record<string, string>> | undefined
  region?: string | undefined
  project?: string | undefined
  identity?: IdentitySettings | undefined
  weight: number
  concurrency?: number | undefined
  requests_per_minute?: number | undefined
  tokens_per_minute?: number | undefined
  client?: 'fetch' | undefined
  caller_logins?: boolean | undefined
  cache_marks?: boolean | undefined
  max_tokens_field?: 'max_tokens' | 'max_completion_tokens' | undefined
  discover?: boolean | undefined
  only_models?: boolean | undefined
  models: readonly OperatorModel[]
  batches?: boolean | BatchSettings | undefined
  data_policy?:
    | { zdr?: boolean | undefined; trains?: boolean | undefined; stores?: boolean | undefined }
    | undefined
}

/** A deployment with the operator's own credential for it. */
export interface ConfiguredDeployment extends DeploymentSource {
  credential: Credential
}

/** The preset of a slug that exists. */
export function presetOf(slug: string): Preset {
  const preset = findPreset(slug)
  assert(preset !== null, 'every deployment has a preset')
  return preset
}

/** The batch service of a deployment, with what the operator states of it; null when none is known. */
export function batchJobsOf({ preset, batches }: Pick<Deployment, 'preset' | 'batches'>): BatchJobs | null {
  const { jobs } = presetOf(preset)
  if (jobs === undefined) return null
  return batches === undefined ? jobs : withSettings(jobs, batches)
}

function withSettings(jobs: BatchJobs, settings: BatchSettings): BatchJobs {
  const { limits } = jobs
  const { endpoints = {}, items, bytes, texts, look_seconds: lookSeconds } = settings
  return {
    ...jobs,
    limits: {
      ...limits,
      items: items ?? limits.items,
      bytes: bytes ?? limits.bytes,
      ...(texts === undefined ? {} : { texts }),
    },
    ...(lookSeconds === undefined ? {} : { lookWaitMs: lookSeconds * 1000 }),
    operationOf(request) {
      const operation = jobs.operationOf(request)
      const stated = operation === null ? undefined : endpoints[operation]
      return stated === undefined ? operation : stated
    },
  }
}

/** A batch service that no adapter speaks cannot be used. */
function batchOf({ batches }: ProviderSettings, { batch, jobs }: Preset): Preset['batch'] {
  if (batch === 'none') return batch
  if (jobs === undefined || batches === false) return 'emulated'
  return batches === undefined ? batch : 'native'
}

/** A configured provider in the catalog's form; its preset, base URL and key were checked with the configuration. */
export function toDeploymentSource(
  provider: ProviderSettings,
  identities: Pick<Identities, 'add'> | null = null,
): ConfiguredDeployment {
  const preset = presetOf(provider.preset)
  const id = provider.id ?? preset.slug
  const { isOperatorNamed } = preset
  const deployment: Deployment = {
    id,
    preset: preset.slug,
    provider: isOperatorNamed ? id : preset.slug,
    // Several servers of the operator's own differ by the names that the operator gave them.
    providerName: provider.name ?? (isOperatorNamed ? (provider.id ?? preset.name) : preset.name),
    baseUrl: baseUrlOf(provider, preset),
    ...(provider.client === undefined ? {} : { client: provider.client }),
    ...callerLoginsOf(provider, preset),
    ...(isGuarded(provider, preset) ? { isGuarded: true } : {}),
    ...(provider.cache_marks === true ? { takesCacheMarks: true } : {}),
    ...(provider.max_tokens_field === undefined ? {} : { maxTokensField: provider.max_tokens_field }),
    ...(typeof provider.batches === 'object' ? { batches: provider.batches } : {}),
    region: provider.region ?? null,
    weight: provider.weight,
    concurrencyMax: provider.concurrency ?? null,
    ...quotaOf(provider),
  }
  return {
    deployment,
    credential: {
      reference: { id: `operator:${id}`, isByok: false },
      auth: authOf(provider, preset, identities),
      ...additionsOf(provider, preset),
    },
    author: isOperatorNamed ? id : preset.author,
    modalities: modalitiesOf(preset),
    pricesProviderId: preset.pricesProviderId,
    prices: createProviderPrices(preset.prices, preset.documentedModels),
    ...(preset.hourWrites ? { hourWrites: preset.hourWrites } : {}),
    ...(preset.regional && (provider.region ?? 'global') !== 'global' ? { regional: preset.regional } : {}),
    ...(preset.tiers ? { tiers: preset.tiers } : {}),
    publicName: preset.publicName,
    ...(preset.upstreamOf ? { upstreamOf: preset.upstreamOf } : {}),
    ...(preset.nameBehind ? { nameBehind: preset.nameBehind } : {}),
    ...(preset.familyOfVoice ? { familyOfVoice: preset.familyOfVoice } : {}),
    modelRules: modelRulesOf(preset),
    parametersOf: (endpoint) => supportedParameters(preset.adapters, endpoint),
    outputTokensStatedOf: (upstreamModel, model) => outputTokensStated(preset, { upstreamModel, model }),
    expirationDates: new Map(
      preset.retirements.flatMap(({ upstream, on }) => upstream.map((name): [string, string] => [name, on])),
    ),
    isFree: preset.isLocal,
    ...(preset.freeEnding === undefined ? {} : { freeEnding: preset.freeEnding }),
    onlyListed: preset.onlyListed || provider.only_models === true,
    unlisted: preset.unlisted,
    dataPolicy: withStated(preset.dataPolicy, provider.data_policy ?? {}),
    batch: batchOf(provider, preset),
    audio: preset.audio,
    models: provider.models,
  }
}

/** Anthropic's messages have no call without a limit of output, so one is stated for callers who state none. */
function outputTokensStated(
  { adapters }: Preset,
  named: Pick<Endpoint, 'model' | 'upstreamModel' | 'knownAs'>,
): number | null {
  const asked = { ...named, format: 'messages', parameters: [] } as const
  const chosen = textInterfacesOf(adapters, 'language').find(
    ({ format, serves }) => format === 'messages' && (serves?.(asked) ?? true),
  )
  return chosen === undefined ? null : asMessages(chosen.quirks).modelOf(knownNameOf(named)).outputTokensMax
}

/** The target for questions to a deployment about itself, with the operator's credential. */
export function targetOf({ deployment, credential }: ConfiguredDeployment): UpstreamTarget {
  return { baseUrl: deployment.baseUrl, client: deployment.client, credential }
}

/** The operator may write the URL of its own server as its other clients need it: without the path of the version. */
function baseUrlOf(
  { base_url: given, region = '', project = '' }: ProviderSettings,
  { baseUrl, isLocal, regionHosts }: Preset,
): string {
  const url = (given ?? placed(baseUrl ?? '', { region, project }, regionHosts)).replace(/\/+$/, '')
  const isBare = isLocal && /^https?:\/\/[^/?#]+$/.test(url)
  return isBare ? `${url}/v1` : url
}

/** The preset's address with the deployment's region and project; some regions have hosts of their own. */
function placed(
  url: string,
  { region, project }: { region: string; project: string },
  hosts: Preset['regionHosts'] = {},
): string {
  const host = Object.hasOwn(hosts, region) ? hosts[region] : undefined
  return (host === undefined ? url : url.replace(/^https:\/\/[^/]+/, `https://${host}`))
    .replaceAll('{region}', encodeURIComponent(region))
    .replaceAll('{project}', encodeURIComponent(project))
}

/**
 * Whether its server may be in the operator's own network: by its preset, or by a URL that no hosted provider has. The
 * operator may put its own server under a hosted provider's preset, for example a proxy under `openai`.
 */
function isGuarded({ base_url: given }: ProviderSettings, preset: Preset): boolean {
  if (preset.isSimulator) return false
  if (preset.isLocal || preset.isOperatorNamed) return true
  const url = given === undefined ? null : URL.parse(given)
  if (url === null) return false
  return url.protocol === 'http:' || isInsideHost(url.hostname)
}

function authOf(
  provider: ProviderSettings,
  preset: Preset,
  identities: Pick<Identities, 'add'> | null,
): UpstreamAuth {
  const { id, api_key: secret, key_form: form = '', region = '', identity: settings } = provider
  const { slug, auth, keyForms, identity } = preset
  if (secret !== undefined) return { ...(keyForms[form] ?? auth), secret }
  // A resource of Azure without a key may be behind a proxy that adds one.
  const isAmbient = identity?.kind !== 'entra'
  if (identity === null || identities === null || (!isAmbient && settings === undefined))
    return { type: 'none' }
  const baseUrl = baseUrlOf(provider, preset)
  return identities.add({
    deploymentId: id ?? slug,
    fetch: identity.fetch,
    region,
    baseUrl,
    settings: settings ?? {},
  })
}

/** Only headers of the preset, because a header that the operator adds may be a secret. */
function callerLoginsOf(
  { caller_logins: isAllowed, base_url: given }: ProviderSettings,
  { baseUrl, headers }: Preset,
): Pick<Deployment, 'callerLogins'> {
  const isOfficial = given === undefined && baseUrl?.startsWith('https://')
  return isAllowed === true && isOfficial ? { callerLogins: { headers } } : {}
}

function additionsOf(
  { headers = {}, query = {} }: ProviderSettings,
  preset: Preset,
): Pick<Credential, 'additions'> {
  const given = [...Object.entries(preset.headers), ...Object.entries(headers)]
  const lowerCase = given.map(([name, value]) => [name.toLowerCase(), value])
  if (lowerCase.length + Object.keys(query).length === 0) return {}
  return { additions: { headers: Object.fromEntries(lowerCase), query } }
}

/** The path of a configured provider's listing below its base URL; null when it must not be asked. */
export function listingPathOf({
  preset,
  discover,
  only_models: isClosed,
}: Pick<ProviderSettings, 'preset' | 'discover' | 'only_models'>): string | null {
  return discover === false || isClosed === true ? null : (presetOf(preset).listing?.path ?? null)
}

/** How to ask a configured provider about its models; null when it must not be asked. */
export function inspectionOf({
  preset,
  discover,
}: Pick<ProviderSettings, 'preset' | 'discover'>): Inspection | null {
  return discover === false ? null : presetOf(preset).inspection
}

/** The simulator as a provider; it takes any key. */
export function simulatorSettings(url: string): ProviderSettings {
  const preset = presets.find(({ isSimulator }) => isSimulator)
  assert(preset !== undefined, 'the simulator has a preset')
  return { preset: preset.slug, base_url: `${url}/v1`, api_key: preset.slug, weight: 1, models: [] }
}

/** Providers that could be configured too, so that an error can say which of them would serve the requested model. */
export function potentialProviders(
  configured: readonly ProviderSettings[],
  env: Readonly<Record<string, string | undefined>> = {},
): PotentialProvider[] {
  const known = new Set(configured.map(({ preset }) => preset))
  return presets.flatMap((preset) => {
    const { slug, author, pricesProviderId, publicName, keyVariable } = preset
    if (keyVariable === null || known.has(slug)) return []
    const prices = createProviderPrices(preset.prices, preset.documentedModels)
    // A variable with a value would have switched the provider on.
    const ignored = env[keyVariable] ? { ignoredFor: slug } : {}
    return [{ author, pricesProviderId, prices, publicName, keyVariable, ...ignored }]
  })
}

function withStated(policy: DataPolicy, stated: NonNullable<ProviderSettings['data_policy']>): DataPolicy {
  return {
    zdr: stated.zdr ?? policy.zdr,
    trains: stated.trains ?? policy.trains,
    stores: stated.stores ?? policy.stores,
  }
}

function modalitiesOf({ adapters }: Preset): Modality[] {
  return modalityNames.filter((modality) => adapters[modality] !== undefined)
}
