import type { ModelRule } from '../catalog/capabilities.ts'

/** Families whose makers have no folder here; hosts of many makers serve them. */
export const openModels: readonly ModelRule[] = [
  { name: /^(?!.*(?:realtime|live)).*(?:parakeet|canary)/i, modality: 'transcription' },
  { name: /kokoro|orpheus|parler/i, modality: 'speech' },
  { name: /^(?!.*rerank).*(?:(^|[-/])bge-|(^|[-/])(e5|gte|uae)-|minilm)/i, modality: 'embedding' },
  { name: /flux|stable-diffusion/i, modality: null },
  { name: /llava|llama-?4|scout|maverick/i, sees: true },
  { name: /qwq|qwen-?3|minimax-m|nemotron/i, reasons: true },
]
