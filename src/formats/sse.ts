import type { BodyPiece } from '../core/body.ts'

/**
 * Text of an event stream with one character for each byte (latin1). Nothing is decoded before a frame is complete, so
 * a chunk may end anywhere, also inside a UTF-8 character.
 */
export type ByteText = string

/** Cuts an event stream into whole frames, whatever its chunks. */
export interface FrameSplitter {
  /**
   * All frames that are complete now, as text with `\n` line ends, each ending in an empty line; null when no frame is
   * complete. Throws a RangeError when one frame grows beyond the bound.
   */
  push(chunk: Uint8Array): ByteText | null
  /** The rest when the stream ended: a last frame without its empty line, or null. */
  end(): ByteText | null
}

const byteOrderMark = '\u00ef\u00bb\u00bf'

/** Occurs in a frame with a picture, in the formats whose providers make pictures. */
const pictures = /data:image|"inlineData"|"inline_data"|image_generation/

/** A splitter that holds at most `frameBytesMax` bytes of an unfinished frame, and `pictureBytesMax` of one with a picture. */
export function createFrameSplitter(frameBytesMax: number, pictureBytesMax = frameBytesMax): FrameSplitter {
  let pending: ByteText[] = []
  let pendingLength = 0
  let bytesMax = frameBytesMax
  let endedInReturn = false
  let isFirst = true
  // A possible beginning of a byte order mark.
  let beginning: ByteText = ''

  // CR, LF and CR LF all end a line; a CR at the end of a read may be half of a CR LF.
  function normalize(text: ByteText): ByteText {
    if (text === '') return text
    let normalized = text
    if (isFirst) {
      // Joining it with nothing would copy the whole read.
      if (beginning !== '') normalized = beginning + text
      if (normalized.length < 3 && byteOrderMark.startsWith(normalized)) {
        beginning = normalized
        return ''
      }
      isFirst = false
      if (normalized.startsWith(byteOrderMark)) normalized = normalized.slice(3)
    }
    if (endedInReturn && normalized.startsWith('\n')) normalized = normalized.slice(1)
    endedInReturn = text.endsWith('\r')
    return normalized.includes('\r') ? normalized.replace(/\r\n?/g, '\n') : normalized
  }

  function keep(text: ByteText): void {
    pendingLength += text.length
    if (text !== '') pending.push(text)
    if (pendingLength > bytesMax && pictures.test(pending.join(''))) bytesMax = pictureBytesMax
    if (pendingLength > bytesMax) throw new RangeError(`a frame is longer than ${bytesMax} bytes`)
  }

  function takePending(): ByteText {
    const text = pending.length === 1 ? (pending[0] ?? '') : pending.join('')
    pending = []
    pendingLength = 0
    bytesMax = frameBytesMax
    return text
  }

  return {
    push(chunk) {
      const text = normalize(readBytes(chunk))
      const last = pending.at(-1)
      const end = text.lastIndexOf('\n\n')
      if (end === -1) {
        const startsWithEnd = text.startsWith('\n') && last?.endsWith('\n') === true
        keep(startsWithEnd ? '\n' : text)
        if (!startsWithEnd) return null
        const frames = takePending()
        keep(text.slice(1))
        return frames
      }
      if (last === undefined && end + 2 === text.length) return text
      keep(text.slice(0, end + 2))
      const frames = takePending()
      keep(text.slice(end + 2))
      return frames
    },
    end() {
      return pending.length === 0 ? null : takePending()
    },
  }
}

/**
 * The data of one frame (text without its empty line), with its lines joined; null for a comment or an event without
 * data.
 */
export function readFrameData(frame: ByteText): ByteText | null {
  if (frame.startsWith('data: ') && !frame.includes('\n')) return frame.slice(6)
  const second = frame.indexOf('\n') + 1
  // One line names the event and one has its data, in most formats that name their events.
  if (frame.startsWith('event:') && frame.startsWith('data: ', second) && !frame.includes('\n', second))
    return frame.slice(second + 6)
  let data: ByteText | null = null
  for (const line of frame.split('\n')) {
    if (line !== 'data' && !line.startsWith('data:')) continue
    const value = line.slice(line.startsWith('data: ') ? 6 : 5)
    data = data === null ? value : `${data}\n${value}`
  }
  return data
}

/**
 * Bytes as a byte text. It calls Buffer's method on the bytes: making a Buffer first would double the cost of each
 * chunk.
 */
function readBytes(bytes: Uint8Array): ByteText {
  return Buffer.prototype.toString.call(bytes, 'latin1')
}

/** A byte text as it is sent: ASCII goes out as a string, which saves a copy of each piece. */
export function toPiece(text: ByteText): BodyPiece {
  return isAscii(text) ? text : toBytes(text)
}

/** Bytes of a byte text. */
export function toBytes(text: ByteText): Uint8Array {
  return Buffer.from(text, 'latin1')
}

/** A byte text read as UTF-8. */
export function toUtf8(text: ByteText): string {
  return isAscii(text) ? text : Buffer.from(text, 'latin1').toString('utf8')
}

/** UTF-8 bytes of a text, as a byte text. */
export function fromUtf8(text: string): ByteText {
  return isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1')
}

/** ASCII is the same text in both encodings, and most frames are ASCII. */
function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length
}

/** One frame for the caller. */
export function encodeFrame(value: unknown): ByteText {
  return `data: ${fromUtf8(JSON.stringify(value))}\n\n`
}
