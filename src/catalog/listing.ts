import { modalityNames, modalityRow, type Modality } from '../canonical/operation.ts'

/** Models one deployment's listing may name; the largest public listings have a few hundred. */
const listedModelsMax = 5_000
/** Names of interfaces that are kept of one listed model. */
const listedInterfacesMax = 20
import { modelIdLengthMax } from '../core/limits/http.ts'

/** One model of a provider's own listing; a member is null when the listing does not tell it. */
export interface ListedModel {
  upstream: string
  /** Unix seconds. */
  created: number | null
  contextLength: number | null
  /** The largest output of one answer in tokens; absent when the listing does not tell. */
  outputTokensMax?: number
  name: string | null
  /** `undefined`: the listing does not tell the kind. Null: no operation serves this kind. */
  modality: Modality | null | undefined
  /** Input kinds besides text, such as `image`; absent when no source tells. */
  inputs?: readonly string[]
  /** The listing's `endpoints`: the interfaces that serve the model, in the provider's own words. */
  interfaces?: readonly string[]
  /** The day on which the provider shuts it down, `YYYY-MM-DD`; left out where the listing tells none. */
  expirationDate?: string
}

/** A listing that cannot be read; the message is for the log. */
export class UnreadableListing extends Error {}

/**
 * Parses a `GET /models` body: `{data: […]}`, a bare array, or `{models: […]}`; one page, or several joined. Entries
 * without a usable name are left out. A body of a different shape, or whose entries are all unusable, throws
 * UnreadableListing: a broken answer must not look like a provider without models. An empty list is valid.
 */
export function parseListing(body: unknown): ListedModel[] {
  const list = Array.isArray(body) ? body : (member(body, 'data') ?? member(body, 'models'))
  if (!Array.isArray(list)) throw new UnreadableListing('the listing has neither "data" nor "models"')
  const found = new Map<string, ListedModel>()
  for (const entry of list.slice(0, listedModelsMax)) {
    const model = parseEntry(entry)
    if (model) found.set(model.upstream, model)
  }
  if (list.length > 0 && found.size === 0) throw new UnreadableListing('no entry of the listing has an id')
  return [...found.values()]
}

function parseEntry(entry: unknown): ListedModel | null {
  const upstream = upstreamOf(entry)
  if (typeof upstream !== 'string' || upstream === '' || upstream.length > modelIdLengthMax) return null
  const name = member(entry, 'display_name') ?? member(entry, 'displayName') ?? member(entry, 'name')
  const outputTokensMax = wholeNumber(member(entry, 'outputTokenLimit'))
  return {
    upstream,
    created: createdOf(entry),
    contextLength: contextOf(entry),
    ...(outputTokensMax === null ? {} : { outputTokensMax }),
    name: typeof name === 'string' && name !== upstream ? name : null,
    modality: modalityOf(entry),
    ...inputsOf(entry),
    ...interfacesOf(entry),
    ...expirationOf(entry),
  }
}

/** Unix seconds, or a date as Anthropic writes it. */
function createdOf(entry: unknown): number | null {
  const date = member(entry, 'created_at')
  const fromDate = typeof date === 'string' ? Math.floor(Date.parse(date) / 1000) : null
  return wholeNumber(member(entry, 'created')) ?? wholeNumber(fromDate)
}

/** Removes the prefix of a name that is a path below the listing, as in `models/<name>`. */
function upstreamOf(entry: unknown): unknown {
  const id = member(entry, 'id')
  if (id !== undefined) return id
  const name = member(entry, 'name')
  const isAddress = typeof name === 'string' && methodsOf(entry) !== null
  return isAddress ? name.replace(/^models\//, '') : name
}

/** The methods that a model supports; null when the listing does not have them. */
function methodsOf(entry: unknown): readonly unknown[] | null {
  const methods = member(entry, 'supportedGenerationMethods')
  return Array.isArray(methods) ? methods : null
}

/** Servers have the context size in different members; llama.cpp has it inside `meta`. */
function contextOf(entry: unknown): number | null {
  for (const key of [
    'context_length',
    'max_context_length',
    'max_model_len',
    'context_window',
    'inputTokenLimit',
    'context_size',
  ]) {
    const length = wholeNumber(member(entry, key))
    if (length) return length
  }
  return (
    wholeNumber(member(member(entry, 'meta'), 'n_ctx')) ??
    wholeNumber(member(member(entry, 'meta'), 'n_ctx_train'))
  )
}

/** Kinds that no operation serves. */
const unservedTypes: ReadonlySet<string> = new Set(['image', 'video', 'moderation', 'rerank'])

function modalityOfType(type: string): Modality | null | undefined {
  const served = modalityNames.find((modality) => modalityRow(modality).listedTypes.includes(type))
  return served ?? (unservedTypes.has(type) ? null : undefined)
}

function modalityOf(entry: unknown): Modality | null | undefined {
  const type = member(entry, 'type') ?? member(entry, 'model_type')
  if (typeof type === 'string') return modalityOfType(type)
  const methods = methodsOf(entry)
  if (methods !== null) return modalityOfMethods(methods)
  const capabilities = member(entry, 'capabilities')
  // Mistral lists each model's capabilities: its transcription models have no chat, and its embedding models have none at all.
  if (member(capabilities, 'completion_chat') === true) return 'language'
  const outputs = member(member(entry, 'architecture'), 'output_modalities')
  return Array.isArray(outputs) ? modalityOfOutputs(outputs) : undefined
}

/** A model with the method `generateContent` may answer with text, sound or pictures; then its name decides. */
function modalityOfMethods(methods: readonly unknown[]): Modality | null | undefined {
  if (methods.includes('generateContent')) return undefined
  return methods.includes('embedContent') ? 'embedding' : null
}

/** The first modality in the order of the rows, where text is first: a model that outputs text and pictures is a chat model. */
function modalityOfOutputs(outputs: readonly unknown[]): Modality | null | undefined {
  const found = modalityNames.find((modality) =>
    modalityRow(modality).listedOutputs.some((output) => outputs.includes(output)),
  )
  return found ?? (outputs.length > 0 ? null : undefined)
}

function inputsOf(entry: unknown): Pick<ListedModel, 'inputs'> {
  const inputs = member(member(entry, 'architecture'), 'input_modalities')
  if (!Array.isArray(inputs)) return {}
  return { inputs: knownInputs.filter((input) => inputs.includes(input)) }
}

function interfacesOf(entry: unknown): Pick<ListedModel, 'interfaces'> {
  const endpoints = member(entry, 'endpoints')
  if (!Array.isArray(endpoints)) return {}
  const names = endpoints.filter((name) => typeof name === 'string')
  return { interfaces: names.slice(0, listedInterfacesMax) }
}

/** OpenAI's, OpenRouter's and Mistral's word for the same day; Mistral adds a time. */
function expirationOf(entry: unknown): Pick<ListedModel, 'expirationDate'> {
  for (const key of ['shutdown_date', 'expiration_date', 'deprecation']) {
    const day = String(member(entry, key) ?? '').slice(0, 'YYYY-MM-DD'.length)
    if (/^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(Date.parse(day))) return { expirationDate: day }
  }
  return {}
}

const knownInputs = ['image', 'audio', 'file', 'video']

function wholeNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null
}

/** An object's own member; undefined when the value is no object. */
export function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined
}
