import type { ModelRule } from '../../catalog/capabilities.ts'
import { fireworksLanguages } from './languages.ts'

/** What Fireworks adds to models that others made. */
export const fireworksModels: readonly ModelRule[] = [
  {
    name: /whisper/i,
    audio: { diarize: true, uploadBytesMax: 1024 * 1024 * 1024, languages: fireworksLanguages },
  },
]
