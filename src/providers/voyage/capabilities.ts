import type { ModelRule } from '../../catalog/capabilities.ts'

/** Voyage's models, by their names here and at every other host; its rerankers have "rerank" in their names. */
export const voyageModels: readonly ModelRule[] = [{ name: /(?:^|\/)voyage-/i, modality: 'embedding' }]
