import { type KeytermRules, unboundedKeyterms } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'

/** Mistral's models, at its own host and at others. */
export const mistralModels: readonly ModelRule[] = [
  { name: /voxtral.*-tts/i, modality: 'speech' },
  {
    name: /voxtral-mini-(2602|latest)(?!.*(?:realtime|live))/i,
    modality: 'transcription',
    audio: { wordTimes: true, segmentSpeakers: true },
  },
  { name: /voxtral-small/i, hears: true },
  { name: /voxtral/i, audio: { uploadBytesMax: 512 * 1024 * 1024, segmentSpeakers: true } },
  { name: /pixtral|mistral-(small|medium)-(3|latest|2[5-9])/i, sees: true },
  { name: /magistral/i, reasons: true },
]

/** At most a hundred terms. https://docs.mistral.ai/studio/audio/speech-to-text/transcribe-files */
export const mistralKeyterms: KeytermRules = { ...unboundedKeyterms, countMax: 100 }

/** Only here may a clip of 3 to 25 seconds replace the voice. https://docs.mistral.ai/studio/audio/text-to-speech */
export const mistralVoices: readonly ModelRule[] = [
  { name: /voxtral.*-tts/i, modality: 'speech', audio: { voiceCloning: true } },
]
