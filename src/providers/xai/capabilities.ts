import type { ModelRule } from '../../catalog/capabilities.ts'

/** Grok, under its names at xAI and at other hosts. */
export const grokModels: readonly ModelRule[] = [
  // Sockets that speak, and what paints: no operation serves them.
  { name: /grok-voice|grok-imagine|grok-2-image/i, modality: null },
  { name: /grok.*non-reasoning/i, reasons: false },
  { name: /grok-(3-mini|[4-9]|code|build)/i, reasons: true },
  { name: /grok-(2-vision|[4-9])/i, sees: true },
]
