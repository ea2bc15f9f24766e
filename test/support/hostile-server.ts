import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { once } from 'node:events'

/** A server that answers badly on purpose, byte by byte, and counts what it could send. */
export interface HostileServer {
  /** The loopback host with its port. */
  readonly host: string
  /** The requested paths. */
  readonly asked: string[]
  /** The bytes of bodies that were written for this path. */
  bytesOf(path: string): number
  stop(): Promise<void>
}

/** The behaviour for one path; it must stop when `isOpen` returns false. */
type Behaviour = (socket: Socket, answer: Answering) => Promise<void> | void

interface Answering {
  isOpen: () => boolean
  count: (bytes: number) => void
  /** The rest of the path, after its first word. */
  rest: string
}

const head = (more: string) => `HTTP/1.1 200 OK\r\ncontent-type: audio/wav\r\n${more}\r\n`
const piece = Buffer.alloc(262_144, 7)
const dripMs = 200

const behaviours: Readonly<Record<string, Behaviour>> = {
  wav: (socket, { rest }) => {
    void socket.end(
      Buffer.concat([
        Buffer.from(head(`content-length: ${Buffer.byteLength(rest, 'base64url')}\r\n`)),
        Buffer.from(rest, 'base64url'),
      ]),
    )
  },
  to: (socket, { rest }) => {
    const location = Buffer.from(rest, 'base64url').toString('utf8')
    socket.end(`HTTP/1.1 302 Found\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`)
  },
  loop: (socket) => void socket.end('HTTP/1.1 302 Found\r\nlocation: /loop\r\ncontent-length: 0\r\n\r\n'),
  endless: async (socket, answer) => {
    socket.write(head('transfer-encoding: chunked\r\n'))
    await pour(
      socket,
      answer,
      Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
    )
  },
  untilclosed: async (socket, answer) => {
    socket.write(head(''))
    await pour(socket, answer, piece)
  },
  stated: async (socket, answer) => {
    socket.write(head('content-length: 5000000000\r\n'))
    await pour(socket, answer, piece)
  },
  bomb: async (socket, answer) => {
    const bytes = Bun.gzipSync(Buffer.alloc(50_000_000))
    socket.end(
      Buffer.concat([
        Buffer.from(head(`content-encoding: gzip\r\ncontent-length: ${bytes.length}\r\n`)),
        bytes,
      ]),
    )
    answer.count(bytes.length)
  },
  headers: async (socket, answer) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    await pour(socket, answer, Buffer.from(`x-much: ${'a'.repeat(8_000)}\r\n`))
  },
  line: async (socket, answer) => {
    socket.write('HTTP/1.1 200 OK\r\nx-much: ')
    await pour(socket, answer, piece)
  },
  again: async (socket, answer) => {
    await pour(socket, answer, Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'))
  },
  silent: () => {},
  driphead: (socket, answer) => drip(socket, answer, 'HTTP/1.1 200 OK\r\nx-slow: '),
  dripbody: (socket, answer) => drip(socket, answer, head('transfer-encoding: chunked\r\n'), '1\r\na\r\n'),
  garbage: (socket) => void socket.end('SSH-2.0-OpenSSH_9.7\r\n'),
  half: (socket) => {
    socket.write(head('content-length: 1000\r\n'))
    socket.end('RIFF')
  },
}

/** Writes as fast as the client reads. */
async function pour(socket: Socket, { isOpen, count }: Answering, bytes: Buffer): Promise<void> {
  while (isOpen()) {
    count(bytes.length)
    if (socket.write(bytes)) await Bun.sleep(0)
    else await roomIn(socket)
  }
}

/** Waits until more can be written, or the connection has ended. */
async function roomIn(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const settle = () => resolve()
  socket.once('drain', settle).once('close', settle)
  await promise
  socket.off('drain', settle).off('close', settle)
}

async function drip(socket: Socket, { isOpen, count }: Answering, begin: string, drop = 'a'): Promise<void> {
  socket.write(begin)
  while (isOpen()) {
    socket.write(drop)
    count(1)
    await Bun.sleep(dripMs)
  }
}

/** Listens on a loopback address, by default on a free port of 127.0.0.1. */
export async function startHostileServer(address = '127.0.0.1', port = 0): Promise<HostileServer> {
  const asked: string[] = []
  const bytes = new Map<string, number>()
  const sockets = new Set<Socket>()
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    let isOpen = true
    socket.on('error', () => {})
    socket.once('close', () => {
      isOpen = false
      sockets.delete(socket)
    })
    socket.once('data', (request: Buffer) => {
      const path = request.toString('latin1').split(' ')[1] ?? ''
      asked.push(path)
      const [, word = '', ...rest] = path.split('/')
      const count = (more: number) => void bytes.set(path, (bytes.get(path) ?? 0) + more)
      const answering = { isOpen: () => isOpen, count, rest: rest.join('/') }
      void behaviours[word]?.(socket, answering)
      if (behaviours[word] === undefined) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nsecret')
    })
  })
  server.listen(port, address)
  await once(server, 'listening')
  const listening = server.address() as AddressInfo
  return {
    host: `${address.includes(':') ? `[${address}]` : address}:${listening.port}`,
    asked,
    bytesOf: (path) => bytes.get(path) ?? 0,
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
