import type { AudioCapabilities } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'

/** Google's models, by their names here and at hosts of open models. */
export const googleModels: readonly ModelRule[] = [
  { name: /imagen|veo-|lyria|nano-banana/i, modality: null },
  { name: /gemini-embedding|embeddinggemma/i, modality: 'embedding' },
  { name: /gemini-(2\.5|[3-9])/i, reasons: true, sees: true, hears: true },
  { name: /gemini/i, sees: true, hears: true },
  { name: /gemma-?[3-9]/i, sees: true },
]

/** Google's own voices. */
const voices = (
  'Zephyr Puck Charon Kore Fenrir Leda Orus Aoede Callirrhoe Autonoe Enceladus Iapetus Umbriel Algieba Despina ' +
  'Erinome Algenib Rasalgethi Laomedeia Achernar Alnilam Schedar Gacrux Pulcherrima Achird Zubenelgenubi ' +
  'Vindemiatrix Sadachbia Sadaltager Sulafat'
).split(' ')

/** Rules for this host only: a speech model answers in another form, and live models have another interface. */
export const studioModels: readonly ModelRule[] = [
  { name: /gemini.*-tts\b/i, modality: 'speech', audio: { voices } },
  { name: /-tts\b|native-audio|(^|[-/])live-|-live\b|computer-use|robotics|(^|\/)aqa$/i, modality: null },
  { name: /gemini/i, transcribes: true },
]

/** Gemini as transcription: it writes the text, without times and speakers, and without a guarantee for terms. */
export const studioTranscription: Partial<AudioCapabilities> = {
  // The last two come from the types of SDK 3.1.0, the others from the documentation of audio.
  uploadFormats: ['wav', 'mp3', 'aiff', 'aac', 'ogg', 'flac', 'm4a', 'webm'],
  // Nine and a half hours.
  audioMillisecondsMax: 34_200_000,
}

/** Only samples, and only at the voice's own speed. */
export const studioSpeech: Partial<AudioCapabilities> = { speechFormats: ['pcm'] }
