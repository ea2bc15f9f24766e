import { toPublicId } from '../../catalog/model-ids.ts'
import { isModelName } from '../../core/model-name.ts'
import type { Preset } from '../../providers/define-provider.ts'
import { addressOf, idOfAddress, type Address } from './litellm-address.ts'
import { readModel, type ImportedModel } from './litellm-model.ts'
import { parseLitellmModel, presetFor } from './litellm-providers.ts'
import { carrySecret, plainText, type CarriedSecret, type ValueSources } from './litellm-values.ts'
import type { Remarks } from './remarks.ts'
import type { YamlValue } from './yaml-tree.ts'

/** A provider as it is to stand in the configuration file. */
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

/** One entry of `model_list`, as it is served here. */
export interface ImportedDeployment {
  /** Where it is written. */
  entry: Pick<YamlValue, 'line' | 'path'>
  /** What callers of LiteLLM write. */
  name: string
  /** The id that a fallback may mean it by; null for none. */
  ownId: string | null
  /** A pattern stands for all models of its provider. */
  isPattern: boolean
  /** What callers write for a model of a pattern is its id here too. */
  keepsIds: boolean
  model: string
  provider: string
  /** Lower first; those without one follow. */
  order: number
  weight: number | null
  rpm: number | null
  tpm: number | null
  accessGroups: readonly string[]
}

/** Everything that `model_list` becomes. */
export interface ImportedList {
  providers: readonly ImportedProvider[]
  deployments: readonly ImportedDeployment[]
  /** By their file. */
  secrets: ReadonlyMap<string, string>
}

interface Sources extends ValueSources {
  credentials: ReadonlyMap<string, YamlValue>
}

/** Reads `model_list` into providers, one for each address and key, with the models of their entries. */
export function readDeployments(file: YamlValue, values: ValueSources, remarks: Remarks): ImportedList {
  const providers = new Map<string, ImportedProvider>()
  const secrets = new Map<string, string>()
  const sources = { ...values, credentials: readCredentials(file) }
  const deployments = (file.member('model_list')?.items() ?? []).flatMap((entry) => {
    const found = readEntry(entry, { sources, remarks, providers, secrets })
    return found ? [found] : []
  })
  return { providers: [...providers.values()], deployments, secrets }
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
}

/** A parameter of an entry, or of the credential that it names. */
type Parameter = (name: string) => YamlValue | null

function readEntry(entry: YamlValue, reading: Reading): ImportedDeployment | null {
  const { sources, remarks } = reading
  const refuse = (message: string): null => {
    entry.readAll()
    remarks.about(entry, `the deployment is not carried: ${message}`)
    return null
  }
  const name = entry.member('model_name')?.text()
  const given = entry.member('litellm_params')
  const modelText = given?.member('model')?.text()
  if (name == null || !given || modelText == null)
    return refuse('it needs model_name and litellm_params.model')
  if (!isModelName(name))
    return refuse(
      `its model_name is none that callers can write here: empty, too long, or with blanks around it`,
    )
  const credential = sources.credentials.get(given.member('litellm_credential_name')?.text() ?? '')
  const parameter: Parameter = (member) => given.member(member) ?? credential?.member(member) ?? null
  const asked = parseLitellmModel(modelText, parameter('custom_llm_provider')?.text() ?? null)
  if (!asked) return refuse(`"${modelText}" begins with no provider that is known here, such as openai/`)
  const preset = presetFor(asked.provider)
  if (!preset) return refuse(`there is no provider "${asked.provider}" here`)
  const address = readAddress(asked.provider, preset, { parameter, sources })
  if (typeof address === 'string') return refuse(address)
  const isPattern = name.includes('*')
  if (isPattern !== asked.name.includes('*')) return refuse('only one of model_name and model is a pattern')
  if (isPattern && asked.name !== '*')
    return refuse('a pattern is carried for all models of a provider, provider/*, only')
  const mode = readMode(entry)
  if (mode === null) return refuse('there is no operation for its mode here')
  const provider = providerFor(address, parameter, reading)
  const keepsIds = isPattern && isOwnPattern(name, asked.provider, address.preset)
  if (isPattern && !keepsIds)
    remarks.about(
      entry,
      `all models of ${nameOf(provider, address.preset)} are offered, but by their ids here (npx headrace models), not as "${name}"`,
    )
  const model = modelOf(entry, {
    provider,
    preset: address.preset,
    name: asked.name,
    upstream: address.deployment ?? asked.name,
    isPattern,
    mode,
    parameter,
    remarks,
  })
  for (const limit of ['rpm', 'tpm'].flatMap((one) => parameter(one) ?? []))
    remarks.about(
      limit,
      'limits nothing here ("concurrency" of a provider does); without a weight it is the share of calls',
    )
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

const modes: Readonly<Record<string, ImportedModel['modality'] | undefined>> = {
  chat: 'language',
  completion: 'language',
  responses: 'language',
  embedding: 'embedding',
  audio_transcription: 'transcription',
  audio_speech: 'speech',
}

/** Undefined where it is not said; null for one that no operation serves. */
function readMode(entry: YamlValue): ImportedModel['modality'] | undefined | null {
  const mode = entry.member('model_info')?.member('mode')?.text()
  if (mode == null) return undefined
  return modes[mode] ?? null
}

function readAddress(
  provider: string,
  preset: Preset,
  { parameter, sources }: { parameter: Parameter; sources: Sources },
): Address | string {
  const given = parameter('api_base') ?? parameter('base_url')
  const text = given?.text() ?? null
  const apiBase = text === null ? null : plainText(text, sources)
  if (text !== null && apiBase === null) return `set ${text.replace('os.environ/', '')}, then import again`
  const address = addressOf({ provider, preset, apiBase, apiVersion: versionOf(parameter, sources) })
  if (!address) return `api_base is no address such as http://127.0.0.1:8000/v1`
  if (address.preset.baseUrl === null && address.baseUrl === undefined) return 'it needs an api_base'
  return address
}

function versionOf(parameter: Parameter, sources: Sources): string | null {
  const text = parameter('api_version')?.text()
  return text == null ? null : plainText(text, sources)
}

/** The provider with this address and key, which several entries share. */
function providerFor(address: Address, parameter: Parameter, reading: Reading): ImportedProvider {
  const { providers, sources, secrets } = reading
  const headers = Object.fromEntries(
    (parameter('extra_headers')?.members() ?? []).flatMap(([name, value]) => [[name, value.text() ?? '']]),
  )
  const { authorization } = address.secrets
  if (authorization !== null) headers['authorization'] = authorization
  const organization = parameter('organization')?.text()
  if (organization != null) headers['OpenAI-Organization'] = organization
  const concurrency = parameter('max_parallel_requests')?.number() ?? null
  const key = parameter('api_key')?.text() ?? variableKeyOf(address, sources)
  const isDefault = key === null || key === ''
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
    ...(isDefault ? {} : { api_key: store(carrySecret(key, id, sources)) }),
    ...(Object.keys(headers).length === 0 ? {} : { headers: storeAll(headers) }),
    ...(Object.keys(query).length === 0 ? {} : { query }),
    ...(concurrency === null ? {} : { concurrency }),
    only_models: true,
    models: [],
  }
  providers.set(known, made)
  return made
}

/** Where no entry says a key, LiteLLM has the provider's variable, which the file may set; null when it does not. */
function variableKeyOf({ preset: { keyVariable }, baseUrl }: Address, { variables }: Sources): string | null {
  const isSet = keyVariable !== null && baseUrl === undefined && variables.has(keyVariable)
  return isSet ? `os.environ/${keyVariable}` : null
}

/** As it may stand in the name of a file. */
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
  name: string
  upstream: string
  isPattern: boolean
  mode: ImportedModel['modality'] | undefined
  parameter: Parameter
  remarks: Remarks
}

/** The public id of an entry's model, which its provider is given if it does not have it yet. */
function modelOf(entry: YamlValue, named: Named): string {
  const { provider, preset, name, upstream, isPattern, mode, parameter, remarks } = named
  if (isPattern) {
    delete provider.only_models
    return '*'
  }
  const author = preset.isOperatorNamed ? provider.id : preset.author
  const id = toPublicId(author, preset.publicName(name))
  const model = readModel({ id, upstream }, { entry, parameter, mode, remarks })
  const known = provider.models.find((one) => one.id === id)
  if (!known) provider.models.push(model)
  else if (JSON.stringify(known) !== JSON.stringify(model))
    remarks.about(
      entry,
      `its prices and limits are not carried: another deployment of ${id} at ${provider.id} has others`,
    )
  return id
}

/** Whether a pattern is written as the ids of the provider's models begin. */
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
