import type { ModelRule } from '../../catalog/capabilities.ts'

/** Models that DeepSeek made, at its own host and at others, and the smaller ones that were distilled from R1. */
export const deepSeekModels: readonly ModelRule[] = [
  { name: /deepseek-(r|v3\.|v4|reasoner|pro|flash|chat)|(^|[-/])r1(-|$)/i, reasons: true },
]
