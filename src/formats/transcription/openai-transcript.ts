import { AttemptFailed } from '../../canonical/attempt-failed.ts'
import type { CanonicalTranscription, TranscriptSegment, TranscriptWord } from '../../canonical/audio.ts'
import { settleCounts } from '../text/token-counts.ts'
import { readReportedFailure, type ReportContext } from '../upstream-errors.ts'
import { entitiesOfOffsets } from './entity-spans.ts'
import { unjoinTerms } from './joined-terms.ts'
import { toLanguageCode } from './language-names.ts'
import { segmentsOfWords } from './segments-of-words.ts'
import { createSpeakers, withSpeakersOf } from './speakers.ts'
import { countOrNull, filledTextOrNull, recordOrNull, type WireRecord } from '../../json/values.ts'
import { durationIn, notATranscript, parseTranscript, piecesOf, scoreIn, timesIn } from './transcript-wire.ts'

type SpeakerOf = ReturnType<typeof createSpeakers>

/** The parts of the request that are needed to read its answer. */
export interface TranscriptReading {
  /** The entries of `segments` are words; Mistral sends them so when asked for words. */
  areSegmentsWords: boolean
  /** The text contains speaker marks, so it is made from the segments when there are any. */
  isTextOfSegments: boolean
  /** The language that the caller asked for. */
  language: string | null
  /** The terms that were sent as single words, and their joiner. */
  joinedTerms: { terms: readonly string[]; joiner: string } | null
  /** The secrets and names for cleaning the provider's error messages. */
  context: ReportContext
}

/**
 * Reads the transcript of an OpenAI-style provider. Null means absent, and a wrong time or score is left out. Throws
 * `provider_failed` when there is no text, and the provider's error when it stands in the text's place.
 */
export function readOpenAiTranscript(bytes: Uint8Array, reading: TranscriptReading): CanonicalTranscription {
  const wire = parseTranscript(bytes)
  if (typeof wire['text'] !== 'string') throw failureIn(wire, reading.context)
  const speakerOf = createSpeakers()
  const ofSpeakers = piecesOf(wire['speaker_segments'])
  // Together lists speakers most reliably in a separate list.
  const entries = ofSpeakers?.length ? ofSpeakers : piecesOf(wire['segments'])
  const spoken = reading.areSegmentsWords ? entries : (wordsOfSpeakers(ofSpeakers) ?? piecesOf(wire['words']))
  const segments = reading.areSegmentsWords ? null : readSegments(entries, speakerOf)
  const told = spoken === null ? null : readWords(spoken, speakerOf)
  const words = told === null || segments === null ? told : withSpeakersOf(segments, told)
  const usage = recordOrNull(wire['usage'])
  const languages = piecesOf(wire['languages'])
  const language =
    filledTextOrNull(wire['language']) ?? filledTextOrNull(languages?.[0]?.['code']) ?? reading.language
  const heard = reading.isTextOfSegments && segments !== null ? textOf(segments) : wire['text'].trim()
  return withTermsApart(reading, {
    // Whisper begins its text with a space.
    text: heard,
    language: language === null ? null : toLanguageCode(language),
    durationSeconds: readDuration(wire, usage),
    segments: segments ?? (words && words.length > 0 ? segmentsOfWords(words, heard) : null),
    words,
    confidence: scoreIn(wire['confidence']),
    languageConfidence: scoreIn(wire['language_confidence']),
    entities: readEntities(piecesOf(wire['entities']), heard),
    tokens: readTokens(usage),
    upstreamId: filledTextOrNull(recordOrNull(wire['x_groq'])?.['id']) ?? filledTextOrNull(wire['id']),
  })
}

function failureIn({ error }: WireRecord, context: ReportContext): Error {
  const isTold = recordOrNull(error) !== null || filledTextOrNull(error) !== null
  return isTold ? new AttemptFailed(readReportedFailure(error, context)) : notATranscript()
}

function textOf(segments: readonly TranscriptSegment[]): string {
  return segments.map((segment) => segment.text).join(' ')
}

/** The words of such a list stand inside its entries. */
function wordsOfSpeakers(segments: WireRecord[] | null): WireRecord[] | null {
  const words = (segments ?? []).flatMap((segment) =>
    (piecesOf(segment['words']) ?? []).map((word) => ({ speaker_id: segment['speaker_id'], ...word })),
  )
  return words.length > 0 ? words : null
}

/** Restores terms that had to be sent as single words to the caller's spelling. */
function withTermsApart(
  { joinedTerms }: TranscriptReading,
  transcription: CanonicalTranscription,
): CanonicalTranscription {
  if (joinedTerms === null || joinedTerms.terms.length === 0) return transcription
  const apart = unjoinTerms(joinedTerms.terms, joinedTerms.joiner)
  return {
    ...transcription,
    text: apart(transcription.text),
    segments: transcription.segments?.map((segment) => ({ ...segment, text: apart(segment.text) })) ?? null,
    words: transcription.words?.map((entry) => ({ ...entry, word: apart(entry.word) })) ?? null,
  }
}

/** The exact figure comes first, then billed seconds, which are rounded up. */
function readDuration(wire: WireRecord, usage: WireRecord | null): number | null {
  const told = durationIn(wire['duration']) ?? durationIn(usage?.['prompt_audio_seconds'])
  return told ?? durationIn(usage?.['seconds'])
}

const noParts = { cached: 0, written: 0, reasoning: 0, outputAudio: 0 }

function readTokens(usage: WireRecord | null): CanonicalTranscription['tokens'] {
  const input = countOrNull(usage?.['input_tokens']) ?? countOrNull(usage?.['prompt_tokens'])
  const output = countOrNull(usage?.['output_tokens']) ?? countOrNull(usage?.['completion_tokens'])
  if (usage === null || (input === null && output === null)) return null
  const details = recordOrNull(usage['input_token_details']) ?? recordOrNull(usage['prompt_tokens_details'])
  const counts = settleCounts(
    {
      ...noParts,
      input: input ?? 0,
      output: output ?? 0,
      total: countOrNull(usage['total_tokens']),
      inputAudio: countOrNull(details?.['audio_tokens']) ?? 0,
    },
    { isReasoningApart: false, isAudioHeard: true },
  )
  return { input: counts.input, inputAudio: counts.inputAudio, output: counts.output }
}

function readSegments(entries: WireRecord[] | null, speakerOf: SpeakerOf): TranscriptSegment[] | null {
  const segments: TranscriptSegment[] = []
  for (const [index, entry] of (entries ?? []).entries()) {
    const segment = readSegment(entry, index, speakerOf)
    if (segment !== null) segments.push(segment)
  }
  return segments.length > 0 ? segments : null
}

const segmentScores = ['seek', 'temperature', 'avg_logprob', 'compression_ratio', 'no_speech_prob'] as const

function readSegment(entry: WireRecord, index: number, speakerOf: SpeakerOf): TranscriptSegment | null {
  const times = timesIn(entry)
  if (times === null || typeof entry['text'] !== 'string') return null
  const segment: TranscriptSegment = {
    id: countOrNull(entry['id']) ?? index,
    start: times.start,
    end: times.end,
    text: entry['text'].trim(),
  }
  for (const name of segmentScores) {
    const score = entry[name]
    if (typeof score === 'number' && Number.isFinite(score)) segment[name] = score
  }
  const { tokens } = entry
  if (Array.isArray(tokens) && tokens.every((token) => Number.isSafeInteger(token))) segment.tokens = tokens
  return Object.assign(segment, speakerOf(labelOf(entry)), channelIn(entry))
}

function readWords(entries: readonly WireRecord[], speakerOf: SpeakerOf): TranscriptWord[] {
  const words: TranscriptWord[] = []
  for (const entry of entries) {
    const times = timesIn(entry)
    const text = filledTextOrNull(entry['word']) ?? filledTextOrNull(entry['text'])
    if (times === null || text === null) continue
    const word: TranscriptWord = { word: text.trim(), start: times.start, end: times.end }
    const confidence = scoreIn(entry['confidence'] ?? entry['score'])
    if (confidence !== null) word.confidence = confidence
    Object.assign(word, speakerOf(labelOf(entry)))
    if (entry['type'] === 'audio_event') word.type = 'audio_event'
    words.push(Object.assign(word, channelIn(entry)))
  }
  return words
}

/** Each of these hosts has its own name for it. */
function labelOf(entry: WireRecord): unknown {
  return entry['speaker_label'] ?? entry['speaker'] ?? entry['speaker_id']
}

function channelIn(entry: WireRecord): { channel?: number } {
  const channel = countOrNull(entry['channel'])
  return channel === null ? {} : { channel }
}

/** Gateways with the contract's format send entities in the contract's form. */
function readEntities(entries: WireRecord[] | null, text: string): CanonicalTranscription['entities'] {
  if (entries === null) return null
  const told = entries.flatMap((entry) => {
    const [own, type] = [filledTextOrNull(entry['text']), filledTextOrNull(entry['type'])]
    const [start, end] = [countOrNull(entry['start_char']), countOrNull(entry['end_char'])]
    return own === null || type === null || start === null || end === null
      ? []
      : [{ text: own, type, start, end }]
  })
  return entitiesOfOffsets(text, told)
}
