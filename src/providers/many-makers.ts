import type { ModelRule } from '../catalog/capabilities.ts'
import { claudeModels } from './anthropic/capabilities.ts'
import { deepSeekModels } from './deepseek/capabilities.ts'
import { mistralModels } from './mistral/capabilities.ts'
import { openAiModels } from './openai/capabilities.ts'

/** Families whose weights are open and whose makers have no folder here. */
const openModels: readonly ModelRule[] = [
  { name: /^(?!.*(?:realtime|live)).*(?:parakeet|canary)/i, modality: 'transcription' },
  { name: /kokoro|orpheus|parler/i, modality: 'speech' },
  { name: /(^|[-/])bge-|(^|[-/])(e5|gte|uae)-|minilm/i, modality: 'embedding' },
  { name: /flux|stable-diffusion/i, modality: null },
  { name: /llava|gemma-?3|llama-?4|scout|maverick/i, sees: true },
  { name: /qwq|qwen-?3|kimi-k2|glm-(4\.[5-9]|[5-9])|minimax-m|nemotron/i, reasons: true },
]

/** Families of makers that are reached through other hosts until they have a folder, which their line then moves to. */
const resoldModels: readonly ModelRule[] = [
  { name: /imagen/i, modality: null },
  { name: /gemini-(2\.5|[3-9])|grok-(3-mini|[4-9]|code)|sonar-(reasoning|deep)/i, reasons: true },
]

/** For hosts that serve what others made, and for servers of which nobody knows what they serve. */
export const modelsOfManyMakers: readonly ModelRule[] = [
  ...openAiModels,
  ...claudeModels,
  ...mistralModels,
  ...deepSeekModels,
  ...openModels,
  ...resoldModels,
]
