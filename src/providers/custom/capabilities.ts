import type { ModelRule } from '../../catalog/capabilities.ts'

/** What the usual servers of one's own for sound do with models that they are known for; the operator overrules all of it. */
export const ownServers: readonly ModelRule[] = [
  // https://github.com/remsky/Kokoro-FastAPI: the voice is its default, and the range its own.
  { name: /kokoro/i, modality: 'speech', audio: { speed: { min: 0.25, max: 4 }, defaultVoice: 'af_heart' } },
  { name: /piper/i, modality: 'speech' },
]
