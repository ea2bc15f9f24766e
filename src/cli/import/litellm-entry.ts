import { isModelName } from '../../core/model-name.ts'
import type { Preset } from '../../providers/define-provider.ts'
import { addressOf, type Address } from './litellm-address.ts'
import { environmentOf, parseLitellmModel, presetFor, type LitellmModel } from './litellm-providers.ts'
import { plainText, variableOf, type ValueSources } from './litellm-values.ts'
import type { YamlValue } from './yaml-tree.ts'

/** A parameter of an entry, or of the credential that it names. */
export type Parameter = (name: string) => YamlValue | null

/** Where an entry of `model_list` sends its calls. */
export interface EntryPlace {
  name: string
  parameter: Parameter
  asked: LitellmModel
  preset: Preset
  address: Address
  /** The environment variable or the setting with the address, when the entry itself has none; otherwise null. */
  baseVariable: string | null
}

/** An entry of `model_list`, as far as its place and its variables are concerned. */
export interface LocatedEntry {
  entry: YamlValue
  /** The environment variables that it names, also those of its credential. */
  named: ReadonlySet<string>
  /** The text says why the entry cannot be imported. */
  place: EntryPlace | string
}

/** The sources of an entry's values, and the named credentials of the file. */
export interface EntrySources extends ValueSources {
  credentials: ReadonlyMap<string, YamlValue>
  /** The address of `commonBase`, for every entry without one; null when the file has none. */
  base: string | null
}

/** The setting with the address of all entries that have none. */
export const commonBase = 'litellm_settings.api_base'

/** Finds the place of an entry: its own address, otherwise that of the variable which LiteLLM reads for its provider. */
export function locateEntry(entry: YamlValue, sources: EntrySources): LocatedEntry {
  const given = entry.member('litellm_params')
  const credential = sources.credentials.get(given?.member('litellm_credential_name')?.text() ?? '')
  const parameter: Parameter = (member) => given?.member(member) ?? credential?.member(member) ?? null
  return { entry, named: variablesOf([given, credential]), place: placeOf(entry, parameter, sources) }
}

function placeOf(entry: YamlValue, parameter: Parameter, sources: EntrySources): EntryPlace | string {
  const name = entry.member('model_name')?.text()
  const modelText = entry.member('litellm_params')?.member('model')?.text()
  if (name == null || modelText == null) return 'it needs model_name and litellm_params.model'
  if (!isModelName(name))
    return 'its model_name is none that callers can write here: empty, too long, or blanks around it'
  const asked = parseLitellmModel(modelText, parameter('custom_llm_provider')?.text() ?? null)
  if (!asked) return `"${modelText}" begins with no provider that is known here, such as openai/`
  if (!isModelName(asked.name)) return 'its model is no name: too long, or with control characters'
  const preset = presetFor(asked.provider)
  if (!preset) return `there is no provider "${asked.provider}" here`
  const found = readAddress(asked.provider, preset, { parameter, sources })
  return typeof found === 'string' ? found : { name, parameter, asked, preset, ...found }
}

function variablesOf(values: readonly (YamlValue | null | undefined)[]): Set<string> {
  const texts = values.flatMap((value) => [...(value?.texts() ?? [])])
  return new Set(texts.flatMap((text) => variableOf(text) ?? []))
}

function readAddress(
  provider: string,
  preset: Preset,
  { parameter, sources }: { parameter: Parameter; sources: EntrySources },
): Pick<EntryPlace, 'address' | 'baseVariable'> | string {
  const given = parameter('api_base') ?? parameter('base_url')
  const own = given?.text() || null
  const text = own ?? sources.base
  const variable = text === null ? setVariable(environmentOf(provider).addresses, sources) : null
  const source = own === null && sources.base !== null ? commonBase : variable
  const written = variable === null ? text : `os.environ/${variable}`
  const apiBase = written === null ? null : plainText(written, sources)
  if (text !== null && apiBase === null) return `set ${text.replace('os.environ/', '')}, then import again`
  const address = addressOf({ provider, preset, apiBase, apiVersion: versionOf(parameter, sources) })
  if (!address) return `${source ?? 'api_base'} is no address such as http://127.0.0.1:8000/v1`
  if (address.preset.baseUrl === null && address.baseUrl === undefined) return 'it needs an api_base'
  return { address, baseVariable: address.baseUrl === undefined ? null : source }
}

/** The first of these variables with a value, in the file or in the environment; null when none has one. */
export function setVariable(names: readonly string[], sources: ValueSources): string | null {
  return names.find((name) => (plainText(`os.environ/${name}`, sources) ?? '') !== '') ?? null
}

function versionOf(parameter: Parameter, sources: ValueSources): string | null {
  const text = parameter('api_version')?.text()
  return text == null ? null : plainText(text, sources)
}

/**
 * The variables that hold the key of another server than their provider's own, each with a deployment that uses it so. For
 * a deployment without a key, LiteLLM would send them to the provider's own address too.
 */
export function foreignVariables(entries: readonly LocatedEntry[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const { entry, named, place } of entries) {
    const isPlaced = typeof place !== 'string'
    const own = isPlaced && place.address.baseUrl === undefined ? place.preset.keyVariable : null
    const user = isPlaced ? `"${place.name}"` : entry.path
    for (const name of [...named, ...(isPlaced ? keysFor(place) : [])])
      if (name !== own && !found.has(name)) found.set(name, user)
  }
  return found
}

/** The variables of the key that LiteLLM sends to an address which it takes from a variable. */
function keysFor({ baseVariable, parameter, asked }: EntryPlace): readonly string[] {
  return baseVariable === null || parameter('api_key')?.text() ? [] : environmentOf(asked.provider).keys
}
