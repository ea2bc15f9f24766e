/** A part of a body: text to be written as UTF-8, or bytes that must not be changed any more. */
export type BodyPiece = string | Uint8Array

/** A whole body as its parts in order, so that bytes which are passed on are not copied first. */
export type BodyPieces = readonly BodyPiece[]

/** Length in bytes. */
export function lengthOfPieces(pieces: BodyPieces): number {
  let length = 0
  for (const piece of pieces) length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length
  return length
}

/** Writes all pieces from the target's beginning on; it must be long enough. Returns how many bytes they took. */
export function writePieces(target: Buffer, pieces: BodyPieces): number {
  let offset = 0
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

/** The body in memory of its own. */
export function joinPieces(pieces: BodyPieces): Uint8Array<ArrayBuffer> {
  const target = Buffer.allocUnsafeSlow(lengthOfPieces(pieces))
  writePieces(target, pieces)
  return target
}
