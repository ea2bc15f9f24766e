import type { ModelRule } from '../../catalog/capabilities.ts'
import { modelsOfManyMakers } from '../many-makers.ts'

/** Together hosts other makers' models, and resells some that only few others have. */
export const togetherModels: readonly ModelRule[] = [
  { name: /cartesia\/sonic/i, modality: 'speech' },
  ...modelsOfManyMakers,
]
