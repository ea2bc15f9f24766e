import type { ModelRule } from '../../catalog/capabilities.ts'
import { groqLanguages } from './languages.ts'

/** Groq's own limits for voices of other makers, and its own systems. */
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
  // The limits of its paid tier. The free tier stops at 25 MB and reports it.
  {
    name: /whisper/i,
    audio: {
      uploadBytesMax: 100 * 1024 * 1024,
      uploadFormats: ['flac', 'mp3', 'm4a', 'ogg', 'wav', 'webm'],
      languages: groqLanguages,
    },
  },
  { name: /playai/i, modality: 'speech' },
  { name: /compound/i, reasons: true, searches: true },
]
