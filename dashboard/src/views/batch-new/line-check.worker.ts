/** Checks a file of lines off the page, piece by piece, and packs it for sending. */
import { LineChecker, type LineReport } from '../../values/line-check.ts'
import { LineCutter } from '../../values/lines.ts'

export type WorkerTask = { file: File; head: Readonly<Record<string, unknown>> | null }

export type WorkerNews =
  | { type: 'progress'; bytes: number; lines: number; faultCount: number }
  | { type: 'checked'; report: LineReport }
  | { type: 'packed'; report: LineReport; body: Blob }
  | { type: 'failed'; message: string }

/** The longest line; the gateway takes no item larger. */
const lineCharactersMax = 20_000_000
const newsEveryMs = 100

async function run({ file, head }: WorkerTask): Promise<void> {
  const checker = new LineChecker()
  const packer = head === null ? null : new Packer(head)
  const cutter = new LineCutter()
  let bytes = 0
  let lines = 0
  let toldMs = 0
  const take = async (line: string) => {
    lines += 1
    const item = checker.check(line)
    if (item !== null && packer !== null) await packer.add(item)
  }
  const decoder = new TextDecoder()
  for await (const chunk of chunksOf(file)) {
    bytes += chunk.length
    const pieces = cutter.cut(decoder.decode(chunk, { stream: true }))
    for (const line of pieces) await take(line)
    if (cutter.waitingLength > lineCharactersMax) throw new Error(`line ${lines + 1} is longer than 20 MB`)
    if (performance.now() - toldMs > newsEveryMs) {
      toldMs = performance.now()
      tell({ type: 'progress', bytes, lines, faultCount: checker.report(bytes).faultCount })
    }
  }
  for (const line of [...cutter.cut(decoder.decode()), cutter.end()]) if (line !== '') await take(line)
  const report = checker.report(bytes)
  if (packer === null) tell({ type: 'checked', report })
  else tell({ type: 'packed', report, body: await packer.end() })
}

const chunkBytes = 64_000

/**
 * The bytes of a file, in a buffer that is used again for each chunk where the browser can: buffers that nobody needs any
 * more are no part of the heap, so they would pile up to the size of the file before they are collected.
 */
async function* chunksOf(file: File): AsyncGenerator<Uint8Array> {
  const next = readerOf(file.stream())
  for (let chunk = await next(); chunk !== null; chunk = await next()) yield chunk
}

function readerOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): () => Promise<Uint8Array | null> {
  try {
    const reader = stream.getReader({ mode: 'byob' })
    let buffer = new Uint8Array(chunkBytes)
    return async () => {
      const { done, value } = await reader.read(buffer)
      if (done) return null
      buffer = new Uint8Array(value.buffer)
      return value
    }
  } catch {
    // Not every browser's files are streams of bytes.
    const reader = stream.getReader()
    return async () => (await reader.read()).value ?? null
  }
}

/**
 * The body of the request, compressed while the lines are read: a tenth of the file, kept by the browser outside of any
 * heap. Lines cannot be sent as slices of the file, because JSON wants a comma between them.
 */
class Packer {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>
  readonly #body: Promise<Blob>
  readonly #encoder = new TextEncoder()
  /** Used again for every piece: buffers that nobody needs any more pile up, because they are no part of the heap. */
  #bytes = new Uint8Array(pieceBytes)
  #waiting: string
  #isFirst = true

  constructor(head: Readonly<Record<string, unknown>>) {
    const compression = new CompressionStream('gzip')
    this.#writer = compression.writable.getWriter()
    this.#body = new Response(compression.readable).blob()
    this.#waiting = `${JSON.stringify(head).slice(0, -1)},"requests":[`
  }

  async add(item: string): Promise<void> {
    this.#waiting += this.#isFirst ? item : `,\n${item}`
    this.#isFirst = false
    if (this.#waiting.length >= pieceCharacters) await this.#flush()
  }

  async end(): Promise<Blob> {
    this.#waiting += ']}'
    await this.#flush()
    await this.#writer.close()
    return this.#body
  }

  async #flush(): Promise<void> {
    const text = this.#waiting
    this.#waiting = ''
    // A character takes three bytes at most.
    if (this.#bytes.length < text.length * 3) this.#bytes = new Uint8Array(text.length * 3)
    const { written } = this.#encoder.encodeInto(text, this.#bytes)
    // A piece was taken once this resolves, so that no more than one is in memory.
    await this.#writer.write(this.#bytes.subarray(0, written))
  }
}

const pieceCharacters = 64_000
const pieceBytes = 256_000

function tell(news: WorkerNews): void {
  self.postMessage(news)
}

self.onmessage = ({ data }: MessageEvent<WorkerTask>) => {
  run(data).catch((error: unknown) =>
    tell({ type: 'failed', message: error instanceof Error ? error.message : String(error) }),
  )
}
