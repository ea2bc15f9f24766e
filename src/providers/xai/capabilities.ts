import { unboundedKeyterms } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'

/** Grok, under its names at xAI and at other hosts. */
export const grokModels: readonly ModelRule[] = [
  // Models behind WebSockets that speak, and image models; no operation serves them.
  { name: /grok-voice|grok-imagine|grok-2-image/i, modality: null },
  { name: /grok.*non-reasoning/i, reasons: false },
  { name: /grok-(3-mini|[4-9]|code|build)/i, reasons: true },
  { name: /grok-(2-vision|[4-9])/i, sees: true },
]

/**
 * Its paths for sound name no model; these names are the gateway's own. https://docs.x.ai/developers/models, 2026-11.
 */
export const grokAudio: readonly ModelRule[] = [
  {
    name: /^grok-stt$/,
    modality: 'transcription',
    audio: { verboseJson: true, wordTimes: true, diarize: true, keyterms: unboundedKeyterms },
  },
  {
    name: /^grok-tts$/,
    modality: 'speech',
    audio: {
      speed: { min: 0.7, max: 1.5 },
      inputCharactersMax: 15_000,
      // Teams may clone further voices, whose ids have no pattern.
      voices: ['eve', 'ara', 'leo', 'rex', 'sal'],
      ownVoicePrefix: '',
    },
  },
]
