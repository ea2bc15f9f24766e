import type { JsonObject } from '../json.ts'
import { fractionOf } from '../random.ts'
import type { SpokenWord } from '../recognise.ts'
import { splitTokens } from '../tokens.ts'
import { type Heard, joined } from './hearing.ts'

/** The whole text, without a space in front. */
export function textOf({ recognition }: Heard): string {
  return recognition.utterances.map(joined).join(' ')
}

/** The parts of an answer besides the text. */
export interface WhisperParts {
  /** In the provider's own spelling. */
  language: string
  words: boolean
  segments: boolean
}

/** Whisper's `verbose_json`, without usage: times in seconds, and a space in front of each segment's text. */
export function whisperBody(heard: Heard, { language, words, segments }: WhisperParts): JsonObject {
  const { utterances } = heard.recognition
  return {
    task: 'transcribe',
    language,
    duration: heard.seconds,
    text: textOf(heard),
    ...(words ? { words: utterances.flat().map(({ word, start, end }) => ({ word, start, end })) } : {}),
    ...(segments ? { segments: utterances.map(segmentOf) } : {}),
  }
}

/** Whisper gives the English name of a language. */
export function languageName(code: string): string {
  return new Intl.DisplayNames(['en'], { type: 'language' }).of(code) ?? code
}

function segmentOf(words: readonly SpokenWord[], id: number): JsonObject {
  const text = ` ${joined(words)}`
  return {
    id,
    seek: 0,
    start: words[0]?.start ?? 0,
    end: words.at(-1)?.end ?? 0,
    text,
    tokens: splitTokens(text).map((piece) => Math.floor(fractionOf(piece) * 50_000)),
    temperature: 0,
    avg_logprob: -0.25,
    compression_ratio: 1.2,
    no_speech_prob: 0.01,
  }
}
