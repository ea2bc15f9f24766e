import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** Passes connections on to a server, and tells when the first byte of a body came back. */
export interface Relay {
  /** `http://127.0.0.1:port`. */
  url: string
  /** When the first byte of the next response's body has passed, by `performance.now()`. */
  nextFirstByte(): Promise<number>
  close(): void
}

/** A relay before the server at this address. One call at a time is watched. */
export async function startRelay(target: string): Promise<Relay> {
  const { hostname, port } = new URL(target)
  let waiting: PromiseWithResolvers<number> | null = null
  let head = ''
  let isHeadDone = false
  const watch = (bytes: Buffer) => {
    if (waiting === null) return
    if (!isHeadDone) {
      head += bytes.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      isHeadDone = true
      if (head.length === end + 4) return
    }
    waiting.resolve(performance.now())
    waiting = null
  }
  const server = createServer((caller) => {
    const upstream = connect(Number(port), hostname)
    const end = (socket: Socket) => () => socket.destroy()
    caller.on('error', end(upstream)).on('close', end(upstream))
    upstream.on('error', end(caller)).on('close', end(caller))
    caller.setNoDelay(true).pipe(upstream)
    upstream.setNoDelay(true).on('data', watch)
    upstream.pipe(caller)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    nextFirstByte() {
      head = ''
      isHeadDone = false
      waiting = Promise.withResolvers<number>()
      return waiting.promise
    },
    close: () => void server.close(),
  }
}
