import { passedFormats, unboundedKeyterms } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'

const megabyte = 1024 * 1024
const classicVoices = ['alloy', 'ash', 'coral', 'echo', 'fable', 'onyx', 'nova', 'sage', 'shimmer']
/** Voices that an account created from a sample, besides the public ones. */
const ownVoicePrefix = 'voice_'

/** OpenAI's models, by their names there; Whisper also by its names at other hosts. */
export const openAiModels: readonly ModelRule[] = [
  {
    name: /^(?!.*(?:realtime|live)).*whisper/i,
    modality: 'transcription',
    audio: { verboseJson: true, wordTimes: true },
  },
  // It has segments with speakers, and no words.
  { name: /gpt-4o-transcribe-diarize/, audio: { verboseJson: true, segmentSpeakers: true } },
  { name: /gpt-transcribe/, audio: { keyterms: unboundedKeyterms } },
  { name: /^(tts-1|gpt-4o-mini-tts)/, audio: { speed: { min: 0.25, max: 4 } } },
  { name: /dall-e|sora/i, modality: null },
  // Models for legacy completions only. Most calls of a text model would fail there, so they are offered only when the
  // operator lists them.
  {
    name: /^(ada|babbage|curie|davinci)\b|(babbage|davinci)-00|instruct-0914|gpt-3\.5-turbo-instruct/i,
    modality: null,
  },
  { name: /gpt-4o(-mini)?-audio|gpt-audio/i, hears: true },
  { name: /gpt-oss/i, reasons: true },
  { name: /gpt-[5-9]|(^|[-/])o[134](-|$)/i, sees: true, reasons: true },
  { name: /gpt-4o|gpt-4\.1|gpt-4-turbo/i, sees: true },
]

/**
 * Limits and voices of OpenAI's own service and of Azure's. They do not apply to other hosts of the same models, or to
 * servers that use these names for other models.
 */
export const openAiService: readonly ModelRule[] = [
  {
    name: /^tts-1/,
    audio: { inputCharactersMax: 4096, voices: classicVoices, ownVoicePrefix, passedFormats },
  },
  {
    name: /^gpt-4o-mini-tts/,
    audio: {
      inputCharactersMax: 4096,
      voices: [...classicVoices, 'ballad', 'verse', 'marin', 'cedar'],
      ownVoicePrefix,
      passedFormats,
    },
  },
  {
    name: /whisper|transcribe/i,
    audio: {
      uploadBytesMax: 25 * megabyte,
      uploadFormats: ['flac', 'mp3', 'm4a', 'ogg', 'wav', 'webm'],
    },
  },
]
