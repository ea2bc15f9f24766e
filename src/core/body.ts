/** A part of a body: text to be written as UTF-8, or bytes that must no longer change. */
export type BodyPiece = string | Uint8Array

/** A whole body as its parts in order, so that bytes that are passed on need no copy. */
export type BodyPieces = readonly BodyPiece[]

/** Length in bytes. */
export function lengthOfPieces(pieces: BodyPieces): number {
  let length = 0
  for (const piece of pieces) length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length
  return length
}

/**
 * Writes all pieces into the target, which must be long enough. Returns the place behind them.
 */
export function writePieces(target: Buffer, pieces: BodyPieces, start = 0): number {
  let offset = start
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      offset += target.write(piece, offset)
    } else {
      target.set(piece, offset)
      offset += piece.length
    }
  }
  return offset
}

/** The body in its own memory. */
export function joinPieces(pieces: BodyPieces): Uint8Array<ArrayBuffer> {
  const target = Buffer.allocUnsafeSlow(lengthOfPieces(pieces))
  writePieces(target, pieces)
  return target
}
