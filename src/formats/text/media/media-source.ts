import type { MediaSource } from '../../../canonical/text/conversation.ts'

const dataUrl = /^data:([^;,]*)(?:;[^,]*)?,/i

/** Reads a URL in a request: one to fetch, or a `data:` URL with the bytes. */
export function readMediaUrl(url: string, fallbackType: string): MediaSource {
  const match = dataUrl.exec(url.slice(0, 256))
  if (match === null) return { kind: 'url', url }
  const [lead = '', mediaType = ''] = match
  return { kind: 'data', mediaType: mediaType || fallbackType, base64: url.slice(lead.length) }
}

/** The URL of a source, with its bytes in it; null for a file that only its provider knows. */
export function writeMediaUrl(source: MediaSource): string | null {
  if (source.kind === 'url') return source.url
  return source.kind === 'data' ? `data:${source.mediaType};base64,${source.base64}` : null
}

/** The weight of media in a conversation: bytes to leave out of the text estimate, and tokens to add instead. */
export interface MediaWeight {
  bytes: number
  tokens: number
  /** The part of `tokens` that is audio, which has its own price. */
  audioTokens: number
  /** The pictures that were sent inline. */
  images: number
  /** Whether some media have bytes that are not in the request, or that do not tell their length. */
  isUncounted: boolean
}

/** The weight of a conversation without media. */
export const noMedia: Readonly<MediaWeight> = Object.freeze({
  bytes: 0,
  tokens: 0,
  audioTokens: 0,
  images: 0,
  isUncounted: false,
})

/** Whether a text contains the media itself. Any other text is a URL, or a name that only its provider knows. */
export function isMediaItself(text: unknown): boolean {
  return typeof text === 'string' && /^data:/i.test(text)
}
