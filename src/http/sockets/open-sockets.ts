import { HistoryRoom } from './answer-history.ts'
import type { SocketConnection } from './socket-connection.ts'

/** Connections of this process, and those of one key. */
const socketsMax = 2_000
const socketsOfKeyMax = 500

/** The open sockets of this process. */
export class Sockets {
  readonly #open = new Map<SocketConnection, string>()
  #empty: (() => void) | null = null
  readonly history = new HistoryRoom()

  get size(): number {
    return this.#open.size
  }

  admit(keyId: string): boolean {
    if (this.#open.size >= socketsMax) return false
    return [...this.#open.values()].filter((each) => each === keyId).length < socketsOfKeyMax
  }

  add(connection: SocketConnection, keyId: string): void {
    this.#open.set(connection, keyId)
  }

  delete(connection: SocketConnection): void {
    this.#open.delete(connection)
    if (this.#open.size === 0) this.#empty?.()
  }

  /** The process stops: connections end at once, or after the turns that run. Resolves when all have ended. */
  leave(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#empty = resolve
    for (const connection of this.#open.keys()) connection.leave()
    if (this.#open.size === 0) resolve()
    return promise
  }
}
