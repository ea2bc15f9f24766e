import type { CanonicalTranscription, TranscriptWord } from '../../canonical/audio.ts'
import { toLanguageCode } from '../../formats/transcription/language-names.ts'
import { segmentsOfWords } from '../../formats/transcription/segments-of-words.ts'
import { createSpeakers, type NumberedSpeaker } from '../../formats/transcription/speakers.ts'
import { notATranscript, piecesOf, scoreIn, timesIn } from '../../formats/transcription/transcript-wire.ts'
import { filledTextOrNull, type WireRecord } from '../../json/values.ts'

/** The job's data about its transcript, which is read by another request. Plain data. */
export interface RevAiJob {
  id: string
  /** In Rev AI's spelling; null when it sends none. */
  language: string | null
  durationSeconds: number | null
  /** Whether speakers were requested. If not, the transcript has a single speaker, which means nothing. */
  diarize: boolean
}

/**
 * Reads Rev AI's transcript: the turns of each speaker as words, punctuation and spaces, without a whole text. Throws
 * `provider_failed` when there is no such list.
 */
export function readRevAiTranscript(wire: WireRecord, job: RevAiJob): CanonicalTranscription {
  const monologues = piecesOf(wire['monologues'])
  if (monologues === null) throw notATranscript()
  const said = monologues.map((monologue) => ({
    speaker: monologue['speaker'],
    elements: piecesOf(monologue['elements']) ?? [],
  }))
  // A transcript without punctuation has no spaces either.
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

/** Punctuation right after a word belongs to it, as in the words of other providers. */
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
