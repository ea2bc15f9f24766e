/**
 * Reads the few elements that the store needs from a server's XML. The answers are flat lists of short texts, and every
 * value that is used is either checked by its reader or sent back as it came.
 */

const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&#34;': '"',
  '&#39;': "'",
  '&amp;': '&',
}

/** The texts of all elements of that name, in order. */
export function textsOf(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, text = '']) =>
    text.replace(/&(?:lt|gt|quot|apos|#34|#39|amp);/g, (entity) => entities[entity] ?? entity),
  )
}

/** The text of the first element of that name; null when there is none. */
export function textOf(xml: string, name: string): string | null {
  return textsOf(xml, name)[0] ?? null
}

/** What is inside the elements of that name, in order. */
export function elementsOf(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, inside = '']) => inside)
}

/** A part of an object as the server sent it: its place, and the size of the whole object. */
export interface ContentRange {
  /** First byte; null when the object has no such part. */
  start: number | null
  size: number
}

/** Reads a header such as `bytes 0-99/1234` or `bytes *\/1234`; null when it is absent or different. */
export function parseContentRange(header: string | null): ContentRange | null {
  const match = /^bytes (?:(\d+)-\d+|\*)\/(\d+)$/.exec(header ?? '')
  return match ? { start: match[1] === undefined ? null : Number(match[1]), size: Number(match[2]) } : null
}
