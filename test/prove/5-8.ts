import { proveRecipe } from './by-recipe.ts'
import type { Proof } from './proof.ts'

/** The cases that every provider keeps; what is known of these three besides has tests of the product's own. */
const tests = [
  'src/providers/providers.test.ts',
  'src/providers/recordings',
  'test/tidy.test.ts',
  'test/story/documents',
]

export const proof: Proof = {
  title: 'three providers that a stranger added one after the other by CONTRIBUTING alone',
  run: () => proveRecipe(['sambanova', 'novita', 'moonshot'], tests),
}
