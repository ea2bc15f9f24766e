/**
 * The simulator's tokens: a piece of text of at most four UTF-8 bytes that never splits a character. The rule is simple
 * enough to compute by hand in a test, and counts and stream chunks agree: one piece, one token, one delta.
 */
const bytesPerToken = 4
const asciiOnly = /^[\u0000-\u007f]*$/

/** The pieces of a text, in order; joined they are the text. */
export function splitTokens(text: string): string[] {
  const pieces: string[] = []
  if (asciiOnly.test(text)) {
    for (let at = 0; at < text.length; at += bytesPerToken) pieces.push(text.slice(at, at + bytesPerToken))
    return pieces
  }
  let piece = ''
  let pieceBytes = 0
  for (const character of text) {
    const bytes = Buffer.byteLength(character)
    if (pieceBytes + bytes > bytesPerToken) {
      pieces.push(piece)
      piece = ''
      pieceBytes = 0
    }
    piece += character
    pieceBytes += bytes
  }
  if (piece !== '') pieces.push(piece)
  return pieces
}

/** Prompt tokens of a text: its UTF-8 bytes divided by four, rounded up. For plain ASCII the number of its pieces. */
export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken)
}
