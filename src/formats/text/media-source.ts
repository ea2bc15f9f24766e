import type { MediaSource } from '../../canonical/text/conversation.ts'

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
