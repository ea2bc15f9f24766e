import type { Socket } from 'bun'
import { openLoopConnectionsMax } from './harness/bounds.ts'
import { requestBytes, ResponseReader } from './harness/raw-http.ts'

/**
 * Sends requests at a fixed rate, whatever becomes of the earlier ones, and prints how long each took to its first and
 * its last byte. A process of its own, so that it does not share a loop with anything it measures.
 */

interface Options {
  port: number
  path: string
  headers: Record<string, string>
  body: string
  rate: number
  seconds: number
}

interface Connection {
  socket: Socket<Connection>
  reader: ResponseReader
  sentAtMs: number
  firstMs: number | null
}

const options = JSON.parse(Bun.argv[2] ?? '{}') as Options
const bytes = requestBytes(options)
const idle: Connection[] = []
const firstMs: number[] = []
const lastMs: number[] = []
let connections = 0
let failures = 0

const handlers = {
  data(socket: Socket<Connection>, data: Buffer) {
    const connection = socket.data
    const nowMs = performance.now()
    const progress = connection.reader.push(data)
    if (progress === 'headers') return
    connection.firstMs ??= nowMs - connection.sentAtMs
    if (progress !== 'ended') return
    if (connection.reader.status === 200) {
      firstMs.push(connection.firstMs)
      lastMs.push(nowMs - connection.sentAtMs)
    } else failures += 1
    connection.reader.reset()
    connection.firstMs = null
    idle.push(connection)
  },
  close() {
    connections -= 1
  },
  error() {
    failures += 1
  },
}

async function connect(): Promise<Connection> {
  connections += 1
  const connection = { reader: new ResponseReader(), sentAtMs: 0, firstMs: null } as Omit<
    Connection,
    'socket'
  >
  const socket = await Bun.connect<Connection>({
    hostname: '127.0.0.1',
    port: options.port,
    data: connection as Connection,
    socket: handlers,
  })
  return Object.assign(connection, { socket })
}

async function sendOne(): Promise<void> {
  if (idle.length === 0 && connections >= openLoopConnectionsMax) {
    failures += 1
    return
  }
  const connection = idle.pop() ?? (await connect())
  connection.sentAtMs = performance.now()
  connection.socket.write(bytes)
}

for (let index = 0; index < 32; index += 1) idle.push(await connect())
const startMs = performance.now()
const total = options.rate * options.seconds
let sent = 0
const { promise, resolve } = Promise.withResolvers<void>()
const timer = setInterval(() => {
  const due = Math.min(total, Math.floor(((performance.now() - startMs) / 1000) * options.rate))
  for (; sent < due; sent += 1) void sendOne()
  if (sent >= total) resolve()
}, 1)
await promise
clearInterval(timer)
// The last ones are on their way; what has not come after this is a failure.
for (let waits = 0; waits < 50 && firstMs.length + failures < total; waits += 1) await Bun.sleep(20)
console.log(
  JSON.stringify({
    sent: total,
    failures: failures + Math.max(0, total - firstMs.length - failures),
    firstMs,
    lastMs,
  }),
)
process.exit(0)
