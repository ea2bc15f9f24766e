import type { CanonicalTranscription, TranscriptWord } from '../../canonical/audio.ts'
import { toLanguageCode } from '../../formats/transcription/language-names.ts'
import { segmentsOfWords } from '../../formats/transcription/segments-of-words.ts'
import { createSpeakers, type NumberedSpeaker } from '../../formats/transcription/speakers.ts'
import { notATranscript, piecesOf, scoreIn, timesIn } from '../../formats/transcription/transcript-wire.ts'
import { filledTextOrNull, type WireRecord } from '../../json/values.ts'

/** What the job says of its transcript, which is read apart from it. Plain data. */
export interface RevAiJob {
  id: string
  /** As Rev AI writes it; null where it says none. */
  language: string | null
  durationSeconds: number | null
  /** Whether speakers were asked for. Without that a transcript has one speaker for everybody, which says nothing. */
  diarize: boolean
}

/**
 * Rev AI's transcript: what each speaker said in a row, as words, marks and spaces, without a text of the whole. Throws
 * `provider_failed` for what is no such list.
 */
export function readRevAiTranscript(wire: WireRecord, job: RevAiJob): CanonicalTranscription {
  const monologues = piecesOf(wire['monologues'])
  if (monologues === null) throw notATranscript()
  const said = monologues.map((monologue) => ({
    speaker: monologue['speaker'],
    elements: piecesOf(monologue['elements']) ?? [],
  }))
  // Without its marks a transcript has no spaces either.
  const isSpaced = said.some(({ elements }) => elements.some(({ type }) => type === 'punct'))
  const speakerOf = createSpeakers()
  const words: TranscriptWord[] = []
  const texts: string[] = []
  for (const { speaker, elements } of said) {
    const text = elements.map(({ value }) => filledTextOrNull(value) ?? '').join(isSpaced ? '' : ' ')
    if (text.trim() !== '') texts.push(text.trim())
    words.push(...readWords(elements, job.diarize ? speakerOf(speaker) : {}))
  }
  const text = texts.join(' ')
  const { id, language, durationSeconds } = job
  return {
    text,
    language: language === null || language === 'auto' ? null : toLanguageCode(language),
    durationSeconds,
    segments: words.length > 0 ? segmentsOfWords(words, text) : null,
    words,
    confidence: null,
    languageConfidence: null,
    entities: null,
    tokens: null,
    upstreamId: id,
  }
}

/** A mark right behind a word belongs to it, as in the words of other providers. */
function readWords(elements: readonly WireRecord[], speaker: NumberedSpeaker): TranscriptWord[] {
  const words: TranscriptWord[] = []
  let open: TranscriptWord | null = null
  for (const element of elements) {
    const value = filledTextOrNull(element['value'])
    if (value === null) continue
    const times = timesIn({ start: element['ts'], end: element['end_ts'] })
    if (element['type'] === 'punct') {
      const [mark = ''] = /^\S*/.exec(value) ?? []
      if (open !== null) open.word += mark
      if (mark !== value) open = null
      continue
    }
    open = times === null ? null : { word: value, ...times, ...confidenceOf(element), ...speaker }
    if (open !== null) words.push(open)
  }
  return words
}

function confidenceOf({ confidence }: WireRecord): { confidence?: number } {
  const score = scoreIn(confidence)
  return score === null ? {} : { confidence: score }
}
