import type { BodyPieces } from '../../core/body.ts'
import type { SpeechReference } from '../../canonical/call.ts'
import type { StreamedBody } from '../../canonical/upstream.ts'
import { bodySliceBytes } from '../../core/limits/http.ts'
import { toBuffer, toBase64 } from '../../json/bytes.ts'
import { mark, writtenMark } from '../../json/set-aside-texts.ts'

/** The text that stands in a body for the base64 of the clip at this index of the call's references. */
export function clipMark(index: number): string {
  return `${mark}${index}${mark}`
}

/**
 * A JSON body with the clips in place of their marks. A large body is written as it is read, because writing megabytes
 * of base64 at once would block the event loop.
 */
export function bodyWithClips(
  json: string,
  references: readonly SpeechReference[],
): BodyPieces | StreamedBody {
  const parts = json
    .split(writtenMark)
    .map((part, index) => (index % 2 === 0 ? Buffer.from(part) : (references[Number(part)]?.data ?? [])))
  if (parts.length === 1) return [json]
  const contentLength = parts.reduce((length, part) => length + writtenLength(part), 0)
  if (contentLength <= bodySliceBytes) return [...written(parts)]
  return { contentLength, open: () => streamOf(written(parts)) }
}

/** Text of the body, or the pieces of a sound that is written as base64. */
type Part = Buffer | readonly Uint8Array[]

function writtenLength(part: Part): number {
  if (Buffer.isBuffer(part)) return part.length
  return Math.ceil(part.reduce((length, piece) => length + piece.length, 0) / 3) * 4
}

function* written(parts: readonly Part[]): Generator<Uint8Array> {
  for (const part of parts) {
    if (Buffer.isBuffer(part)) yield part
    else yield* base64Of(part)
  }
}

function* base64Of(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  // Three bytes make four characters, so one or two left-over bytes wait for the next piece.
  let rest: Buffer = Buffer.alloc(0)
  for (const piece of pieces) {
    const bytes = rest.length === 0 ? toBuffer(piece) : Buffer.concat([rest, piece])
    const whole = bytes.length - (bytes.length % 3)
    rest = bytes.subarray(whole)
    if (whole > 0) yield toBase64(bytes.subarray(0, whole))
  }
  if (rest.length > 0) yield toBase64(rest)
}

function streamOf(pieces: Iterator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const { done, value } = pieces.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
    },
    { highWaterMark: 0 },
  )
}
