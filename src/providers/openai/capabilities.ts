import { passedFormats, unboundedKeyterms } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'

const megabyte = 1024 * 1024
const classicVoices = ['alloy', 'ash', 'coral', 'echo', 'fable', 'onyx', 'nova', 'sage', 'shimmer']
/** Voices that an account had made of a sample, beside those of everybody. */
const ownVoicePrefix = 'voice_'

/** Models that OpenAI made, by their names there; Whisper also under the names that other hosts give it. */
export const openAiModels: readonly ModelRule[] = [
  {
    name: /^(?!.*(?:realtime|live)).*whisper/i,
    modality: 'transcription',
    audio: { verboseJson: true, wordTimes: true },
  },
  // Segments with speakers, and no words.
  { name: /gpt-4o-transcribe-diarize/, audio: { verboseJson: true, segmentSpeakers: true } },
  { name: /gpt-transcribe/, audio: { keyterms: unboundedKeyterms } },
  { name: /^(tts-1|gpt-4o-mini-tts)/, audio: { speed: { min: 0.25, max: 4 } } },
  { name: /dall-e|sora/i, modality: null },
  // Models of text completions, which no operation has.
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
 * Limits and voices of OpenAI's own service and of Azure's. Other hosts of the same models, and servers that use these
 * names for models of their own, do not have them.
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
