import type { Socket } from 'bun'

/** Uploads a batch with `requests` before everything else, and prints the time to the answer and what it was. */

interface Options {
  port: number
  path: string
  headers: Record<string, string>
  model: string
  items: number
  /** Of the whole body; filled up with spaces at the end. */
  bytes: number
}

const options = JSON.parse(Bun.argv[2] ?? '{}') as Options
const body = bodyOf(options)
const head = [
  `POST ${options.path} HTTP/1.1`,
  `Host: 127.0.0.1:${options.port}`,
  'Content-Type: application/json',
  `Content-Length: ${body.byteLength}`,
  ...Object.entries(options.headers).map(([name, value]) => `${name}: ${value}`),
]
let offset = 0
let answer = ''
const { promise, resolve } = Promise.withResolvers<void>()

function feed(socket: Socket): void {
  while (offset < body.byteLength) {
    const written = socket.write(body, offset, Math.min(body.byteLength - offset, 1 << 20))
    if (written <= 0) return
    offset += written
  }
}

const startMs = performance.now()
await Bun.connect({
  hostname: '127.0.0.1',
  port: options.port,
  socket: {
    open(socket) {
      socket.write(`${head.join('\r\n')}\r\n\r\n`)
      feed(socket)
    },
    drain: feed,
    data(_socket, data) {
      answer += data.toString('latin1')
      if (isWhole(answer)) resolve()
    },
    close: () => resolve(),
    error: () => resolve(),
  },
})
await promise
const status = Number(answer.slice(9, 12))
console.log(
  JSON.stringify({
    status,
    ms: performance.now() - startMs,
    id: /"id":"(batch_[^"]+)"/.exec(answer)?.[1] ?? null,
    answer: answer.slice(0, 600),
  }),
)
process.exit(0)

/** The body of an answer with a length has come; others end with the connection or their last chunk. */
function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return false
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end))?.[1]
  return length === undefined ? text.endsWith('0\r\n\r\n') : text.length - end - 4 >= Number(length)
}

/** Exactly `bytes` bytes; made before the clock starts, so that the writer is never the slow one. */
function bodyOf({ items, bytes, model }: Options): Uint8Array {
  const tail = `],"endpoint":"/v1/chat/completions","model":"${model}"}`
  const room = Math.floor((bytes - tail.length - 20) / items) - itemOf(items, '').length - 1
  const text = 'The headrace carries water to the turbines. '
    .repeat(room / 44 + 1)
    .slice(0, Math.max(1, room))
  const whole = Buffer.alloc(bytes, ' ')
  let written = whole.write('{"requests":[')
  for (let index = 0; index < items; index += 1)
    written += whole.write((index === 0 ? '' : ',') + itemOf(index, text), written)
  whole.write(tail, written)
  return whole
}

function itemOf(index: number, text: string): string {
  return `{"custom_id":"item-${index}","body":{"messages":[{"role":"user","content":"${text}"}],"max_tokens":64}}`
}
