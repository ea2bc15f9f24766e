import type { ModelRule } from '../../catalog/capabilities.ts'

/** What Voyage calls its models, here and at every host of them; its rerankers are called so. */
export const voyageModels: readonly ModelRule[] = [{ name: /(?:^|\/)voyage-/i, modality: 'embedding' }]
