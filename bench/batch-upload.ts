import { readFileSync, writeFileSync } from 'node:fs'
import type { Socket } from 'bun'

/** Uploads a batch and prints the time to the answer, what it was, and how much the server's memory grew until then. */

interface Options {
  port: number
  path: string
  headers: Record<string, string>
  model: string
  items: number
  /** Of the whole body; filled up with spaces at the end. */
  bytes: number
  /** `requests` before everything else unless this is set. */
  isUsualOrder?: boolean
  /** Process whose memory is watched; works on Linux only. */
  watchedPid?: number
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
let answeredMs = 0
let grownBytes: number | null = null
const { promise, resolve } = Promise.withResolvers<void>()

function feed(socket: Socket): void {
  while (offset < body.byteLength) {
    const written = socket.write(body, offset, Math.min(body.byteLength - offset, 1 << 20))
    if (written <= 0) return
    offset += written
  }
}

const residentBefore = resetPeak(options.watchedPid)
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
      // At once: what the server does next with the batch is not the upload's.
      if (answer === '') noteAnswer()
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
    ms: answeredMs,
    grownBytes,
    id: /"id":"(batch_[^"]+)"/.exec(answer)?.[1] ?? null,
    answer: answer.slice(0, 600),
  }),
)
process.exit(0)

function noteAnswer(): void {
  answeredMs = performance.now() - startMs
  if (residentBefore !== null) grownBytes = memoryOf(options.watchedPid, 'VmHWM') - residentBefore
}

/** Makes the kernel forget the most memory that the process had; what it has now in bytes, null when nobody is watched. */
function resetPeak(pid: number | undefined): number | null {
  if (pid === undefined) return null
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  return memoryOf(pid, 'VmRSS')
}

function memoryOf(pid: number | undefined, name: 'VmRSS' | 'VmHWM'): number {
  const facts = readFileSync(`/proc/${pid}/status`, 'latin1')
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(facts)?.[1] ?? 0) * 1024
}

/** The body of an answer with a length has come; others end with the connection or their last chunk. */
function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return false
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end))?.[1]
  return length === undefined ? text.endsWith('0\r\n\r\n') : text.length - end - 4 >= Number(length)
}

/** Exactly `bytes` bytes; made before the clock starts, so that the writer is never the slow one. */
function bodyOf({ items, bytes, model, isUsualOrder = false }: Options): Uint8Array {
  const members = `"endpoint":"/v1/chat/completions","model":"${model}"`
  const [before, after] = isUsualOrder
    ? [`{${members},"requests":[`, ']}']
    : ['{"requests":[', `],${members}}`]
  const room = Math.floor((bytes - before.length - after.length) / items) - itemOf(items, '').length - 1
  const texts = Array.from({ length: 64 }, (_, seed) => textOf(seed, Math.max(1, room)))
  const whole = Buffer.alloc(bytes, ' ')
  let written = whole.write(before)
  for (let index = 0; index < items; index += 1)
    written += whole.write((index === 0 ? '' : ',') + itemOf(index, texts[index % 64] ?? ''), written)
  whole.write(after, written)
  return whole
}

/** Words in no particular order, with line breaks and quotes as texts have them: neither all alike nor free of escapes. */
function textOf(seed: number, length: number): string {
  const words = 'the headrace carries water to turbines and every drop is counted before it falls'.split(' ')
  const ends = ['\\n', ' \\"so\\" ']
  let text = ''
  for (let place = seed + 1; text.length < length; place = (place * 48_271) % 0x7fffffff)
    text += `${words[place % words.length]}${ends[place % 40] ?? ' '}`
  return text
    .slice(0, length - 1)
    .replace(/\\+$/, '')
    .padEnd(length, '.')
}

function itemOf(index: number, text: string): string {
  return `{"custom_id":"item-${index}","body":{"messages":[{"role":"user","content":"${text}"}],"max_tokens":64}}`
}
