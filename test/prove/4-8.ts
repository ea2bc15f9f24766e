import { proveRecipe } from './by-recipe.ts'
import type { Proof } from './proof.ts'

export const proof: Proof = {
  title: 'a provider that a stranger wrote by CONTRIBUTING alone: one folder, one line, and all checks pass',
  run: () => proveRecipe(['cerebras'], ['src', 'test/tidy.test.ts', 'test/story/documents']),
}
