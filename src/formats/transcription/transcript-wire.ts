import { GatewayError } from '../../core/errors.ts'
import { countOrNull, recordOrNull, recordsOrEmpty, type WireRecord } from '../../json/values.ts'
import { audioDurationMsMax, transcriptPiecesMax } from '../../core/limits/audio.ts'

/** The object of a transcript's answer. Throws `provider_failed` for what is no JSON object. */
export function parseTranscript(bytes: Uint8Array): WireRecord {
  const wire = recordOrNull(parseJson(bytes))
  if (wire === null) throw notATranscript()
  return wire
}

/** The objects of an answer that is a list. Throws `provider_failed` for what is none. */
export function parseEntries(bytes: Uint8Array): WireRecord[] {
  const entries = piecesOf(parseJson(bytes))
  if (entries === null) throw new GatewayError('provider_failed', 'The provider answered without a list.')
  return entries
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (cause) {
    throw notATranscript(cause)
  }
}

/** What a caller is told where an answer has no transcript. */
export function notATranscript(cause?: unknown): GatewayError {
  return new GatewayError('provider_failed', 'The provider answered without a transcript.', { cause })
}

/** The objects of a list, at most as many as a transcript may have; null where there is no list. */
export function piecesOf(value: unknown): WireRecord[] | null {
  if (!Array.isArray(value)) return null
  return recordsOrEmpty(value.slice(0, transcriptPiecesMax))
}

/** Channels that a provider says it heard, as a transcript has them; nothing for a number that is none. */
export function channelsTold(value: unknown): { channels?: number } {
  const channels = countOrNull(value) ?? 0
  return channels > 0 ? { channels } : {}
}

/** A score from 0 to 1; null for anything else, because a wrong one is worse than none. */
export function scoreIn(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && value <= 1 ? value : null
}

/** Seconds of a whole transcript. What no audio can last is nobody's duration; some providers write the number as text. */
export function durationIn(value: unknown): number | null {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  const isLength = typeof seconds === 'number' && seconds > 0 && seconds * 1000 <= audioDurationMsMax
  return isLength ? seconds : null
}

/** What a provider counts times in, as so many a second. */
export const secondsUnit = 1
export const millisecondsUnit = 1000

/** When something was said; null for times that cannot be. */
export function timesIn(
  { start, end }: { start?: unknown; end?: unknown },
  unit: number = secondsUnit,
): { start: number; end: number } | null {
  if (typeof start !== 'number' || typeof end !== 'number' || !(start >= 0) || !(end >= start)) return null
  // JSON can write a number beyond all numbers, which would be shown as null.
  return Number.isFinite(end) ? { start: start / unit, end: end / unit } : null
}
