import type { Modality } from '../canonical/operation.ts'
import { GatewayError } from '../core/errors.ts'
import { modelIdLengthMax } from '../core/limits.ts'
import type { PotentialProvider } from './deployment-source.ts'
import { nearestIds, slugOf, splitVariant, toPublicId } from './model-ids.ts'
import { packageFacts, packageNames } from './package-prices.ts'
import { overlayNames } from './price-overlay.ts'
import type { Snapshot } from './snapshot.ts'

/** Where each kind of model is asked. */
const pathOf: Readonly<Record<Modality, string>> = {
  language: '/chat/completions',
  embedding: '/embeddings',
  transcription: '/audio/transcriptions',
  speech: '/audio/speech',
}

interface Question {
  modelId: string
  modality: Modality
  snapshot: Snapshot
  potential: readonly PotentialProvider[]
}

/** A refusal that tells what to do: another path, the whole id, a key to set, or an id that is near. */
export function unknownModel(question: Question): GatewayError {
  const shown = JSON.stringify(question.modelId.slice(0, modelIdLengthMax))
  const nearest = nearestIds(question.modelId, question.snapshot.models.keys())
  const message = `${shown} ${reasonOf(question, nearest)}`
  return new GatewayError('model_not_found', message, {
    param: 'model',
    ...(nearest.length > 0 ? { metadata: { nearest_models: nearest } } : {}),
  })
}

function reasonOf({ modelId, modality, snapshot, potential }: Question, nearest: readonly string[]): string {
  const { base } = splitVariant(modelId)
  const otherwise = snapshot.models.get(modelId) ?? snapshot.models.get(base)
  if (otherwise && otherwise.modality !== modality) {
    const article = otherwise.modality === 'embedding' ? 'an' : 'a'
    return `is ${article} ${otherwise.modality} model; ask it at POST ${pathOf[otherwise.modality]}.`
  }
  const sameSlug = snapshot.idsBySlug.get(base.toLowerCase()) ?? []
  if (sameSlug.length > 1) return `is the name of several models; write one of ${sameSlug.join(', ')}.`
  const enabling = enablingVariable(base, potential)
  if (enabling) return `is not served here; ${enabling.id} would be with ${enabling.keyVariable} set.`
  if (nearest.length > 0)
    return `is not served here; near it are ${nearest.join(', ')}. GET /models lists all.`
  if (snapshot.list.length > 0) return 'is not served here; GET /models lists what is.'
  const [first] = potential
  const remedy = first ? ` such as ${first.keyVariable}` : ''
  return `cannot be served: no provider is configured. Set a provider's key${remedy} and start again.`
}

/** The provider that would serve the model if it were configured: one whose price list has it under this id or slug. */
function enablingVariable(base: string, potential: readonly PotentialProvider[]) {
  for (const { author, pricesProviderId, keyVariable } of potential) {
    if (pricesProviderId === null) continue
    const names = [...packageNames(pricesProviderId), ...overlayNames(pricesProviderId)]
    const exact = names.find((name) => [toPublicId(author, name), name].includes(base))
    if (exact !== undefined) return { id: toPublicId(author, exact), keyVariable }
    const slug = slugOf(base)
    if (base === toPublicId(author, slug) && packageFacts(pricesProviderId, slug, 0))
      return { id: base, keyVariable }
  }
  return null
}
