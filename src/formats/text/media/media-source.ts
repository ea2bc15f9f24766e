import type { MediaSource } from '../../../canonical/text/conversation.ts'

const dataUrl = /^data:([^;,]*)(?:;[^,]*)?,/i

/** An address as the formats write it: of something to fetch, or with the bytes in it. */
export function readMediaUrl(url: string, fallbackType: string): MediaSource {
  const match = dataUrl.exec(url.slice(0, 256))
  if (match === null) return { kind: 'url', url }
  const [lead = '', mediaType = ''] = match
  return { kind: 'data', mediaType: mediaType || fallbackType, base64: url.slice(lead.length) }
}

/** The address of a source, its bytes in it; null for a file that only its provider knows. */
export function writeMediaUrl(source: MediaSource): string | null {
  if (source.kind === 'url') return source.url
  return source.kind === 'data' ? `data:${source.mediaType};base64,${source.base64}` : null
}

/** What media in a conversation weigh: bytes to leave out of the text estimate, and tokens to add instead. */
export interface MediaWeight {
  bytes: number
  tokens: number
  /** Those of them that are of audio, which has a price of its own. */
  audioTokens: number
  /** Pictures that were sent themselves. */
  images: number
  /** There is something whose bytes are not here, or do not tell how long it is. */
  isUncounted: boolean
}

/** Of a conversation without any. */
export const noMedia: Readonly<MediaWeight> = Object.freeze({
  bytes: 0,
  tokens: 0,
  audioTokens: 0,
  images: 0,
  isUncounted: false,
})

/** Whether a text is media that was sent; anything else is an address, or a name that its provider alone knows. */
export function isMediaItself(text: unknown): boolean {
  return typeof text === 'string' && /^data:/i.test(text)
}
