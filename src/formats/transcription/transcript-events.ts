import type { GatewayError } from '../../core/errors.ts'
import { writeContractError } from '../client-convention.ts'
import { transcriptBody, type RenderedFrom } from './render-transcription.ts'

/** Keeps the connection of a waiting caller alive; clients ignore it. */
export const transcriptComment = ': HEADRACE PROCESSING\n\n'

/**
 * A transcript as OpenAI's events: the text as one delta (unless it was already streamed), the segments when there are
 * speakers, and `done`, which has the members of a whole answer, usage and cost included.
 */
export function encodeTranscriptEvents(from: RenderedFrom, isTextShown: boolean): Uint8Array {
  const { transcription, call } = from
  const body = transcriptBody(from)
  const segments = call.diarize ? (transcription.segments ?? []) : []
  const events: Record<string, unknown>[] = [
    ...(isTextShown ? [] : [deltaOf(transcription.text)]),
    ...segments.map(({ id, start, end, text, speaker, speaker_label: label }) => ({
      type: 'transcript.text.segment',
      id: String(id),
      start,
      end,
      text,
      // This format has a name where the whole answer has a number and a label.
      speaker: label ?? (speaker === undefined ? '' : String(speaker)),
    })),
    { type: 'transcript.text.done', ...body },
  ]
  return toBytes(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
}

/** An event with a piece of the text. */
export function encodeTranscriptDelta(text: string): Uint8Array {
  return toBytes(`data: ${JSON.stringify(deltaOf(text))}\n\n`)
}

function deltaOf(text: string): Record<string, unknown> {
  return { type: 'transcript.text.delta', delta: text }
}

/** Why no transcript comes, when the status is already sent: the contract's envelope as an event. */
export function encodeTranscriptError(error: GatewayError): Uint8Array {
  const envelope = writeContractError({ error, status: error.status, generationId: null })
  return toBytes(`data: ${JSON.stringify({ type: 'error', ...envelope })}\n\n`)
}

function toBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
