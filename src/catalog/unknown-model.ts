import type { Model } from '../canonical/endpoint.ts'
import { type Modality, modalityRow } from '../canonical/operation.ts'
import { GatewayError } from '../core/errors.ts'
import { nearestShownMax } from '../core/limits/catalog.ts'
import { modelIdLengthMax } from '../core/limits/http.ts'
import type { PotentialProvider } from './deployment-source.ts'
import { nearestIds, slugOf, splitVariant, toPublicId } from './model-ids.ts'
import { describeMember } from './operator-names.ts'
import type { KindSource } from './offers.ts'
import { tableFacts, tableNames, type PriceTable } from './prices/price-table.ts'
import type { Snapshot } from './snapshot.ts'
import { variantsOf } from './variants.ts'

interface Question {
  modelId: string
  modality: Modality
  snapshot: Snapshot
  potential: readonly PotentialProvider[]
  /** Default prices, which tell what providers serve. */
  table: PriceTable
  /** The model that a caller means by a name, or null. */
  find: (name: string) => Model | null
  /** The id that a caller means by a name, whether it is served or not. */
  resolve: (name: string) => string
}

/**
 * The refusal of an unknown model, which tells the caller what to do: use another path, another variant, the whole id
 * or a similar id, or have a key set.
 */
export function unknownModel(question: Question): GatewayError {
  const shown = JSON.stringify(question.modelId.slice(0, modelIdLengthMax))
  const nearest = nearestIds(question.modelId, idsOf(question.snapshot))
  const message = `${shown} ${reasonOf(question, nearest)}`
  return new GatewayError('model_not_found', message, {
    param: 'model',
    ...(nearest.length > 0 ? { metadata: { nearest_models: nearest } } : {}),
  })
}

function reasonOf(question: Question, nearest: readonly string[]): string {
  const { modelId, modality, snapshot, potential, find } = question
  const { base } = splitVariant(modelId)
  const otherwise = find(modelId)
  if (otherwise && otherwise.modality !== modality) {
    const article = /^[aeiou]/.test(otherwise.modality) ? 'an' : 'a'
    const path = modalityRow(otherwise.modality).path
    return `is ${article} ${otherwise.modality} model; ask it at POST ${path}.${remedyOf(otherwise.id, snapshot)}`
  }
  const own = ownNameReason(question)
  if (own !== null) return own
  const otherVariants = variantsReason(question)
  if (otherVariants !== null) return otherVariants
  const sameSlug = snapshot.idsBySlug.get(base.toLowerCase()) ?? []
  if (sameSlug.length > 1) return `is the name of several models; write one of ${sameSlug.join(', ')}.`
  const enabling = enablingVariable(base, potential, question.table)
  if (enabling) return `is not served here; ${enabling.id} would be with ${enabling.remedy}.`
  if (nearest.length > 0)
    return `is not served here; near it are ${nearest.join(', ')}. GET /models lists all.`
  if (snapshot.list.length > 0) return 'is not served here; GET /models lists what is.'
  const [first] = potential
  const remedy = first ? ` such as ${first.keyVariable}` : ''
  return `cannot be served: no provider is configured. Set a provider's key${remedy} and start again.`
}

/** All that callers may write: ids of models and names, and aliases that lead to those. */
export function* idsOf({ models, aliases }: Snapshot): Generator<string> {
  for (const [alias, { base }] of aliases) if (models.has(base)) yield alias
  yield* models.keys()
}

/** The reason for a name or alias of the operator's own that nothing serves now; null for anything else. */
function ownNameReason({ modelId, snapshot, find, resolve }: Question): string | null {
  const base = resolve(modelId)
  if (find(modelId)) return null
  const name = Object.hasOwn(snapshot.operatorNames, base) ? snapshot.operatorNames[base] : undefined
  const isAlias = snapshot.aliases.has(modelId) || snapshot.aliases.has(splitVariant(modelId).base)
  const meaning = isAlias ? `is an alias of ${JSON.stringify(base)}, which ` : ''
  if (name) {
    const members = name.groups.flat().map(describeMember).slice(0, nearestShownMax)
    return `${meaning}is a name of this gateway, but nothing serves what it stands for (${members.join(', ')}) now.`
  }
  return isAlias ? `${meaning}is not served here. GET /models lists all.` : null
}

const sources: Readonly<Record<KindSource, string>> = {
  name: 'Only its name suggests that kind',
  provider: 'Its server names that kind',
  operator: 'The configuration states that kind',
}

/** The source of the model's kind, and the configuration that would change it; empty where the kind is certain. */
function remedyOf(id: string, { kinds }: Snapshot): string {
  const kind = kinds.get(id)
  if (!kind) return ''
  const entry = `"models" of the provider ${JSON.stringify(kind.deploymentId)}`
  return ` ${sources[kind.from]}; "modality" of the entry with "id": ${JSON.stringify(id)} in ${entry} in the configuration file sets it.`
}

/** The variants that exist, where the part before the last colon is a served model; null where it is not. */
function variantsReason({ modelId, snapshot, find }: Question): string | null {
  const colon = modelId.lastIndexOf(':')
  const model = colon > 0 ? find(modelId.slice(0, colon)) : null
  if (!model) return null
  const unknown = JSON.stringify(modelId.slice(colon, colon + modelIdLengthMax))
  const known = [...variantsOf(model).map((variant) => `:${variant}`), ...tagsOf(model.id, snapshot)]
  return `is not served here: ${model.id} has no variant ${unknown}. It is served as it is, and as ${known.join(', ')}.`
}

/** The endings of a few other ids that begin with this name, such as `:8b`. */
function tagsOf(modelId: string, snapshot: Snapshot): string[] {
  const name = modelId.replace(/:latest$/, '')
  const isTagged = (id: string) => id !== modelId && id.startsWith(`${name}:`)
  const tagged = snapshot.list.filter(({ id }) => isTagged(id)).slice(0, nearestShownMax)
  return tagged.map(({ id }) => id.slice(name.length))
}

/**
 * The key that would make a provider serve the model: of a provider whose price list has the model under this id or
 * slug.
 */
function enablingVariable(base: string, potential: readonly PotentialProvider[], table: PriceTable) {
  for (const provider of potential) {
    const { author, pricesProviderId: providerId, prices, publicName } = provider
    const remedy = remedyBy(provider)
    const names = [...tableNames({ table, providerId }), ...prices.names]
    const idOf = (name: string) => toPublicId(author, publicName(name))
    const exact = names.find((name) => [idOf(name), name].includes(base))
    if (exact !== undefined) return { id: idOf(exact), remedy }
    const slug = slugOf(base)
    const isKnown = tableFacts({ table, providerId }, slug, 0) !== null
    if (isKnown && base === toPublicId(author, slug)) return { id: base, remedy }
  }
  return null
}

function remedyBy({ keyVariable, ignoredFor }: PotentialProvider): string {
  return ignoredFor === undefined
    ? `${keyVariable} set`
    : `a provider of preset ${ignoredFor} in the configuration; ${keyVariable} is set, but in "ignored_variables"`
}
