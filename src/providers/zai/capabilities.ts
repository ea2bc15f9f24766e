import type { ModelRule } from '../../catalog/capabilities.ts'

/** GLM, under its names at Z.ai and at other hosts. */
export const glmModels: readonly ModelRule[] = [
  { name: /glm-(4[.p][5-9]|[5-9])/i, reasons: true },
  { name: /glm-(4[.p][5-9]|[5-9](\.\d)?)v/i, sees: true },
]
