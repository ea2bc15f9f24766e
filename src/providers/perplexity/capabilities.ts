import type { ModelRule } from '../../catalog/capabilities.ts'

/** Sonar, under its names at Perplexity and at other hosts. */
export const sonarModels: readonly ModelRule[] = [
  { name: /sonar/i, searches: true },
  { name: /sonar-(reasoning|deep)/i, reasons: true },
]
