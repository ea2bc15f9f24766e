import type { ModelRule } from '../../catalog/capabilities.ts'

/** DeepSeek's models, at its own host and at others, and the smaller models distilled from R1. */
export const deepSeekModels: readonly ModelRule[] = [
  { name: /deepseek-(r|v3\.|v4|reasoner|pro|flash|chat)|(^|[-/])r1(-|$)/i, reasons: true },
]
