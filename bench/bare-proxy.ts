/**
 * What the runtime costs alone: a proxy that reads a body, sends it on and passes the answer back, without keys, prices,
 * a ledger or a log. No gateway on this runtime can cost less; arguments are the port and the two upstreams' ports.
 *
 * With a database's path as the fourth it also parses both bodies of a call, of a stream only the event that has its
 * usage, and passes on the answer, of a stream the part that has the usage, when what it used is durable: the least that
 * a gateway with a ledger does.
 */
import type { DurableRow } from './durable-writer.ts'

const [port = '0', staticPort = '0', pacedPort = '0', databasePath] = Bun.argv.slice(2)
const sent = { 'content-type': 'application/json', authorization: 'Bearer bench-upstream-key' }
/** Beyond, the server writes every header of an ordinary body in a system call of its own. */
const corkedBytes = 12_000
const gathered = { highWaterMark: 65_536 }

interface Waiting {
  row: DurableRow
  resolve: () => void
}

/** Captures in groups: what comes while one is on its way to the disk goes with the next. */
class Ledger {
  readonly #writer = new Worker(new URL('durable-writer.ts', import.meta.url))
  #waiting: Waiting[] = []
  #underWay: Waiting[] = []
  #isBusy = true
  #calls = 0

  constructor(path: string) {
    this.#writer.onmessage = () => {
      for (const { resolve } of this.#underWay) resolve()
      this.#isBusy = false
      this.#flush()
    }
    this.#writer.postMessage(path)
  }

  /** `answer` is JSON: a whole answer, or the event of a stream that has its usage. */
  capture(request: Uint8Array, answer: string): Promise<void> {
    const { model } = JSON.parse(textOf(request)) as { model: string }
    const { usage } = JSON.parse(answer) as { usage: Record<string, number> }
    this.#calls += 1
    const now = Date.now()
    const id = `call-${now}-${this.#calls}`
    const row: DurableRow = [
      id,
      model,
      usage['prompt_tokens'] ?? 0,
      usage['completion_tokens'] ?? 0,
      1_000,
      now,
    ]
    return new Promise((resolve) => {
      this.#waiting.push({ row, resolve })
      this.#flush()
    })
  }

  #flush(): void {
    if (this.#isBusy || this.#waiting.length === 0) return
    this.#isBusy = true
    this.#underWay = this.#waiting
    this.#waiting = []
    this.#writer.postMessage(this.#underWay.map(({ row }) => row))
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
}

/** Where the last event with a usage begins among these whole lines, and its JSON; null when it does not lie here. */
function usageEventOf(lines: Uint8Array): { start: number; json: string } | null {
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.length).toString('latin1')
  const at = text.lastIndexOf('"usage":{')
  if (at === -1) return null
  const start = text.lastIndexOf('data: ', at)
  const end = text.indexOf('\n', at)
  return { start, json: text.slice(start + 'data: '.length, end === -1 ? undefined : end) }
}

const newline = 0x0a
const nothing: Uint8Array = new Uint8Array(0)

/** What was kept and what was read, as whole lines and the beginning of one, which is kept for the next read. */
function splitLines(kept: Uint8Array, read: Uint8Array): { lines: Uint8Array; kept: Uint8Array } {
  const bytes = kept.length === 0 ? read : Buffer.concat([kept, read])
  if (bytes.at(-1) === newline) return { lines: bytes, kept: nothing }
  const end = bytes.lastIndexOf(newline) + 1
  return { lines: bytes.subarray(0, end), kept: bytes.subarray(end) }
}

const ledger = databasePath === undefined ? null : new Ledger(databasePath)

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(port),
  idleTimeout: 0,
  maxRequestBodySize: 300_000_000,
  async fetch(request) {
    const { pathname } = new URL(request.url)
    if (request.method === 'GET') return new Response('ready')
    const upstream = /^\/\d/.test(pathname) ? pacedPort : staticPort
    const body = await request.bytes()
    const answer = await fetch(`http://127.0.0.1:${upstream}${pathname}`, {
      method: 'POST',
      headers: sent,
      body,
    })
    const type = answer.headers.get('content-type') ?? 'application/json'
    const headers = { 'content-type': type }
    if (type.startsWith('text/event-stream')) return new Response(await passedOn(answer, body), { headers })
    const bytes = await answer.bytes()
    if (ledger !== null) await ledger.capture(body, textOf(bytes))
    return new Response(bytes.length > corkedBytes ? writtenAtOnce(bytes) : bytes, { headers })
  },
})

function writtenAtOnce(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      type: 'direct',
      pull(writer) {
        void writer.write(bytes)
        void writer.end()
      },
    },
    gathered,
  )
}

/** Begins with what is there already, because a head that goes out alone is written header by header too. */
async function passedOn({ body }: Response, request: Uint8Array): Promise<ReadableStream<Uint8Array> | null> {
  const reader = body?.getReader()
  if (!reader) return null
  let read = await reader.read()
  return new ReadableStream<Uint8Array>(
    {
      type: 'direct',
      async pull(writer) {
        let split = { lines: nothing, kept: nothing }
        const pass = async (lines: Uint8Array) => {
          const event = ledger === null ? null : usageEventOf(lines)
          if (ledger !== null && event !== null) {
            // What comes before it waits for nothing.
            void writer.write(lines.subarray(0, event.start))
            void writer.flush()
            await ledger.capture(request, event.json)
          }
          void writer.write(event === null ? lines : lines.subarray(event.start))
          void writer.flush()
        }
        while (!read.done) {
          split = ledger === null ? { lines: read.value, kept: nothing } : splitLines(split.kept, read.value)
          if (split.lines.length > 0) await pass(split.lines)
          read = await reader.read()
        }
        if (split.kept.length > 0) await pass(split.kept)
        void writer.end()
      },
    },
    gathered,
  )
}
