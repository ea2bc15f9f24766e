import type { AudioCapabilities } from '../canonical/endpoint.ts'

/** What the operator says of an audio model; the members are those of the configuration file. */
export interface OperatorAudio {
  verbose_json?: boolean | undefined
  word_times?: boolean | undefined
  diarize?: boolean | undefined
  upload_bytes_max?: number | undefined
  speech_formats?: readonly ('mp3' | 'pcm')[] | undefined
  speed?: { min: number; max: number } | undefined
  input_characters_max?: number | undefined
  voices?: readonly string[] | undefined
  default_voice?: string | undefined
}

/** The capabilities that are stated; the others stay as the model's name and its provider suggest. */
export function statedAudio(audio: OperatorAudio): Partial<AudioCapabilities> {
  // Times and speakers stand in verbose answers only.
  const verboseJson = audio.verbose_json ?? (audio.word_times || audio.diarize ? true : undefined)
  const stated = {
    verboseJson,
    wordTimes: audio.word_times,
    diarize: audio.diarize,
    uploadBytesMax: audio.upload_bytes_max,
    speechFormats: audio.speech_formats,
    speed: audio.speed,
    inputCharactersMax: audio.input_characters_max,
    voices: audio.voices,
    defaultVoice: audio.default_voice,
  }
  return Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== undefined))
}
