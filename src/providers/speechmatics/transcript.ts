import type { CanonicalTranscription, TranscriptWord } from '../../canonical/audio.ts'
import { toLanguageCode } from '../../formats/transcription/language-names.ts'
import { segmentsOfWords } from '../../formats/transcription/segments-of-words.ts'
import { createSpeakers } from '../../formats/transcription/speakers.ts'
import {
  durationIn,
  notATranscript,
  piecesOf,
  scoreIn,
  timesIn,
} from '../../formats/transcription/transcript-wire.ts'
import { filledTextOrNull, recordOrNull, type WireRecord } from '../../json/values.ts'

/** The speaker of words without a known speaker. */
const nobody = 'UU'

/**
 * Reads Speechmatics' `json-v2`: a sequence of words and punctuation, without a whole text. A word is joined with the
 * delimiter of its own language, otherwise with that of the transcript; punctuation says to which side it attaches.
 * Throws `provider_failed` when there is no such list.
 */
export function readSpeechmaticsTranscript(
  wire: WireRecord,
  language: string | null,
): CanonicalTranscription {
  const results = piecesOf(wire['results'])
  if (results === null) throw notATranscript()
  const metadata = recordOrNull(wire['metadata'])
  const { text, words, lastWords } = joined(results, delimitersIn(metadata))
  const identified = identifiedIn(metadata)
  const told =
    filledTextOrNull(bestOf(results[0])?.['language']) ??
    filledTextOrNull(identified?.['language']) ??
    language
  const job = recordOrNull(wire['job'])
  return {
    text,
    language: told === null ? null : toLanguageCode(told),
    durationSeconds: durationIn(job?.['duration']),
    segments: words.length > 0 ? segmentsOfWords(words, text, lastWords.size > 0 ? lastWords : null) : null,
    words,
    confidence: null,
    languageConfidence: scoreIn(identified?.['confidence']),
    // Its entities are written forms of numbers and dates, not names.
    entities: null,
    tokens: null,
    upstreamId: filledTextOrNull(job?.['id']),
  }
}

function bestOf(entry: WireRecord | undefined): WireRecord | null {
  return piecesOf(entry?.['alternatives'])?.[0] ?? null
}

function identifiedIn(metadata: WireRecord | null): WireRecord | null {
  return bestOf(piecesOf(recordOrNull(metadata?.['language_identification'])?.['results'])?.[0])
}

/** The delimiter before a word of this language. */
type DelimiterOf = (language: unknown) => string

function delimitersIn(metadata: WireRecord | null): DelimiterOf {
  const pack = recordOrNull(metadata?.['language_pack_info'])
  const whole = pack?.['word_delimiter']
  const usual = typeof whole === 'string' ? whole : ' '
  const own = new Map(Object.entries(recordOrNull(pack?.['per_language_word_delimiters']) ?? {}))
  return (language) => {
    const delimiter = typeof language === 'string' ? own.get(language) : undefined
    return typeof delimiter === 'string' ? delimiter : usual
  }
}

interface Joined {
  text: string
  words: TranscriptWord[]
  /** The words that end a sentence. */
  lastWords: Set<TranscriptWord>
}

function joined(results: readonly WireRecord[], delimiterOf: DelimiterOf): Joined {
  const speakerOf = createSpeakers()
  const lastWords = new Set<TranscriptWord>()
  const words: TranscriptWord[] = []
  let text = ''
  let isOpen = false
  for (const entry of results) {
    const best = bestOf(entry)
    const content = filledTextOrNull(best?.['content'])
    if (content === null) continue
    const { type, attaches_to: attached } = entry
    const isMark = type === 'punctuation'
    const clings = isMark && (attached === 'previous' || attached === 'both')
    text += text === '' || clings || isOpen ? content : `${delimiterOf(best?.['language'])}${content}`
    isOpen = isMark && (attached === 'next' || attached === 'both')
    const last = words.at(-1)
    // Words of other providers include their punctuation too.
    if (isMark && clings && last) last.word += content
    if (entry['is_eos'] === true && last) lastWords.add(last)
    if (!isMark) words.push(...readWord(entry, { content, best, speakerOf }))
  }
  return { text, words, lastWords }
}

interface Said {
  content: string
  best: WireRecord | null
  speakerOf: ReturnType<typeof createSpeakers>
}

function readWord(entry: WireRecord, { content, best, speakerOf }: Said): TranscriptWord[] {
  const times = timesIn({ start: entry['start_time'], end: entry['end_time'] })
  if (times === null) return []
  const confidence = scoreIn(best?.['confidence'])
  const speaker = best?.['speaker'] === nobody ? undefined : best?.['speaker']
  return [{ word: content, ...times, ...(confidence === null ? {} : { confidence }), ...speakerOf(speaker) }]
}
