import { StorageFailure, storageUnavailable } from '../database.ts'
import type { Row, SqlValue } from '../database.ts'
import type { FromAside, ToAside } from './aside-protocol.ts'

/** Long reads that may wait for the thread; one more is refused, because its caller would wait for too long. */
export const asideQueueMax = 200
/** The thread ends when nothing was read for this long: it has memory of its own. */
const asideIdleMs = 60_000

/**
 * Long reads on a thread with a read-only connection of its own: a search through millions of rows takes seconds, and on
 * the main thread every stream would stand still meanwhile. The thread starts with the first read.
 */
export class AsideReader {
  readonly #path: string
  readonly #waiting = new Map<number, PromiseWithResolvers<Row[]>>()
  #nextNumber = 0
  #worker: Worker | null = null
  #idle: Timer | null = null
  #closing: PromiseWithResolvers<void> | null = null

  constructor(path: string) {
    this.#path = path
  }

  /** Runs one query in SQLite's own SQL. Rejects with `storage_unavailable`, also when too many reads wait. */
  async query(sql: string, params: readonly SqlValue[]): Promise<Row[]> {
    if (this.#waiting.size >= asideQueueMax) throw unavailable('too many long reads are waiting', null)
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#idle = null
    const number = this.#nextNumber++
    const asked = Promise.withResolvers<Row[]>()
    this.#waiting.set(number, asked)
    this.#send({ kind: 'query', number, sql, params })
    try {
      return await asked.promise
    } finally {
      this.#waiting.delete(number)
      if (this.#waiting.size === 0) this.#rest()
    }
  }

  /** Lets the thread close its connection, and ends it. */
  async close(): Promise<void> {
    if (this.#idle !== null) clearTimeout(this.#idle)
    if (this.#worker === null) return
    this.#closing = Promise.withResolvers()
    this.#send({ kind: 'close' })
    await this.#closing.promise
    this.#stop(null)
  }

  #rest(): void {
    this.#idle = setTimeout(() => void this.close(), asideIdleMs)
    this.#idle.unref()
  }

  #send(message: ToAside): void {
    this.#worker ??= this.#start()
    this.#worker.postMessage(message)
  }

  #start(): Worker {
    const worker = new Worker(new URL('./aside-thread.ts', import.meta.url))
    // Outside of the message's dispatch, as at the writer: code that spins the event loop inside it gets no other message.
    worker.onmessage = (event: MessageEvent<FromAside>) => {
      setImmediate(() => this.#receive(event.data))
    }
    worker.onerror = (event) => this.#lost(worker, event.message)
    worker.addEventListener('close', () => this.#lost(worker, 'the thread for long reads ended'))
    worker.postMessage({ kind: 'open', path: this.#path } satisfies ToAside)
    return worker
  }

  #receive(message: FromAside): void {
    if (message.kind === 'closed') return this.#closing?.resolve()
    const asked = this.#waiting.get(message.number)
    if (message.kind === 'rows') return asked?.resolve(message.rows)
    const { code, message: text, isStorage } = message
    asked?.reject(isStorage ? unavailable(text, code) : new Error(`${code ?? 'error'}: ${text}`))
  }

  #lost(worker: Worker, reason: string): void {
    if (worker === this.#worker) this.#stop(reason)
  }

  #stop(reason: string | null): void {
    const worker = this.#worker
    this.#worker = null
    this.#closing?.resolve()
    this.#closing = null
    for (const asked of this.#waiting.values())
      asked.reject(unavailable(reason ?? 'the database is closed', null))
    worker?.terminate()
  }
}

function unavailable(message: string, code: string | null): Error {
  return storageUnavailable(new StorageFailure(message, { code }))
}
