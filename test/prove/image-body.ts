/** Bytes of the image as base64: with it the body has a megabyte. */
const base64Length = 1_000_000

/** A request of a caller of this format, of a megabyte, nearly all of which is an image. */
export function bodyWithImage(format: 'chat' | 'messages', model: string): string {
  // The signature of a PNG, then bytes that nobody looks at.
  const bytes = Buffer.alloc((base64Length / 4) * 3, 0x5a)
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).copy(bytes)
  const data = bytes.toString('base64')
  const image =
    format === 'chat'
      ? { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }
      : { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'What is on it?' }, image] }]
  return JSON.stringify({ model, max_tokens: 100, messages })
}
