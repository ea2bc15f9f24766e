import { modalityNames, modalityRow } from '../../canonical/operation.ts'
import { traitsOf } from '../../catalog/capabilities.ts'
import { toPublicId } from '../../catalog/model-ids.ts'
import { concurrencyMax } from '../../core/limits/cli.ts'
import type { Preset } from '../../providers/define-provider.ts'
import { modelRulesOf } from '../../providers/registry.ts'
import { idOfAddress, type Address } from './litellm-address.ts'
import {
  foreignVariables,
  locateEntry,
  setVariable,
  type EntryPlace,
  type EntrySources,
  type LocatedEntry,
  type Parameter,
} from './litellm-entry.ts'
import { isCount, readModel, type ImportedModel } from './litellm-model.ts'
import type { PriceMap } from './litellm-prices.ts'
import { environmentOf, type LitellmModel } from './litellm-providers.ts'
import { carrySecret, plainText, type CarriedSecret, type ValueSources } from './litellm-values.ts'
import type { Remarks } from './remarks.ts'
import type { YamlValue } from './yaml-tree.ts'

/** A provider as it will be written to the configuration file. */
export interface ImportedProvider {
  id: string
  preset: string
  base_url?: string
  api_key?: string
  headers?: Record<string, string>
  query?: Readonly<Record<string, string>>
  concurrency?: number
  only_models?: true
  models: ImportedModel[]
}

/** One entry of `model_list`, as this gateway serves it. */
export interface ImportedDeployment {
  /** The place of the entry in the file. */
  entry: Pick<YamlValue, 'line' | 'path'>
  /** The model name that callers of LiteLLM use. */
  name: string
  /** The id by which a fallback may refer to it; null for none. */
  ownId: string | null
  /** Whether the entry is a pattern, which stands for all models of its provider. */
  isPattern: boolean
  /** Whether callers may use the same ids here for models of a pattern. */
  keepsIds: boolean
  model: string
  provider: string
  /** Lower values come first; null comes last. */
  order: number
  weight: number | null
  rpm: number | null
  tpm: number | null
  accessGroups: readonly string[]
}

/** The results of reading `model_list`. */
export interface ImportedList {
  providers: readonly ImportedProvider[]
  deployments: readonly ImportedDeployment[]
  /** The secrets by the name of their file. */
  secrets: ReadonlyMap<string, string>
  /** Variables that the deployments name, or from which LiteLLM takes their keys, imported or not. */
  variables: ReadonlySet<string>
}

interface Sources extends EntrySources {
  map: PriceMap
}

/** Reads `model_list` into providers, one for each URL and key, with the models of their entries. */
export function readDeployments(
  file: YamlValue,
  values: ValueSources & { map: PriceMap },
  remarks: Remarks,
): ImportedList {
  const providers = new Map<string, ImportedProvider>()
  const secrets = new Map<string, string>()
  const variables = new Set<string>()
  const base = file.member('litellm_settings')?.member('api_base')?.text() || null
  const sources = { ...values, credentials: readCredentials(file), base }
  const entries = (file.member('model_list')?.items() ?? []).map((entry) => locateEntry(entry, sources))
  const foreign = foreignVariables(entries)
  const deployments = entries.flatMap((located) => {
    const found = readEntry(located, { sources, remarks, providers, secrets, variables, foreign })
    return found ? [found] : []
  })
  return { providers: [...providers.values()], deployments, secrets, variables }
}

function readCredentials(file: YamlValue): Map<string, YamlValue> {
  const entries = (file.member('credential_list')?.items() ?? []).flatMap((entry): [string, YamlValue][] => {
    const name = entry.member('credential_name')?.text()
    const values = entry.member('credential_values')
    return name != null && values ? [[name, values]] : []
  })
  return new Map(entries)
}

interface Reading {
  sources: Sources
  remarks: Remarks
  providers: Map<string, ImportedProvider>
  secrets: Map<string, string>
  variables: Set<string>
  /** Variables with keys of other servers, and a deployment of each. */
  foreign: ReadonlyMap<string, string>
}

function readEntry({ entry, named, place }: LocatedEntry, reading: Reading): ImportedDeployment | null {
  const { sources, remarks, variables } = reading
  const refuse = (message: string): null => {
    entry.readAll()
    remarks.about(entry, `the deployment is not carried: ${message}`)
    return null
  }
  for (const variable of named) variables.add(variable)
  if (typeof place === 'string') return refuse(place)
  const { name, parameter, asked, address } = place
  const isPattern = name.includes('*')
  const patternFault = patternFaultOf(isPattern, asked)
  if (patternFault !== null) return refuse(patternFault)
  const mode = readMode(entry)
  if (mode === null) return refuse('there is no operation for its mode here')
  const unsent = unsendable(parameter, sources)
  if (unsent !== null) return refuse(`its ${unsent} can stand in no header`)
  const key = keyOf(place, reading)
  if (key.fault !== null) return refuse(key.fault)
  const provider = providerFor(place, key.text, reading)
  if (place.baseVariable !== null)
    remarks.about(
      entry,
      `says no api_base; LiteLLM takes the address in ${place.baseVariable}, which is carried: ${address.baseUrl}`,
    )
  const keepsIds = isPattern && isOwnPattern(name, asked.provider, address.preset)
  if (isPattern && !keepsIds)
    remarks.about(
      entry,
      `all models of ${nameOf(provider, address.preset)} are offered, but by their ids here (npx headrace models), not as "${name}"`,
    )
  const model = modelOf(entry, {
    provider,
    preset: address.preset,
    asked,
    map: sources.map,
    upstream: address.deployment ?? asked.name,
    isPattern,
    mode,
    parameter,
    remarks,
  })
  const info = entry.member('model_info')
  return {
    entry,
    name,
    ownId: info?.member('id')?.text() ?? null,
    isPattern,
    keepsIds,
    model,
    provider: provider.id,
    order: (parameter('order') ?? info?.member('order'))?.number() ?? Number.POSITIVE_INFINITY,
    weight: parameter('weight')?.number() ?? null,
    rpm: parameter('rpm')?.number() ?? null,
    tpm: parameter('tpm')?.number() ?? null,
    accessGroups: (info?.member('access_groups')?.items() ?? []).flatMap((one) => one.text() ?? []),
  }
}

function patternFaultOf(isPattern: boolean, { name }: LitellmModel): string | null {
  if (isPattern !== name.includes('*')) return 'only one of model_name and model is a pattern'
  return isPattern && name !== '*'
    ? 'a pattern is carried for all models of a provider, provider/*, only'
    : null
}

const headerNamePattern = /^[\w!#$%&'*+.^`|~-]{1,128}$/
const headerValuePattern = /^[\x20-\x7e\xa0-\xff]*$/

/** The first parameter with characters that a request cannot carry; null when all can be sent. */
function unsendable(parameter: Parameter, sources: Sources): string | null {
  const canBeSent = (value: YamlValue | null) =>
    headerValuePattern.test((plainText(value?.text() ?? '', sources) ?? '').trim())
  for (const name of ['api_key', 'organization']) if (!canBeSent(parameter(name))) return name
  const headers = parameter('extra_headers')?.members() ?? []
  const isSent = headers.every(([name, value]) => headerNamePattern.test(name) && canBeSent(value))
  return isSent ? null : 'extra_headers'
}

/** Undefined when it is not stated; null for a mode that no operation serves. */
function readMode(entry: YamlValue): ImportedModel['modality'] | undefined | null {
  const mode = entry.member('model_info')?.member('mode')?.text()
  if (mode == null) return undefined
  return modalityNames.find((name) => modalityRow(name).importedModes.includes(mode)) ?? null
}

/**
 * The key of a deployment: its own, or the one that LiteLLM takes from a variable; null for none. It is a fault when that
 * variable has the key of another server, because the official address would get that key.
 */
function keyOf(
  { name, parameter, asked, preset, address, baseVariable }: EntryPlace,
  { sources, variables, foreign }: Reading,
): { text: string | null; fault: string | null } {
  const own = parameter('api_key')?.text() || null
  if (own !== null) return { text: own, fault: null }
  const { keyVariable } = preset
  if (address.baseUrl === undefined) {
    const user = keyVariable === null ? undefined : foreign.get(keyVariable)
    if (user !== undefined)
      return {
        text: null,
        fault: `"${name}" has no api_key, and ${keyVariable} has the key of another server, by ${user}, which ${preset.name} must not get: give "${name}" an api_key of its own (os.environ/ and a variable of another name), then import again`,
      }
    const isOfFile = keyVariable !== null && sources.variables.has(keyVariable)
    return { text: isOfFile ? `os.environ/${keyVariable}` : null, fault: null }
  }
  // In this case LiteLLM sends the key in the provider's own variable.
  const { keys } = environmentOf(asked.provider)
  for (const variable of keys) variables.add(variable)
  const variable = baseVariable === null ? null : setVariable(keys, sources)
  return { text: variable === null ? null : `os.environ/${variable}`, fault: null }
}

/** The provider with this URL and key; several entries may share it. */
function providerFor(
  { address, parameter }: EntryPlace,
  key: string | null,
  reading: Reading,
): ImportedProvider {
  const { providers, sources, secrets } = reading
  const headers = Object.fromEntries(
    (parameter('extra_headers')?.members() ?? []).flatMap(([name, value]) => [[name, value.text() ?? '']]),
  )
  const { authorization } = address.secrets
  if (authorization !== null) headers['authorization'] = authorization
  const organization = parameter('organization')?.text()
  if (organization != null) headers['OpenAI-Organization'] = organization
  const concurrency = concurrencyOf(parameter, reading)
  const known = JSON.stringify([
    address.preset.slug,
    address.baseUrl,
    address.query,
    address.secrets,
    key,
    headers,
    concurrency,
  ])
  const found = providers.get(known)
  if (found) return found
  const id = freeId(address, new Set([...providers.values()].map((provider) => provider.id)))
  const store = ({ reference, stored }: CarriedSecret): string => {
    if (stored) secrets.set(stored.file, stored.text)
    return reference
  }
  const storeAll = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        store(carrySecret(value, `${id}-${fileWord(name)}`, sources)),
      ]),
    )
  const query = { ...address.query, ...storeAll(address.secrets.query) }
  const made: ImportedProvider = {
    id,
    preset: address.preset.slug,
    ...(address.baseUrl === undefined ? {} : { base_url: address.baseUrl }),
    ...(key === null ? {} : { api_key: store(carrySecret(key, id, sources)) }),
    ...(Object.keys(headers).length === 0 ? {} : { headers: storeAll(headers) }),
    ...(Object.keys(query).length === 0 ? {} : { query }),
    ...(concurrency === null ? {} : { concurrency }),
    only_models: true,
    models: [],
  }
  providers.set(known, made)
  return made
}

function concurrencyOf(parameter: Parameter, { remarks }: Reading): number | null {
  const value = parameter('max_parallel_requests')
  const calls = value?.number() ?? null
  if (value === null || (calls !== null && isCount(calls) && calls <= concurrencyMax)) return calls
  remarks.about(value, `is not carried: calls at once are a whole number from 1 to ${concurrencyMax}`)
  return null
}

/** The name in characters that suit a file's name. */
function fileWord(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, '-')
}

function freeId({ preset, baseUrl }: Address, taken: ReadonlySet<string>): string {
  const base = preset.isOperatorNamed && baseUrl !== undefined ? idOfAddress(baseUrl) : preset.slug
  let id = base
  for (let count = 2; taken.has(id); count++) id = `${base}-${count}`
  return id
}

interface Named {
  provider: ImportedProvider
  preset: Preset
  asked: LitellmModel
  map: PriceMap
  upstream: string
  isPattern: boolean
  mode: ImportedModel['modality'] | undefined
  parameter: Parameter
  remarks: Remarks
}

/** The public id of an entry's model. Adds the model to its provider if it is new. */
function modelOf(entry: YamlValue, named: Named): string {
  const { provider, preset, asked, map, upstream, isPattern, mode, parameter, remarks } = named
  if (isPattern) {
    delete provider.only_models
    for (const rate of ['rpm', 'tpm'].flatMap((one) => parameter(one) ?? []))
      remarks.about(
        rate,
        'is not carried: it is of every model that the pattern means, and a quota here is of one model or of the provider',
      )
    if (!preset.isLocal && preset.pricesProviderId === null && preset.prices.length === 0)
      remarks.about(entry, 'its models have no prices here, so keys with a budget are refused their calls')
    return '*'
  }
  const author = preset.isOperatorNamed ? provider.id : preset.author
  const id = toPublicId(author, preset.publicName(asked.name))
  const model = readModel(
    { id, upstream },
    { entry, parameter, mode: mode ?? kindOf(asked.name, preset), remarks, asked: { asked, preset }, map },
  )
  const known = provider.models.find((one) => one.id === id)
  if (!known) provider.models.push(model)
  else if (JSON.stringify(known) !== JSON.stringify(model))
    remarks.about(
      entry,
      `its prices and limits are not carried: another deployment of ${id} at ${provider.id} has others`,
    )
  return id
}

/**
 * The kind that the name implies for a model of a server that operators run; undefined when the name implies none. Such
 * a server serves text unless the file says otherwise.
 */
function kindOf(name: string, preset: Preset): ImportedModel['modality'] | undefined {
  if (preset.pricesProviderId !== null) return undefined
  const { modality } = traitsOf(name, modelRulesOf(preset))
  return modality === null || modalityRow(modality).isConversation ? undefined : modality
}

/** Whether a pattern equals the common beginning of the ids of the provider's models. */
function isOwnPattern(
  name: string,
  asked: string,
  { author, isOperatorNamed, hostsManyMakers }: Preset,
): boolean {
  return name === `${asked}/*` && author === asked && !isOperatorNamed && !hostsManyMakers
}

function nameOf({ id }: ImportedProvider, preset: Preset): string {
  return preset.isOperatorNamed ? id : preset.name
}
