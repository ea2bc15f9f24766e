import { SQL } from 'bun'
import { postgresConnectMs } from '../../core/limits/storage.ts'

/** The server ends a statement or transaction of ours after this time, for example when the network broke in between. */
const serverPatienceMs = 30_000

/** How to open a pool. */
export interface PoolOptions {
  url: string
  connectionsMax: number
  /** How long one use may take. After that the network is to blame, not the server, and all connections are given up. */
  patienceMs: number
  /** After this time the server ends a statement; `serverPatienceMs` by default. */
  statementMs?: number
  /** The server runs each statement on one of its cores, and compiles none: others of its cores stay free for live calls. */
  isModest?: boolean
  onClose?: () => void
  /** Called after the connections were replaced; their sessions and locks are gone. */
  onReplaced?: () => void
}

/** A pool that replaces its connections when the network stops delivering. */
export class Pool {
  readonly #options: PoolOptions
  #sql: SQL

  constructor(options: PoolOptions) {
    this.#options = options
    this.#sql = connect(options)
  }

  /** Runs `work` on the pool, which is replaced when that takes too long; `work` then fails as on a lost connection. */
  async use<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
    const sql = this.#sql
    const timer = setTimeout(() => this.#replace(sql), this.#options.patienceMs)
    try {
      return await work(sql)
    } finally {
      clearTimeout(timer)
    }
  }

  async close(): Promise<void> {
    await this.#sql.close({ timeout: 0 })
  }

  #replace(sql: SQL): void {
    const isCurrent = sql === this.#sql
    if (isCurrent) this.#sql = connect(this.#options)
    sql.close({ timeout: 0 }).catch(() => undefined)
    if (isCurrent) this.#options.onReplaced?.()
  }
}

const modest = { max_parallel_workers_per_gather: 0, jit: 'off' } as const

function connect({
  url,
  connectionsMax,
  statementMs = serverPatienceMs,
  isModest = false,
  onClose,
}: PoolOptions): SQL {
  return new SQL({
    url,
    max: connectionsMax,
    bigint: true,
    connectionTimeout: postgresConnectMs / 1000,
    connection: {
      application_name: 'headrace',
      statement_timeout: statementMs,
      idle_in_transaction_session_timeout: serverPatienceMs,
      ...(isModest ? modest : {}),
    },
    ...(onClose ? { onclose: onClose } : {}),
  })
}
