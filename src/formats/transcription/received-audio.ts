import {
  type AudioIntake,
  contentTypeOf,
  fileNameOf,
  type LocalAudio,
  type StoredAudio,
  toFormat,
} from '../../canonical/audio.ts'
import { fieldError, GatewayError, toGatewayError } from '../../core/errors.ts'

/** A whole transcription request: the largest audio as base64, and a bounded amount for its other fields. */
const audioRequestBytesMax = 1_350_000_000

/** The format that the sender stated, and where. */
export interface StatedFormat {
  /** As the sender wrote it; null when none was stated. */
  format: string | null
  /** The field with the bytes. */
  param: string
  /** The source of the statement, as the subject of a sentence: `"input_audio.format" says`. */
  says: string
  /** The field with the statement. */
  formatParam: string
}

/**
 * Stored bytes as audio of a known format. Providers judge a file by its name, and refuse or misread one of another
 * format, so the stated format is compared with the bytes. Throws `invalid_request` when they differ, or when the bytes
 * are not sound.
 */
export async function localAudio(
  stored: StoredAudio,
  stated: StatedFormat,
  intake: Pick<AudioIntake, 'recognize'>,
): Promise<LocalAudio> {
  if (stored.sizeBytes === 0) throw fieldError(stated.param, 'is empty; send the bytes of an audio file.')
  const finding = await intake.recognize(stored, stated.format)
  if (finding.type === 'other_sound') throw otherFormat(stated, finding.format)
  if (finding.type === 'no_sound') throw noSound(stated, finding.what)
  const { format } = finding
  return {
    format,
    fileName: fileNameOf(format),
    contentType: contentTypeOf(format),
    sizeBytes: stored.sizeBytes,
    stored,
    field: stated.param,
    formatField: stated.formatParam,
    open: () => stored.open(),
  }
}

function otherFormat({ format, says, formatParam }: StatedFormat, seen: string): GatewayError {
  const stated = JSON.stringify(format?.slice(0, 16))
  return new GatewayError(
    'invalid_request',
    `${says} ${stated}, but the bytes are "${seen}". Say "${seen}" there, or convert the audio to ${stated}.`,
    { param: formatParam },
  )
}

function noSound({ format, param }: StatedFormat, what: string | null): GatewayError {
  const wanted = format === null ? 'audio of a known format' : `${format.slice(0, 16)} audio`
  const problem = what === null ? `is not ${wanted}` : `is ${what} and not ${wanted}`
  return fieldError(
    param,
    `${problem}. Convert it to wav, mp3, flac, m4a, ogg, webm or aac, or send 16-bit mono samples at 16,000 Hz as "pcm".`,
  )
}

/** The format in a MIME type such as `audio/x-wav;rate=16000`; null when it is not a known audio type. */
export function formatOfMimeType(mimeType: string | null): string | null {
  const match = /^\s*(?:audio|video|application)\/([^\s;]+)/i.exec(mimeType ?? '')
  return match?.[1] === undefined ? null : toFormat(match[1])
}

/** The format in a file name's extension; null when there is none. */
export function formatOfFileName(fileName: string | null): string | null {
  const match = /\.([A-Za-z0-9]{1,8})$/.exec(fileName ?? '')
  return match?.[1] === undefined ? null : toFormat(match[1])
}

/**
 * Feeds a body to `take` chunk by chunk. Each chunk is finished before the next is read, so that a slow disk slows the
 * sender instead of filling memory. Bounded; after a failure the rest is not read.
 */
export async function readChunks(
  body: ReadableStream<Uint8Array>,
  take: (chunk: Uint8Array) => Promise<void> | void,
): Promise<void> {
  const reader = body.getReader()
  let size = 0
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(refuseBrokenBody)
      if (done) return
      size += value.length
      if (size > audioRequestBytesMax) throw tooLarge()
      await take(value)
    }
  } catch (error) {
    // The caller may still be sending, so the cancellation is not awaited.
    void reader.cancel().catch(() => {})
    throw toGatewayError(error)
  }
}

function refuseBrokenBody(cause: unknown): never {
  throw new GatewayError('invalid_request', 'The request body could not be read to its end.', { cause })
}

function tooLarge(): GatewayError {
  return new GatewayError(
    'payload_too_large',
    `The request body is larger than ${audioRequestBytesMax} bytes. Send less audio, or compress it.`,
  )
}
