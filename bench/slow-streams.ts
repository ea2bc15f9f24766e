import type { Socket } from 'bun'
import { requestBytes } from './harness/raw-http.ts'

/** Many callers at once that read slowly coming streams, or do not read at all; prints how many are still there. */

interface Options {
  port: number
  path: string
  headers: Record<string, string>
  body: string
  count: number
  seconds: number
  /** Reads the first bytes and then nothing more. */
  isStalled: boolean
}

const options = JSON.parse(Bun.argv[2] ?? '{}') as Options
const bytes = requestBytes(options)
let answered = 0
let open = 0

const handlers = {
  open(socket: Socket<{ hasData: boolean }>) {
    open += 1
    socket.write(bytes)
  },
  data(socket: Socket<{ hasData: boolean }>, data: Buffer) {
    if (!socket.data.hasData && data.toString('latin1', 9, 12) === '200') answered += 1
    socket.data.hasData = true
    if (options.isStalled) socket.pause()
  },
  close() {
    open -= 1
  },
}

for (let index = 0; index < options.count; index += 1) {
  await Bun.connect({
    hostname: '127.0.0.1',
    port: options.port,
    data: { hasData: false },
    socket: handlers,
  })
}
await Bun.sleep(options.seconds * 1000)
console.log(JSON.stringify({ answered, open }))
process.exit(0)
