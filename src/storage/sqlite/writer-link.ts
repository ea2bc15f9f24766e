import { assert } from '../../core/assert.ts'
import { statementCacheMax } from '../../core/limits/storage.ts'
import {
  GuardFailed,
  SchemaMismatch,
  SchemaOccupied,
  StorageFailure,
  storageUnavailable,
  UniqueViolation,
} from '../database.ts'
import type { Row, Unit } from '../database.ts'
import type { PendingUnit } from '../unit-queue.ts'
import type { FromWriter, ToWriter, WireFailure, WireOutcome, WireUnit, WriterOptions } from './protocol.ts'
import { toWire } from './wire-text.ts'

/** What the link needs besides the thread's own options. */
export interface WriterLinkOptions {
  writer: WriterOptions
  translate: (sql: string) => string
  onCommit: ((unit: Unit) => void) | undefined
}

type Reply<Kind extends FromWriter['kind']> = Extract<FromWriter, { kind: Kind }>

/**
 * The main thread's end of the writer thread: one group at a time, one message each way per group. A statement's text is
 * sent once; after that, its number. A thread that dies is started again with the next group.
 */
export class WriterLink {
  readonly #options: WriterLinkOptions
  readonly #numbers = new Map<string, number>()
  #nextNumber = 0
  #worker: Worker | null = null
  #reply: PromiseWithResolvers<FromWriter> | null = null
  #lastError: string | null = null

  constructor(options: WriterLinkOptions) {
    this.#options = options
  }

  /** The last storage failure, null after a success. */
  get lastError(): string | null {
    return this.#lastError
  }

  /** Starts the thread, which opens and migrates the database. */
  async open(): Promise<void> {
    const worker = new Worker(new URL('./writer-thread.ts', import.meta.url))
    this.#worker = worker
    // Runs outside the message's dispatch: code that spins the event loop inside it (as `expect().rejects` does) would never
    // get the next message.
    worker.onmessage = (event: MessageEvent<FromWriter>) => {
      setImmediate(() => this.#reply?.resolve(event.data))
    }
    worker.onerror = (event) => this.#abandon(worker, event.message)
    worker.addEventListener('close', () => this.#abandon(worker, 'the writer thread ended'))
    const { failure } = await this.#ask<'opened'>({ kind: 'open', options: this.#options.writer })
    if (failure === null) return
    this.#stop()
    if (failure.kind === 'schema') throw new SchemaMismatch(failure.found, failure.needed)
    if (failure.kind === 'occupied') throw new SchemaOccupied(failure.occupants)
    throw this.#toError({ name: 'open', statements: [] }, failure)
  }

  /** Commits a group and settles every unit in it; never rejects. */
  async run(group: readonly PendingUnit[]): Promise<void> {
    try {
      if (this.#worker === null) await this.open()
      const { outcomes } = await this.#ask<'group'>(this.#encode(group))
      for (let index = 0; index < group.length; index++) {
        const pending = group[index]
        if (pending) this.#settle(pending, outcomes[index] ?? null)
      }
    } catch (error) {
      for (const pending of group) pending.reject(error)
    }
  }

  /** Lets the thread close the database, then ends it. */
  async close(): Promise<void> {
    if (this.#worker !== null) await this.#ask<'closed'>({ kind: 'close' }).catch(() => undefined)
    this.#stop()
  }

  #encode(group: readonly PendingUnit[]): ToWriter {
    const reset = this.#numbers.size >= statementCacheMax
    if (reset) this.#numbers.clear()
    const statements: [number, string][] = []
    const units = group.map(({ unit }): WireUnit =>
      unit.statements.map(({ sql, params, rows, expect }) => {
        let number = this.#numbers.get(sql)
        if (number === undefined) {
          number = this.#nextNumber++
          this.#numbers.set(sql, number)
          statements.push([number, this.#options.translate(sql)])
        }
        return [number, params ?? null, rows ?? null, expect ?? -1]
      }),
    )
    return { kind: 'group', reset, statements, units }
  }

  #settle(pending: PendingUnit, outcome: WireOutcome): void {
    if (outcome !== null && !Array.isArray(outcome))
      return pending.reject(this.#toError(pending.unit, outcome))
    this.#lastError = null
    try {
      this.#options.onCommit?.(pending.unit)
    } catch (error) {
      return pending.reject(error)
    }
    pending.resolve(outcome ?? pending.unit.statements.map((): Row[] => []))
  }

  #toError(unit: Unit, failure: WireFailure): Error {
    if (failure.kind === 'unavailable') return this.#unavailable(failure)
    if (failure.kind === 'unique') return new UniqueViolation(failure.table, failure.constraint)
    if (failure.kind === 'guard') {
      const guard = unit.statements[failure.statement]?.guard ?? `statement ${failure.statement}`
      return new GuardFailed(guard, unit.name)
    }
    return new Error(`unit "${unit.name}": ${failure.code ?? 'error'}: ${failure.message}`)
  }

  #unavailable({ code, message, uncertain }: Extract<WireFailure, { kind: 'unavailable' }>): Error {
    this.#lastError = `${code ?? 'error'}: ${message}`
    return storageUnavailable(new StorageFailure(message, { code, uncertain }))
  }

  async #ask<Kind extends FromWriter['kind']>(message: ToWriter): Promise<Reply<Kind>> {
    assert(this.#worker && this.#reply === null, 'the writer thread answers one question at a time')
    this.#reply = Promise.withResolvers<FromWriter>()
    this.#worker.postMessage(message.kind === 'group' ? toWire(message) : message)
    try {
      return (await this.#reply.promise) as Reply<Kind>
    } finally {
      this.#reply = null
    }
  }

  /** The thread is gone: the units that it had may or may not have been committed. */
  #abandon(worker: Worker, reason: string): void {
    if (worker !== this.#worker) return
    this.#stop()
    this.#reply?.reject(
      this.#unavailable({ kind: 'unavailable', code: null, message: reason, uncertain: true }),
    )
  }

  #stop(): void {
    const worker = this.#worker
    this.#worker = null
    this.#numbers.clear()
    worker?.terminate()
  }
}
