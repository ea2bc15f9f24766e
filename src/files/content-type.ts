import { sniffFormat } from '../audio/sniff.ts'
import { mediaTypeOf } from '../formats/text/media/media-type.ts'

/** Bytes from the beginning and from the end of a file that are kept to tell its type. */
const keptBytes = 65_536
/** Lines of a table that are compared. */
const comparedRows = 20

const zipMark = Buffer.from('PK\u0003\u0004')
const pdfMark = Buffer.from('%PDF-')

const soundTypes: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
}

const officeMain = 'application/vnd.openxmlformats-officedocument'
/** The entry that each kind of document has in its archive. */
const officeTypes: readonly (readonly [string, string])[] = [
  ['word/document.xml', `${officeMain}.wordprocessingml.document`],
  ['xl/workbook.xml', `${officeMain}.spreadsheetml.sheet`],
  ['ppt/presentation.xml', `${officeMain}.presentationml.presentation`],
]

/**
 * Tells the media type of a file by its bytes as they pass, in flat memory: PDF, PNG, JPEG, GIF, WebP, DOCX, XLSX, PPTX,
 * MP3, WAV, FLAC, OGG, or UTF-8 text by its structure. The kinds are the contract's.
 */
export class ContentTypeReader {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  readonly #head = Buffer.allocUnsafe(keptBytes)
  #headBytes = 0
  /** The last bytes, as a ring: `#bytes` says where it begins. */
  readonly #ring = Buffer.allocUnsafe(keptBytes)
  #bytes = 0
  #isText = true

  /** Bytes so far. */
  get bytes(): number {
    return this.#bytes
  }

  push(piece: Uint8Array): void {
    const kept = piece.subarray(0, keptBytes - this.#headBytes)
    this.#head.set(kept, this.#headBytes)
    this.#headBytes += kept.length
    this.#turn(piece)
    this.#isText &&= !piece.includes(0) && this.#decodes(piece, true)
  }

  /** The type, when the file has ended; null for any other kind. */
  end(): string | null {
    const head = this.#head.subarray(0, this.#headBytes)
    const isText = this.#isText && this.#decodes(new Uint8Array(0), false)
    if (isText && !head.subarray(0, pdfMark.length).equals(pdfMark))
      return textTypeOf(head.toString('utf8'), this.#tail().toString('utf8'), {
        isWhole: this.#bytes === this.#headBytes,
      })
    if (head.subarray(0, zipMark.length).equals(zipMark)) return officeTypeOf(head, this.#tail())
    return mediaTypeOf(head) ?? soundTypes[sniffFormat(head) ?? ''] ?? null
  }

  /** Costs no more than the piece has bytes, however small the pieces are in which a caller sends the file. */
  #turn(piece: Uint8Array): void {
    const last = piece.subarray(-keptBytes)
    const start = (this.#bytes + piece.length - last.length) % keptBytes
    const first = last.subarray(0, keptBytes - start)
    this.#ring.set(first, start)
    this.#ring.set(last.subarray(first.length), 0)
    this.#bytes += piece.length
  }

  #tail(): Buffer {
    if (this.#bytes <= keptBytes) return this.#ring.subarray(0, this.#bytes)
    const start = this.#bytes % keptBytes
    return Buffer.concat([this.#ring.subarray(start), this.#ring.subarray(0, start)])
  }

  #decodes(piece: Uint8Array, stream: boolean): boolean {
    try {
      this.#decoder.decode(piece, { stream })
      return true
    } catch {
      return false
    }
  }
}

function officeTypeOf(head: Uint8Array, tail: Uint8Array): string | null {
  const names = Buffer.concat([head, tail]).toString('latin1')
  return officeTypes.find(([entry]) => names.includes(entry))?.[1] ?? null
}

/** Of a text of more than is kept, what lies between its beginning and its end is taken to be of the same kind. */
function textTypeOf(head: string, tail: string, { isWhole }: { isWhole: boolean }): string {
  const lines = head.split('\n').filter((line) => line.trim() !== '')
  // The last line may be cut off.
  const rows = (isWhole ? lines : lines.slice(0, -1)).slice(0, comparedRows)
  if (/^\s*[[{]/.test(head)) {
    if (rows.length > 1 && rows.every(isJson)) return 'application/x-ndjson'
    if (isWhole ? isJson(head) : /[\]}]\s*$/.test(tail)) return 'application/json'
  }
  if (isTable(rows)) return 'text/csv'
  return /^(?:#{1,6} \S|```)|\]\(\S+\)/m.test(head) ? 'text/markdown' : 'text/plain'
}

function isJson(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null
  } catch {
    return false
  }
}

/** Whether every row has the same number of commas outside of quotes, and they do not read like those of sentences. */
function isTable(rows: readonly string[]): boolean {
  const counts = rows.map((row) => commasOf(row.replaceAll(/"[^"]*"/g, '')))
  const [first = 0] = counts
  const isEven = rows.length > 1 && first > 0 && counts.every((count) => count === first)
  return isEven && !rows.every((row) => row.includes(', '))
}

function commasOf(text: string): number {
  return text.split(',').length - 1
}
