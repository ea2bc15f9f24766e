import { Alarms, type Alarm } from '../core/alarms.ts'
import { Connection, ConnectionLost, connectionEvents, type Lessee, type Origin } from './connection.ts'

/** Longest wait for a new connection, handshake included; another endpoint can still be tried afterwards. */
const connectMs = 15_000
/** Rest of a plain connection that states no time-out: Node and uvicorn close theirs after 5 s. */
const plainRestMs = 4_000
/** The same with TLS, where a new handshake costs two round trips: load balancers close theirs after 60 s. */
const tlsRestMs = 50_000
/** A stated time-out is undercut by this, and never believed beyond the bound. */
const statedRestMarginMs = 1_000
const statedRestMsMax = 120_000
/** A connection that rested longer waits one turn of the event loop, in which a close that has arrived is noticed. */
const livenessTurnMs = 1_000
/** How often connections that have rested too long are looked for. */
const restSweepMs = 1_000
/** Resting connections of this process, and where descriptors are few. */
const restingConnectionsMax = 1_024
const restingConnectionsFew = 64

const alarms = new Alarms()

/** The connections of this process to its upstreams, and those among them that rest. */
export class Connections {
  readonly #origins = new Map<string, Origin>()
  readonly #restingMax: number
  #resting = 0
  #isSweeping = false

  constructor({ areDescriptorsFew }: { areDescriptorsFew: boolean }) {
    this.#restingMax = areDescriptorsFew ? restingConnectionsFew : restingConnectionsMax
  }

  originOf({ protocol, hostname, port, host }: URL): Origin {
    const key = `${protocol}//${host}`
    let origin = this.#origins.get(key)
    if (origin === undefined) {
      const isTls = protocol === 'https:'
      const name = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
      origin = { hostname: name, port: Number(port) || (isTls ? 443 : 80), isTls, resting: [] }
      this.#origins.set(key, origin)
    }
    return origin
  }

  /** Gives the lessee a connection that rests, or a new one. */
  lease(origin: Origin, lessee: Lessee): void {
    const nowMs = performance.now()
    for (;;) {
      const connection = origin.resting.pop()
      if (connection === undefined) return this.#dial(origin, lessee)
      this.#resting -= 1
      const restedMs = nowMs - connection.restsSinceMs
      if (restedMs >= restMsOf(connection)) connection.drop()
      else if (restedMs < livenessTurnMs) return connection.begin(lessee)
      else return this.#beginNextTurn(connection, lessee)
    }
  }

  #beginNextTurn(connection: Connection, lessee: Lessee): void {
    setImmediate(() => this.#beginIfOpen(connection, lessee))
  }

  /** A request must not go into a connection whose close has arrived and was not noticed yet: it would be lost. */
  #beginIfOpen(connection: Connection, lessee: Lessee): void {
    if (connection.isGone) {
      if (!lessee.isOver) this.lease(connection.origin, lessee)
    } else if (lessee.isOver) this.rest(connection)
    else connection.begin(lessee)
  }

  #dial(origin: Origin, lessee: Lessee): void {
    const connection = new Connection(origin, this)
    const { hostname, port, isTls } = origin
    const fail = (thrown: unknown) => {
      alarms.callOff(late)
      if (connection.isGone) return
      connection.drop()
      if (!lessee.isOver) lessee.onBroken(thrown)
    }
    const late: Alarm = alarms.set(connectMs, () => fail(new ConnectionLost('ETIMEDOUT')))
    const onReady = (socket: Bun.Socket<Connection>) => {
      alarms.callOff(late)
      if (connection.isGone || lessee.isOver) {
        connection.drop()
        socket.terminate()
        return
      }
      connection.onReady(socket)
      connection.begin(lessee)
    }
    void Bun.connect<Connection>({
      hostname,
      port,
      data: connection,
      ...(isTls ? { tls: { rejectUnauthorized: true, ALPNProtocols: 'http/1.1' } } : {}),
      socket: {
        ...connectionEvents,
        open: (socket) => {
          if (!isTls || connection.isGone) onReady(socket)
        },
        handshake: (socket, isOk, error) => {
          // Not one byte of a request leaves before the certificate and the name in it were checked.
          if (isOk && error === null && socket.authorized) return onReady(socket)
          fail(error ?? new ConnectionLost('handshake failed'))
          socket.terminate()
        },
        close: (_, thrown) => {
          fail(thrown ?? new ConnectionLost('closed'))
          connection.onClosed(thrown)
        },
      },
    }).catch(fail)
  }

  rest(connection: Connection): void {
    if (this.#resting >= this.#restingMax || restMsOf(connection) === 0) return connection.drop()
    this.#resting += 1
    connection.restsSinceMs = performance.now()
    connection.origin.resting.push(connection)
    if (!this.#isSweeping) this.#sweepLater()
  }

  forget(connection: Connection): void {
    const { resting } = connection.origin
    const place = resting.indexOf(connection)
    if (place === -1) return
    resting.splice(place, 1)
    this.#resting -= 1
  }

  #sweep(): void {
    const nowMs = performance.now()
    for (const { resting } of this.#origins.values())
      for (const connection of resting.slice())
        if (nowMs - connection.restsSinceMs >= restMsOf(connection)) connection.drop()
    this.#isSweeping = false
    if (this.#resting > 0) this.#sweepLater()
  }

  #sweepLater(): void {
    this.#isSweeping = true
    alarms.set(restSweepMs, () => this.#sweep())
  }
}

function restMsOf({ statedRestSeconds, origin }: Connection): number {
  const usualMs = origin.isTls ? tlsRestMs : plainRestMs
  if (statedRestSeconds === null) return usualMs
  return Math.min(statedRestMsMax, Math.max(0, statedRestSeconds * 1000 - statedRestMarginMs))
}
