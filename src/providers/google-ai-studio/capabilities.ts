import type { AudioCapabilities } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'

/** Models that Google made, under their names here and at hosts of open models. */
export const googleModels: readonly ModelRule[] = [
  { name: /imagen|veo-|lyria|nano-banana/i, modality: null },
  { name: /gemini-embedding|embeddinggemma/i, modality: 'embedding' },
  { name: /gemini-(2\.5|[3-9])/i, reasons: true, sees: true, hears: true },
  { name: /gemini/i, sees: true, hears: true },
  { name: /gemma-?[3-9]/i, sees: true },
]

/** The voices that Google makes itself. */
const voices = (
  'Zephyr Puck Charon Kore Fenrir Leda Orus Aoede Callirrhoe Autonoe Enceladus Iapetus Umbriel Algieba Despina ' +
  'Erinome Algenib Rasalgethi Laomedeia Achernar Alnilam Schedar Gacrux Pulcherrima Achird Zubenelgenubi ' +
  'Vindemiatrix Sadachbia Sadaltager Sulafat'
).split(' ')

/** What is so here alone: speech is another shape of answer, and live models are reached by another way. */
export const studioModels: readonly ModelRule[] = [
  { name: /gemini.*-tts\b/i, modality: 'speech', audio: { voices } },
  { name: /-tts\b|native-audio|(^|[-/])live-|-live\b|computer-use|robotics|(^|\/)aqa$/i, modality: null },
  { name: /gemini/i, transcribes: true },
]

/** Gemini as transcription: it writes what it hears, without times, speakers, or terms that it surely takes. */
export const studioTranscription: Partial<AudioCapabilities> = {
  // The last two by the types of SDK 3.1.0, the others by the page on audio.
  uploadFormats: ['wav', 'mp3', 'aiff', 'aac', 'ogg', 'flac', 'm4a', 'webm'],
  // Nine and a half hours.
  audioMillisecondsMax: 34_200_000,
}

/** Samples alone, at no other speed than the voice's own. */
export const studioSpeech: Partial<AudioCapabilities> = { speechFormats: ['pcm'] }
