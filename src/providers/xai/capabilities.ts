import type { ModelRule } from '../../catalog/capabilities.ts'

/** Grok, under its names at xAI and at other hosts. */
export const grokModels: readonly ModelRule[] = [
  // Sockets that speak, and what paints: no operation serves them.
  { name: /grok-voice|grok-imagine|grok-2-image/i, modality: null },
  { name: /grok.*non-reasoning/i, reasons: false },
  { name: /grok-(3-mini|[4-9]|code|build)/i, reasons: true },
  { name: /grok-(2-vision|[4-9])/i, sees: true },
]

/** Its speech, which names no model; here it is `grok-tts`. https://docs.x.ai/developers/models/text-to-speech, 2026-11. */
export const grokVoices: readonly ModelRule[] = [
  {
    name: /^grok-tts$/,
    modality: 'speech',
    audio: {
      speed: { min: 0.7, max: 1.5 },
      inputCharactersMax: 15_000,
      voices: ['eve', 'ara', 'leo', 'rex', 'sal'],
    },
  },
]
