import { GatewayError } from '../../core/errors.ts'
import { countOrNull, recordOrNull, recordsOrEmpty, type WireRecord } from '../../json/values.ts'
import { audioDurationMsMax, transcriptPiecesMax } from '../../core/limits/audio.ts'

/** The object of a transcript's answer. Throws `provider_failed` when it is not a JSON object. */
export function parseTranscript(bytes: Uint8Array): WireRecord {
  const wire = recordOrNull(parseJson(bytes))
  if (wire === null) throw notATranscript()
  return wire
}

/** The objects of an answer that is a list. Throws `provider_failed` when it is not a list. */
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

/** The caller's error when an answer has no transcript. */
export function notATranscript(cause?: unknown): GatewayError {
  return new GatewayError('provider_failed', 'The provider answered without a transcript.', { cause })
}

/** The objects of a list, up to the bound for a transcript; null when it is not a list. */
export function piecesOf(value: unknown): WireRecord[] | null {
  if (!Array.isArray(value)) return null
  return recordsOrEmpty(value.slice(0, transcriptPiecesMax))
}

/** The number of channels that a provider reports, in a transcript's form; empty for an invalid number. */
export function channelsTold(value: unknown): { channels?: number } {
  const channels = countOrNull(value) ?? 0
  return channels > 0 ? { channels } : {}
}

/** A score from 0 to 1; null for anything else, because a wrong one is worse than none. */
export function scoreIn(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && value <= 1 ? value : null
}

/**
 * The seconds of a whole transcript; null for a length that no audio can have. Some providers write the number as text.
 */
export function durationIn(value: unknown): number | null {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  const isLength = typeof seconds === 'number' && seconds > 0 && seconds * 1000 <= audioDurationMsMax
  return isLength ? seconds : null
}

/** Providers' units of time, as units per second. */
export const secondsUnit = 1
export const millisecondsUnit = 1000

/** The times of a word or segment; null for impossible ones. */
export function timesIn(
  { start, end }: { start?: unknown; end?: unknown },
  unit: number = secondsUnit,
): { start: number; end: number } | null {
  if (typeof start !== 'number' || typeof end !== 'number' || !(start >= 0) || !(end >= start)) return null
  // JSON can hold a number beyond the largest double, which would be shown as null.
  return Number.isFinite(end) ? { start: start / unit, end: end / unit } : null
}
