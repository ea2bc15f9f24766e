import {
  passedFormats,
  type AudioCapabilities,
  type KeytermRules,
  type PassedFormat,
} from '../canonical/endpoint.ts'

/** What the operator says of an audio model; the members are those of the configuration file. */
export interface OperatorAudio {
  verbose_json?: boolean | undefined
  word_times?: boolean | undefined
  diarize?: boolean | undefined
  segment_speakers?: boolean | undefined
  keyterms?: boolean | OperatorKeyterms | undefined
  upload_formats?: readonly string[] | undefined
  upload_bytes_max?: number | undefined
  audio_seconds_max?: number | undefined
  languages?: readonly string[] | undefined
  speech_formats?: readonly ('mp3' | 'pcm' | PassedFormat)[] | undefined
  speed?: { min: number; max: number } | undefined
  input_characters_max?: number | undefined
  voices?: readonly string[] | undefined
  default_voice?: string | undefined
}

interface OperatorKeyterms {
  count_max?: number | undefined
  characters_max?: number | undefined
  words_max?: number | undefined
  tokens_max?: number | undefined
  forbidden?: string | undefined
}

/** The capabilities that are stated; the others stay as the model's name and its provider suggest. */
export function statedAudio(audio: OperatorAudio): Partial<AudioCapabilities> {
  // Only verbose answers have times and speakers.
  const hasTimes = audio.word_times || audio.diarize || audio.segment_speakers
  const verboseJson = audio.verbose_json ?? (hasTimes ? true : undefined)
  const { keyterms, audio_seconds_max: secondsMax } = audio
  const stated = {
    verboseJson,
    wordTimes: audio.word_times,
    diarize: audio.diarize,
    segmentSpeakers: audio.segment_speakers,
    keyterms: keyterms === undefined ? undefined : keytermRules(keyterms),
    uploadFormats: audio.upload_formats,
    uploadBytesMax: audio.upload_bytes_max,
    audioMillisecondsMax: secondsMax === undefined ? undefined : secondsMax * 1000,
    languages: audio.languages,
    ...statedSpeechFormats(audio.speech_formats),
    speed: audio.speed,
    inputCharactersMax: audio.input_characters_max,
    voices: audio.voices,
    defaultVoice: audio.default_voice,
  }
  return Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== undefined))
}

function keytermRules(stated: boolean | OperatorKeyterms): KeytermRules | null {
  if (stated === false) return null
  const bounds = stated === true ? {} : stated
  return {
    countMax: bounds.count_max ?? null,
    charactersMax: bounds.characters_max ?? null,
    wordsMax: bounds.words_max ?? null,
    tokensMax: bounds.tokens_max ?? null,
    forbidden: bounds.forbidden ?? '',
  }
}

/**
 * The stated formats: mp3 and pcm, which the gateway converts into each other, and those that pass through unchanged. A
 * list that would be empty is left out.
 */
function statedSpeechFormats(
  stated: OperatorAudio['speech_formats'] = [],
): Partial<Pick<AudioCapabilities, 'speechFormats' | 'passedFormats'>> {
  const own = stated.filter((format) => format === 'mp3' || format === 'pcm')
  const passed = passedFormats.filter((format) => stated.includes(format))
  return {
    ...(own.length > 0 ? { speechFormats: own } : {}),
    ...(passed.length > 0 ? { passedFormats: passed } : {}),
  }
}
