import type { ModelRule } from '../../catalog/capabilities.ts'

/** Jina's models, by their names here and at every other host. */
export const jinaModels: readonly ModelRule[] = [
  { name: /jina-(?:clip|code)/i, modality: 'embedding' },
  { name: /jina-colbert/i, modality: 'rerank' },
]
