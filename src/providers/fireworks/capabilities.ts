import type { ModelRule } from '../../catalog/capabilities.ts'
import { fireworksLanguages } from './languages.ts'

/** Fireworks' additions to models of other makers. */
export const fireworksModels: readonly ModelRule[] = [
  {
    name: /whisper/i,
    audio: { diarize: true, uploadBytesMax: 1024 * 1024 * 1024, languages: fireworksLanguages },
  },
]
