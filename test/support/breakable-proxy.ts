import type { Socket } from 'bun'

/** A proxy to a server on loopback that can be broken while connections are open. */
export interface BreakableProxy {
  /** The server's URL through this proxy. */
  readonly url: string
  /** Ends every connection and accepts no new one until `mend`. */
  cut(): void
  /**
   * Passes to the server the first `text` on a connection that sent `after` before, and drops the answer; then cuts the
   * connections and calls `onLost`.
   */
  loseAnswer(when: { after: string; text: string }, onLost: () => void): void
  mend(): void
  stop(): void
}

interface Pair {
  server: Socket | null
  waiting: Buffer[]
  hasSeen: boolean
  isDeaf: boolean
}

/** The time that the last bytes get to arrive before the connection is cut. */
const arrivalMs = 300

/** Starts the proxy in front of the server at `target`, a URL with a port. */
export function startBreakableProxy(target: string): BreakableProxy {
  const { hostname, port } = new URL(target)
  const open = new Map<Socket, Pair>()
  let isCut = false
  let losing: { after: string; text: string; onLost: () => void } | null = null

  const cut = () => {
    isCut = true
    for (const [socket, pair] of open) {
      socket.terminate()
      pair.server?.terminate()
    }
    open.clear()
  }

  const watch = (pair: Pair, data: Buffer) => {
    if (losing === null) return
    const from = pair.hasSeen ? 0 : data.indexOf(losing.after)
    if (from === -1) return
    pair.hasSeen = true
    if (data.indexOf(losing.text, from) === -1) return
    pair.isDeaf = true
    const { onLost } = losing
    losing = null
    setTimeout(() => {
      cut()
      onLost()
    }, arrivalMs)
  }

  const connect = async (socket: Socket, pair: Pair) => {
    pair.server = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data: (_, data) => void (pair.isDeaf || socket.write(data)),
        close: () => void socket.end(),
        error: () => undefined,
      },
    })
    for (const data of pair.waiting.splice(0)) pair.server.write(data)
  }

  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        if (isCut) return socket.terminate()
        const pair: Pair = { server: null, waiting: [], hasSeen: false, isDeaf: false }
        open.set(socket, pair)
        connect(socket, pair).catch(() => socket.terminate())
      },
      data(socket, data) {
        const pair = open.get(socket)
        if (!pair) return
        watch(pair, data)
        if (pair.server) pair.server.write(data)
        else pair.waiting.push(Buffer.from(data))
      },
      close(socket) {
        open.get(socket)?.server?.end()
        open.delete(socket)
      },
      error: () => undefined,
    },
  })
  const url = new URL(target)
  url.port = String(listener.port)
  return {
    url: url.href,
    cut,
    loseAnswer: (when, onLost) => void (losing = { ...when, onLost }),
    mend: () => void (isCut = false),
    stop() {
      cut()
      listener.stop(true)
    },
  }
}
