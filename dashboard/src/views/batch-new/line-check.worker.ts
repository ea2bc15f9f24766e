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
  const reader = file.stream().getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    bytes += value.length
    const pieces = cutter.cut(decoder.decode(value, { stream: true }))
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

/**
 * The body of the request, compressed while the lines are read: a tenth of the file, kept by the browser outside of any
 * heap. Lines cannot be sent as slices of the file, because JSON wants a comma between them.
 */
class Packer {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>
  readonly #body: Promise<Blob>
  readonly #encoder = new TextEncoder()
  #waiting: string

  constructor(head: Readonly<Record<string, unknown>>) {
    const compression = new CompressionStream('gzip')
    this.#writer = compression.writable.getWriter()
    this.#body = new Response(compression.readable).blob()
    this.#waiting = `${JSON.stringify(head).slice(0, -1)},"requests":[`
  }

  #isFirst = true

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
    const piece = this.#encoder.encode(this.#waiting)
    this.#waiting = ''
    // Waits while the compression is behind, so that no more than a piece or two is in memory.
    await this.#writer.ready
    await this.#writer.write(piece)
  }
}

const pieceCharacters = 256_000

function tell(news: WorkerNews): void {
  self.postMessage(news)
}

self.onmessage = ({ data }: MessageEvent<WorkerTask>) => {
  run(data).catch((error: unknown) =>
    tell({ type: 'failed', message: error instanceof Error ? error.message : String(error) }),
  )
}
