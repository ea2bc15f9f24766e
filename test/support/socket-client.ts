/** A message from the gateway, parsed. */
export type SocketEvent = Record<string, unknown> & { type: string }

/** A client's WebSocket whose messages wait until a test takes them. */
export interface SocketClient {
  send(message: unknown): void
  /** The next message. Rejects when the connection ends first, or nothing comes for ten seconds. */
  next(): Promise<SocketEvent>
  /** Everything up to a message of one of these types, which is the last. */
  until(...types: string[]): Promise<SocketEvent[]>
  /** How the connection ended. */
  closed: Promise<{ code: number; reason: string }>
  close(code?: number): void
  socket: WebSocket
}

/** Connects to an address that begins with `http`, whoever signed its certificate. Rejects when there is no socket. */
export async function connectSocket(url: string, headers: Record<string, string>): Promise<SocketClient> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers, tls: { rejectUnauthorized: false } })
  const arrived: SocketEvent[] = []
  let wake = (): void => undefined
  const closing = Promise.withResolvers<{ code: number; reason: string }>()
  const opening = Promise.withResolvers<void>()
  let isClosed = false
  socket.onopen = () => opening.resolve()
  socket.onerror = () => opening.reject(new Error('no socket'))
  socket.onmessage = ({ data }) => {
    arrived.push(JSON.parse(String(data)) as SocketEvent)
    wake()
  }
  socket.onclose = ({ code, reason }) => {
    isClosed = true
    closing.resolve({ code, reason })
    opening.reject(new Error(`closed with ${code}`))
    wake()
  }
  await opening.promise
  const next = async (): Promise<SocketEvent> => {
    const endMs = performance.now() + 10_000
    while (arrived.length === 0) {
      if (isClosed) throw new Error('the connection is closed')
      if (performance.now() > endMs) throw new Error('no message came')
      const waiting = Promise.withResolvers<void>()
      wake = waiting.resolve
      await Promise.race([waiting.promise, Bun.sleep(100)])
    }
    return arrived.shift() as SocketEvent
  }
  return {
    socket,
    next,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    closed: closing.promise,
    close: (code) => socket.close(code),
    async until(...types) {
      const events: SocketEvent[] = []
      for (;;) {
        const event = await next()
        events.push(event)
        if (types.includes(event.type)) return events
      }
    },
  }
}
