import type { Annotation } from '../../../canonical/text/conversation.ts'
import { filledTextOrNull, isRecord, tokenCountOrNull } from '../../../json/values.ts'
import { answerPartsMax } from '../../../core/limits/text.ts'
import { unreadable } from '../../upstream-json.ts'

type Wire = Readonly<Record<string, unknown>>

/** A candidate's sources; the last frame of a stream has all of them. */
export interface Grounding {
  groundingMetadata: unknown
  citationMetadata: unknown
}

/** The sources of a text, each with its place in it. `text` is the candidate's whole text. */
export function readAnnotations(
  { groundingMetadata, citationMetadata }: Grounding,
  text: string,
): Annotation[] {
  const places = new Places(text)
  return [...readGrounding(groundingMetadata, places), ...readCitations(citationMetadata, places)]
}

function readGrounding(wire: unknown, places: Places): Annotation[] {
  if (!isRecord(wire)) return []
  const sources = listOf(wire['groundingChunks']).map(sourceOf)
  const unused = new Set(sources.keys())
  const found = listOf(wire['groundingSupports']).flatMap((support) => {
    const segment = isRecord(support['segment']) ? support['segment'] : {}
    const indices = Array.isArray(support['groundingChunkIndices']) ? support['groundingChunkIndices'] : []
    return indices.flatMap((index: unknown) => {
      const source = typeof index === 'number' ? sources[index] : undefined
      if (source === undefined || typeof index !== 'number') return []
      unused.delete(index)
      return [{ ...source, ...places.of(segment), citedText: filledTextOrNull(segment['text']) }]
    })
  })
  const others = [...unused].flatMap((index) => sources[index] ?? [])
  return [...found, ...others]
}

function readCitations(wire: unknown, places: Places): Annotation[] {
  if (!isRecord(wire)) return []
  return listOf(wire['citationSources']).map((source) => ({
    url: filledTextOrNull(source['uri']),
    title: null,
    citedText: null,
    ...places.of({ startIndex: 0, ...source }),
  }))
}

/** A page, a map, or a retrieved text; each has its URL in its own member. */
function sourceOf(chunk: Wire): Annotation {
  const found = Object.values(chunk).find(isRecord) ?? {}
  return {
    url: filledTextOrNull(found['uri']),
    title: filledTextOrNull(found['title']),
    citedText: null,
    start: null,
    end: null,
  }
}

function listOf(wire: unknown): readonly Record<string, unknown>[] {
  if (!Array.isArray(wire)) return []
  if (wire.length > answerPartsMax) throw unreadable(`it has more than ${answerPartsMax} sources`)
  return wire.filter(isRecord)
}

/** The provider counts bytes of UTF-8; the other formats count characters. */
class Places {
  readonly #text: string
  /** The characters before each byte; made when the first place is read. */
  #characters: Uint32Array | null = null

  constructor(text: string) {
    this.#text = text
  }

  of(segment: Wire): Pick<Annotation, 'start' | 'end'> {
    const end = this.#charactersBefore(segment['endIndex'])
    // The provider omits a start of zero.
    return { start: end === null ? null : this.#charactersBefore(segment['startIndex'] ?? 0), end }
  }

  #charactersBefore(bytes: unknown): number | null {
    const count = tokenCountOrNull(bytes)
    if (count === null) return null
    this.#characters ??= countCharacters(this.#text)
    return this.#characters[count] ?? null
  }
}

function countCharacters(text: string): Uint32Array {
  const counts = new Uint32Array(Buffer.byteLength(text) + 1)
  let [bytes, characters] = [0, 0]
  for (const letter of text) {
    const length = Buffer.byteLength(letter)
    // A place inside a character counts as its beginning.
    counts.fill(characters, bytes, bytes + length)
    bytes += length
    characters += letter.length
  }
  counts[bytes] = characters
  return counts
}
