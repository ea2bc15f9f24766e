import { proveRecipe } from './by-recipe.ts'
import type { Proof } from './proof.ts'

/** The cases that every provider keeps, and those that every provider of audio does. */
const tests = [
  'src/providers/providers.test.ts',
  'src/formats/transcription',
  'src/formats/speech',
  'test/contract/transcription-providers',
  'test/contract/speech-providers',
  'test/tidy.test.ts',
  'test/story/documents',
]

export const proof: Proof = {
  title: 'two providers with audio APIs of their own that strangers added by CONTRIBUTING alone',
  run: () => proveRecipe(['azure-speech', 'google-cloud-tts'], tests),
}
