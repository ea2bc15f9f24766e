import type { ModelRule } from '../../catalog/capabilities.ts'

/** Groq's own limits of voices that others made, and its own systems. */
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
]
