import type { Socket } from 'bun'
import { requestBytes } from './harness/raw-http.ts'

/**
 * Callers that hang up: before the first byte, at it, and after it, in turn; every other one without a word (a reset).
 * Prints when the marked ones left, by the system's clock.
 */

interface Options {
  port: number
  path: string
  headers: Record<string, string>
  /** Contains `mark-0.`, which is replaced for marked callers. */
  body: string
  count: number
  concurrency: number
  /** Gives every caller a mark of its own. */
  isMarked: boolean
}

interface Caller {
  index: number
  bytes: Uint8Array
  received: number
  leave: () => void
}

const options = JSON.parse(Bun.argv[2] ?? '{}') as Options
/** Longest life of one caller; the gateway not answering at all is no reason to stay. */
const patienceMs = 5000
const plain = requestBytes(options)
const leftAtMs: [string, number][] = []
let failures = 0

const handlers = {
  open(socket: Socket<Caller>) {
    const caller = socket.data
    socket.write(caller.bytes)
    // Late enough for the request to be read and the provider to be asked, early enough to be before its answer.
    if (caller.index % 3 === 0) setTimeout(caller.leave, 2)
  },
  data({ data: caller }: Socket<Caller>) {
    caller.received += 1
    const isEnough = caller.index % 3 === 1 || caller.received >= 3
    if (isEnough) caller.leave()
  },
  close({ data: caller }: Socket<Caller>) {
    caller.leave()
  },
  error() {
    failures += 1
  },
}

async function call(index: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const mark = `${process.pid}-${index}`
  let socket: Socket<Caller> | null = null
  let hasLeft = false
  const leave = () => {
    if (hasLeft) return
    hasLeft = true
    clearTimeout(timer)
    if (options.isMarked) leftAtMs.push([mark, Date.now()])
    if (index % 2 === 0) socket?.terminate()
    else socket?.end()
    resolve()
  }
  const timer = setTimeout(leave, patienceMs)
  const bytes = options.isMarked
    ? requestBytes({ ...options, body: options.body.replace('mark-0.', `mark-${mark}.`) })
    : plain
  try {
    socket = await Bun.connect<Caller>({
      hostname: '127.0.0.1',
      port: options.port,
      data: { index, bytes, received: 0, leave },
      socket: handlers,
    })
  } catch {
    failures += 1
    leave()
  }
  await promise
}

let next = 0
async function work(): Promise<void> {
  while (next < options.count) await call(next++)
}

await Promise.all(Array.from({ length: options.concurrency }, work))
console.log(JSON.stringify({ failures, leftAtMs }))
process.exit(0)
