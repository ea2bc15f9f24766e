import type { ModelRule } from '../../catalog/capabilities.ts'

/** What Jina calls its models, here and at every host of them. */
export const jinaModels: readonly ModelRule[] = [
  { name: /jina-(?:clip|code)/i, modality: 'embedding' },
  { name: /jina-colbert/i, modality: 'rerank' },
]
