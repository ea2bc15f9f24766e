import { nearestShownMax } from '../core/limits/catalog.ts'

/** Model ids that are compared with an unknown one. */
const nearestCandidatesMax = 2_000

const variants = ['free', 'nitro', 'floor', 'online', 'batch', 'thinking', 'extended', 'exacto'] as const

/** A suffix of a model id after a colon that is not part of its name. */
export type Variant = (typeof variants)[number]

/** A model id without its variant. A tag that is no variant, as in `ollama/qwen3:4b`, belongs to the name. */
export interface ResolvedModel {
  base: string
  variant: Variant | null
}

/** Splits off a known variant; does not check whether the base id exists. */
export function splitVariant(modelId: string): ResolvedModel {
  const colon = modelId.lastIndexOf(':')
  const variant = colon > 0 ? variants.find((candidate) => candidate === modelId.slice(colon + 1)) : undefined
  return variant ? { base: modelId.slice(0, colon), variant } : { base: modelId, variant: null }
}

/** Models by id, and ids by their other spellings; several ids where a spelling is ambiguous. */
export interface ModelIndex {
  models: ReadonlyMap<string, unknown>
  idByLowerCase: ReadonlyMap<string, readonly string[]>
  idsBySlug: ReadonlyMap<string, readonly string[]>
  /** Ids that end in a date, by the rest of the id and of the slug in lower case. */
  idsByUndated: ReadonlyMap<string, readonly string[]>
}

/**
 * Resolves the model that a caller wrote: an exact id, one with a variant, in a different case, or a bare slug that
 * exactly one model has. An id without a date means the newest of the ids that differ only in their date. An unknown id
 * is returned as it is, without its variant.
 */
export function resolveModel(index: ModelIndex, modelId: string): ResolvedModel {
  if (index.models.has(modelId)) return { base: modelId, variant: null }
  const split = splitVariant(modelId)
  if (index.models.has(split.base)) return split
  for (const { base, variant } of [{ base: modelId, variant: null }, split]) {
    // Ollama lists a model that was pulled as `tiny` under `tiny:latest`.
    const found = isOfSeveral(index, base)
      ? null
      : (onlyId(index, base) ?? onlyId(index, `${base}:latest`) ?? newestId(index, base))
    if (found !== null) return { base: found, variant }
  }
  return split
}

/** The only id with this name in any case, or with this slug; null when there is none or more than one. */
function onlyId({ idByLowerCase, idsBySlug }: ModelIndex, name: string): string | null {
  const found = idByLowerCase.get(name.toLowerCase()) ?? idsBySlug.get(name.toLowerCase())
  return found?.length === 1 ? (found[0] ?? null) : null
}

/** Whether a bare slug is ambiguous: it is the slug of one author's model, and a different model's without its date. */
function isOfSeveral({ idsBySlug, idsByUndated }: ModelIndex, name: string): boolean {
  const [plain] = idsBySlug.get(name.toLowerCase()) ?? []
  const dated = idsByUndated.get(name.toLowerCase()) ?? []
  return plain !== undefined && dated.some((id) => authorOf(id) !== authorOf(plain))
}

const dated = /^(.+)-(\d{4}-?\d{2}-?\d{2})$/

/** An id without the date at its end; null when it has none. */
export function withoutDate(id: string): string | null {
  return dated.exec(id)?.[1] ?? null
}

/** The newest dated id: some providers list only `x-20250929` but also accept `x`, which means the newest. */
function newestId({ idsByUndated }: ModelIndex, name: string): string | null {
  const found = idsByUndated.get(name.toLowerCase()) ?? []
  // Several authors may have a model with this slug; then it is ambiguous.
  if (new Set(found.map(withoutDate)).size > 1) return null
  return found.toSorted(byDate).at(-1) ?? null
}

function byDate(left: string, right: string): number {
  return dateOf(left).localeCompare(dateOf(right))
}

function dateOf(id: string): string {
  return dated.exec(id)?.[2]?.replaceAll('-', '') ?? ''
}

/** The public id of a name, `author/slug`; a name that has an author already keeps it. */
export function toPublicId(author: string, name: string): string {
  return name.includes('/') ? name : `${author}/${name}`
}

/** A name that fits into one part of a public id: `meta-llama/L` is `meta-llama--L`. */
export function inOnePart(name: string): string {
  return name.replaceAll('/', '--')
}

function authorOf(modelId: string): string {
  return modelId.slice(0, modelId.indexOf('/')).toLowerCase()
}

/** The part of an id after its author. */
export function slugOf(modelId: string): string {
  return modelId.slice(modelId.indexOf('/') + 1)
}

/** The model's names here and at its provider; none of them is a secret. */
export function modelNamesOf({ model, upstreamModel }: { model: string; upstreamModel: string }): string[] {
  return [upstreamModel, model, slugOf(model)]
}

/**
 * Ids that the caller may have meant by `wanted`, the nearest first. A slug is near when it contains the wanted one, or
 * when its edit distance is at most two fifths of the wanted slug's length.
 */
export function nearestIds(wanted: string, ids: Iterable<string>): string[] {
  const slug = slugOf(splitVariant(wanted).base).toLowerCase()
  const limit = Math.max(1, Math.floor(slug.length * 0.4))
  const found: { id: string; distance: number }[] = []
  const rows = [new Uint16Array(slug.length + limit + 1), new Uint16Array(slug.length + limit + 1)] as const
  let compared = 0
  for (const id of ids) {
    if (++compared > nearestCandidatesMax) break
    const candidate = slugOf(id).toLowerCase()
    const distance = editDistance(slug, candidate, { limit, rows })
    if (distance <= limit) found.push({ id, distance })
    else if (slug.length >= 3 && candidate.includes(slug)) found.push({ id, distance: limit + 1 })
  }
  found.sort((left, right) => left.distance - right.distance || left.id.localeCompare(right.id))
  return found.slice(0, nearestShownMax).map(({ id }) => id)
}

/**
 * Levenshtein's distance, or any number above `limit` as soon as the distance is certain to exceed it. It uses the two
 * given rows, each of which needs `limit` more elements than the left text has characters. Allocating rows for each
 * comparison doubled the time that an unknown model's error blocks the event loop.
 */
function editDistance(
  left: string,
  right: string,
  { limit, rows }: { limit: number; rows: readonly [Uint16Array, Uint16Array] },
): number {
  if (Math.abs(left.length - right.length) > limit) return limit + 1
  let [row, next] = rows
  for (let j = 0; j <= right.length; j++) row[j] = j
  for (let i = 1; i <= left.length; i++) {
    const letter = left.charCodeAt(i - 1)
    let before = i
    let least = i
    next[0] = i
    for (let j = 1; j <= right.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (letter === right.charCodeAt(j - 1) ? 0 : 1)
      before = Math.min(substitution, (row[j] ?? 0) + 1, before + 1)
      next[j] = before
      if (before < least) least = before
    }
    if (least > limit) return limit + 1
    ;[row, next] = [next, row]
  }
  return row[right.length] ?? limit + 1
}
