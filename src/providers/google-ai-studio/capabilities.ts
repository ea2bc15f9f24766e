import type { ModelRule } from '../../catalog/capabilities.ts'

/** Models that Google made, under their names here and at hosts of open models. */
export const googleModels: readonly ModelRule[] = [
  { name: /imagen|veo-|lyria|nano-banana/i, modality: null },
  { name: /gemini-embedding|embeddinggemma/i, modality: 'embedding' },
  { name: /gemini-(2\.5|[3-9])/i, reasons: true, sees: true, hears: true },
  { name: /gemini/i, sees: true, hears: true },
  { name: /gemma-?[3-9]/i, sees: true },
]

/** What is so here alone: speech is another shape of answer, and live models are reached by another way. */
export const studioModels: readonly ModelRule[] = [
  { name: /-tts\b|native-audio|(^|[-/])live-|-live\b|computer-use|robotics|(^|\/)aqa$/i, modality: null },
]
