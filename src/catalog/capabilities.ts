import type { AudioCapabilities } from '../canonical/endpoint.ts'
import type { Modality } from '../canonical/operation.ts'

/**
 * What a model can do, as far as its name tells. Providers' listings rarely say; the operator's configuration can
 * overrule every guess made here.
 */

/** Names of models that none of the operations serves. */
const unservable =
  /moderation|dall-e|image|imagen|flux|sora|video|rerank|realtime|(^|[-/])live-|-ocr|^(ada|babbage|curie|davinci)\b|(babbage|davinci)-00|instruct-0914|gpt-3\.5-turbo-instruct|stable-diffusion|whisper-realtime/i
const embedding = /embed|(^|[-/])bge-|(^|[-/])(e5|gte|uae)-|minilm|retrieval/i
const transcription =
  /whisper|transcribe|voxtral-mini-(2602|latest)|parakeet|canary|(^|[-/])asr|speech-to-text/i
const speech = /(^|[-/])tts|-tts\b|-tts-|kokoro|orpheus|cartesia\/sonic|text-to-speech|parler|playai/i

/** The kind of model a name suggests, null when none of the operations serves it; unknown names are language models. */
export function guessModality(upstreamModel: string): Modality | null {
  if (transcription.test(upstreamModel) && !/realtime|live/i.test(upstreamModel)) return 'transcription'
  if (speech.test(upstreamModel)) return 'speech'
  if (embedding.test(upstreamModel)) return 'embedding'
  return unservable.test(upstreamModel) ? null : 'language'
}

const sees =
  /claude|gpt-4o|gpt-4\.1|gpt-4-turbo|gpt-[5-9]|(^|[-/])o[134](-|$)|pixtral|vision|-vl|llava|gemma-?3|llama-?4|scout|maverick|mistral-(small|medium)-(3|latest|2[5-9])/i
const thinks =
  /(^|[-/])o[134](-|$)|gpt-[5-9]|gpt-oss|claude-(opus|sonnet|haiku|fable)-?[4-9]|claude-3-7|gemini-(2\.5|[3-9])|deepseek-(r|v3\.|v4|reasoner|pro|flash|chat)|(^|[-/])r1(-|$)|qwq|qwen-?3|grok-(3-mini|[4-9]|code)|magistral|reason|think|kimi-k2|glm-(4\.[5-9]|[5-9])|minimax-m|nemotron|sonar-(reasoning|deep)|compound/i
const hears = /gpt-4o(-mini)?-audio|gpt-audio|voxtral-small/i

/** Whether a model of this name thinks before it answers. */
export function guessReasons(upstreamModel: string): boolean {
  return thinks.test(upstreamModel)
}

/** Modalities as the public catalog names them. */
export function guessModalities(
  modality: Modality,
  upstreamModel: string,
): { input: string[]; output: string[] } {
  switch (modality) {
    case 'embedding':
      return { input: ['text'], output: ['embeddings'] }
    case 'transcription':
      return { input: ['audio'], output: ['transcription'] }
    case 'speech':
      return { input: ['text'], output: ['speech'] }
    case 'language': {
      const input = ['text']
      if (sees.test(upstreamModel)) input.push('image')
      if (hears.test(upstreamModel)) input.push('audio')
      return { input, output: ['text'] }
    }
  }
}

const megabyte = 1024 * 1024

/** The least an audio model may be taken to offer. Addresses are fetched by the gateway unless an adapter says otherwise. */
const plainAudio: AudioCapabilities = {
  verboseJson: false,
  wordTimes: false,
  diarize: false,
  keyterms: false,
  url: false,
  speed: null,
  speechFormats: ['mp3', 'pcm'],
  inputCharactersMax: null,
  uploadBytesMax: null,
  voiceCloning: false,
  multipleReferences: false,
  imageReference: false,
  defaultVoice: null,
  voices: null,
}

const classicVoices = ['alloy', 'ash', 'coral', 'echo', 'fable', 'onyx', 'nova', 'sage', 'shimmer']

/** What is known of models by name; the first pattern that fits counts. */
const knownAudio: readonly { name: RegExp; capabilities: Partial<AudioCapabilities> }[] = [
  { name: /whisper/i, capabilities: { verboseJson: true, wordTimes: true, uploadBytesMax: 25 * megabyte } },
  { name: /^gpt-(4o-(mini-)?)?transcribe/, capabilities: { uploadBytesMax: 25 * megabyte } },
  { name: /voxtral/i, capabilities: { uploadBytesMax: 512 * megabyte } },
  {
    name: /^tts-1/,
    capabilities: { speed: { min: 0.25, max: 4 }, inputCharactersMax: 4096, voices: classicVoices },
  },
  {
    name: /^gpt-4o-mini-tts/,
    capabilities: {
      speed: { min: 0.25, max: 4 },
      inputCharactersMax: 4096,
      voices: [...classicVoices, 'ballad', 'verse', 'marin', 'cedar'],
    },
  },
  {
    name: /orpheus-v1-english/,
    capabilities: {
      inputCharactersMax: 200,
      voices: ['autumn', 'diana', 'hannah', 'austin', 'daniel', 'troy'],
    },
  },
  {
    name: /orpheus-arabic/,
    capabilities: {
      inputCharactersMax: 200,
      voices: ['abdullah', 'fahad', 'sultan', 'lulwa', 'noura', 'aisha'],
    },
  },
]

/** What an audio model of this name offers, changed by what its provider's adapter can or cannot carry. */
export function audioCapabilities(
  upstreamModel: string,
  provider: Partial<AudioCapabilities> | undefined,
): AudioCapabilities {
  const known = knownAudio.find(({ name }) => name.test(upstreamModel))
  return { ...plainAudio, ...known?.capabilities, ...provider }
}
