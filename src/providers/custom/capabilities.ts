import type { ModelRule } from '../../catalog/capabilities.ts'

/** Known models of common sound servers that operators run; the operator's settings overrule these. */
export const ownServers: readonly ModelRule[] = [
  // https://github.com/remsky/Kokoro-FastAPI: its default voice, and its range of speeds.
  { name: /kokoro/i, modality: 'speech', audio: { speed: { min: 0.25, max: 4 }, defaultVoice: 'af_heart' } },
  { name: /piper/i, modality: 'speech' },
]
