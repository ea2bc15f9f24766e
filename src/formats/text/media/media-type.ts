/** Kinds of media that every provider which takes any takes. */
export type MediaType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'application/pdf'

/** As many of the first bytes as say what they are: a PDF may have other bytes before its header, which readers look for so far. */
export const mediaHeadBytes = 1_024

/** What the bytes are, whatever their server says; null for anything else. */
export function mediaTypeOf(bytes: Uint8Array): MediaType | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, mediaHeadBytes))
  const text = head.toString('latin1')
  if (text.startsWith('\u0089PNG\r\n\u001a\n')) return 'image/png'
  if (text.startsWith('\u00ff\u00d8\u00ff')) return 'image/jpeg'
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'image/gif'
  if (text.startsWith('RIFF') && text.startsWith('WEBP', 8)) return 'image/webp'
  return text.includes('%PDF-') ? 'application/pdf' : null
}
