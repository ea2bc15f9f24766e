import type { ModelRule } from '../../catalog/capabilities.ts'
import { modelsOfManyMakers } from '../many-makers.ts'

/** Groq hosts other makers' models, and has limits and systems of its own. */
export const groqModels: readonly ModelRule[] = [
  {
    name: /orpheus-v1-english/,
    modality: 'speech',
    audio: {
      inputCharactersMax: 200,
      voices: ['autumn', 'diana', 'hannah', 'austin', 'daniel', 'troy'],
    },
  },
  {
    name: /orpheus-arabic/,
    modality: 'speech',
    audio: {
      inputCharactersMax: 200,
      voices: ['abdullah', 'fahad', 'sultan', 'lulwa', 'noura', 'aisha'],
    },
  },
  { name: /playai/i, modality: 'speech' },
  { name: /compound/i, reasons: true },
  ...modelsOfManyMakers,
]
