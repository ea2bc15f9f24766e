import {
  contentTypeOf,
  fileNameOf,
  toFormat,
  type AudioIntake,
  type LocalAudio,
  type StoredAudio,
} from '../../canonical/audio.ts'
import { GatewayError, toGatewayError } from '../../core/errors.ts'
import { audioRequestBytesMax } from '../../core/limits/audio.ts'
import { fieldError } from '../field-error.ts'

/** Stored bytes as audio of a format that is now known; refuses nothing but emptiness. */
export function localAudio(
  stored: StoredAudio,
  declaredFormat: string,
  intake: AudioIntake,
  param: string,
): LocalAudio {
  if (stored.sizeBytes === 0) throw fieldError(param, 'is empty; send the bytes of an audio file.')
  const named = toFormat(declaredFormat) ?? declaredFormat.toLowerCase()
  const seen = intake.sniffFormat(stored.head)
  // Providers go by the name that a file is sent under, and refuse or misread one of another format: what Safari records
  // is MP4, whatever the page calls it, and a WAV file that is called pcm would get a second header.
  const format = seen !== null && selfNamed.has(seen) && toFormat(named) !== null ? seen : named
  return {
    format,
    fileName: fileNameOf(format),
    contentType: contentTypeOf(format),
    sizeBytes: stored.sizeBytes,
    stored,
    open: () => stored.open(),
  }
}

/** These begin with their name; other sounds may begin like a frame. */
const selfNamed: ReadonlySet<string> = new Set(['wav', 'flac', 'ogg', 'm4a', 'webm'])

/** The format in a MIME type such as `audio/x-wav;rate=16000`, or null when it is not one of audio that is known. */
export function formatOfMimeType(mimeType: string | null): string | null {
  const match = /^\s*(?:audio|video|application)\/([^\s;]+)/i.exec(mimeType ?? '')
  return match?.[1] === undefined ? null : toFormat(match[1])
}

/** The format in a file name's extension, or null. */
export function formatOfFileName(fileName: string | null): string | null {
  const match = /\.([A-Za-z0-9]{1,8})$/.exec(fileName ?? '')
  return match?.[1] === undefined ? null : toFormat(match[1])
}

/**
 * Feeds a body to `take` chunk by chunk, each finished before the next is read, so that a slow disk slows the sender
 * and not the memory. Bounded; on a failure the rest is not read.
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
    // A caller that is still sending must not be waited for.
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
