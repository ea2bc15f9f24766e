/** The media types that are taken by every provider that takes media at all. */
export type MediaType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'application/pdf'

/**
 * The number of first bytes that tell the type: a PDF may have other bytes before its header, and readers search this
 * far.
 */
export const mediaHeadBytes = 1_024

/** The type of the bytes, whatever their server says; null for any other type. */
export function mediaTypeOf(bytes: Uint8Array): MediaType | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, mediaHeadBytes))
  const text = head.toString('latin1')
  if (text.startsWith('\u0089PNG\r\n\u001a\n')) return 'image/png'
  if (text.startsWith('\u00ff\u00d8\u00ff')) return 'image/jpeg'
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'image/gif'
  if (text.startsWith('RIFF') && text.startsWith('WEBP', 8)) return 'image/webp'
  return text.includes('%PDF-') ? 'application/pdf' : null
}
