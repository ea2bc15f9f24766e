import type { CanonicalTranscription, TranscriptMedia, TranscriptSegment } from '../../canonical/audio.ts'
import type { TranscriptionCall } from '../../canonical/call.ts'
import type { ShownCharge } from '../../canonical/upstream.ts'
import { toCredits } from '../../core/money.ts'
import { toSubRip, toWebVtt } from './subtitles.ts'

/** An answer and everything that its rendering depends on. */
export interface RenderedFrom {
  transcription: CanonicalTranscription
  call: TranscriptionCall
  charge: ShownCharge
  media: TranscriptMedia
}

/**
 * The caller's body. `json` has exactly `text` and `usage`; all else comes only with `verbose_json`, and only when it
 * is known. `usage` has all counts, zero for a unit that does not apply, `seconds` when the length is known, and `cost`
 * when there is a price. `headrace_metadata` is added when it is due.
 */
export function renderTranscription(from: RenderedFrom): Uint8Array {
  const { transcription, media } = from
  const segments = () => shownSegments(transcription, durationSeconds(from))
  if (media === 'text') return toBytes(`${transcription.text}\n`)
  if (media === 'vtt') return toBytes(toWebVtt(segments()))
  if (media === 'srt') return toBytes(toSubRip(segments()))
  return toBytes(JSON.stringify(transcriptBody(from)))
}

/** The same body, before it is written as text. */
export function transcriptBody(from: RenderedFrom): Record<string, unknown> {
  const { transcription, call, charge } = from
  const segments = () => shownSegments(transcription, durationSeconds(from))
  const verbose = call.responseFormat === 'verbose_json' ? toVerbose(from, segments()) : {}
  return { ...verbose, text: transcription.text, usage: toUsage(charge), ...metadata(from) }
}

function toVerbose(from: RenderedFrom, segments: readonly TranscriptSegment[]): Record<string, unknown> {
  const { transcription, call } = from
  const wantsWords = call.granularities.includes('word') || call.diarize
  // JSON leaves out undefined members.
  return {
    task: 'transcribe',
    language: transcription.language ?? call.language ?? undefined,
    duration: durationSeconds(from) ?? undefined,
    language_confidence: transcription.languageConfidence ?? undefined,
    confidence: transcription.confidence ?? undefined,
    segments,
    words: wantsWords ? (transcription.words ?? undefined) : undefined,
    entities: transcription.entities ?? undefined,
  }
}

/** The provider's figure, otherwise the container's. */
function durationSeconds({ transcription, charge, call }: RenderedFrom): number | null {
  if (transcription.durationSeconds !== null) return transcription.durationSeconds
  const milliseconds = call.demand.audioMilliseconds ?? charge.usage.audioMilliseconds
  return milliseconds > 0 ? milliseconds / 1000 : null
}

/** Without times from the provider, one segment covers the whole text. */
function shownSegments(
  transcription: CanonicalTranscription,
  duration: number | null,
): readonly TranscriptSegment[] {
  if (transcription.segments !== null) return transcription.segments
  if (transcription.text === '') return []
  return [{ id: 0, start: 0, end: duration ?? 0, text: transcription.text }]
}

function toUsage({ usage, costNanocredits }: ShownCharge): Record<string, number> {
  return {
    ...(costNanocredits === null ? {} : { cost: toCredits(costNanocredits) }),
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    ...(usage.audioMilliseconds > 0 ? { seconds: usage.audioMilliseconds / 1000 } : {}),
  }
}

function metadata({ charge }: RenderedFrom): Record<string, unknown> {
  if (charge.metadata === null) return {}
  const shown = { headrace_metadata: charge.metadata }
  return charge.metadataAlias ? { ...shown, openrouter_metadata: charge.metadata } : shown
}

function toBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
