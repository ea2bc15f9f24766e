/** Receives the pieces of documents as they arrive. */
export interface DocumentSink {
  push(piece: Uint8Array): void
  /** The current document has ended. */
  endDocument(): void
}

/** How JSON documents follow each other in a body: a single one, one on each line, or one in each event. */
export type DocumentFraming = 'json' | 'lines' | 'events'

/** Finds the documents in a body and hands each over in pieces, so that a long document is never held whole. */
export interface DocumentSplitter {
  push(piece: Uint8Array): void
  /** The body has ended, and with it a last document that has no line end. */
  end(): void
}

const lineFeed = 0x0a

export function createDocumentSplitter(framing: DocumentFraming, sink: DocumentSink): DocumentSplitter {
  if (framing === 'events') return new EventSplitter(sink)
  return {
    push(piece) {
      if (framing === 'json') return sink.push(piece)
      eachLine(piece, (line, isWhole) => {
        sink.push(line)
        if (isWhole) sink.endDocument()
      })
    },
    end: () => sink.endDocument(),
  }
}

/** Gives the pieces of each line, without the line ends. */
function eachLine(piece: Uint8Array, take: (line: Uint8Array, isWhole: boolean) => void): void {
  for (let start = 0; start <= piece.length;) {
    const end = piece.indexOf(lineFeed, start)
    if (end < 0) return start < piece.length ? take(piece.subarray(start), false) : undefined
    take(piece.subarray(start, end), true)
    start = end + 1
  }
}

const dataPrefix = 'data:'

/** A byte order mark, as UTF-8 bytes; some servers send one before the first line. */
const byteOrderMark = '\xef\xbb\xbf'

/** Finds the data of server-sent events. Skips comments and other fields. */
class EventSplitter implements DocumentSplitter {
  readonly #sink: DocumentSink
  /** The beginning of a line whose field name is not complete; null once it is. */
  #field: string | null = ''
  #isData = false
  #isBlank = true
  #isFirstLine = true

  constructor(sink: DocumentSink) {
    this.#sink = sink
  }

  push(piece: Uint8Array): void {
    eachLine(piece, (part, isWhole) => {
      this.#takePart(part)
      if (isWhole) this.#endLine()
    })
  }

  end(): void {
    this.#sink.endDocument()
  }

  #takePart(part: Uint8Array): void {
    let rest = part
    while (this.#field !== null && rest.length > 0) {
      const byte = rest[0] ?? 0
      rest = rest.subarray(1)
      // An empty line may still have a carriage return.
      if (byte === 0x0d) continue
      this.#isBlank = false
      this.#field += String.fromCharCode(byte)
      if (this.#isFirstLine && byteOrderMark.startsWith(this.#field)) {
        if (this.#field === byteOrderMark) this.#field = ''
        continue
      }
      this.#isData = this.#field === dataPrefix
      if (this.#isData || !dataPrefix.startsWith(this.#field)) this.#field = null
    }
    if (this.#isData && rest.length > 0) this.#sink.push(rest)
  }

  #endLine(): void {
    if (this.#isBlank) this.#sink.endDocument()
    this.#isFirstLine = false
    this.#field = ''
    this.#isData = false
    this.#isBlank = true
  }
}
