import type { Signals } from '../signals.ts'
import { Pool } from './pool.ts'

const channelName = 'headrace'
/** How long a signal may take to be sent before its connection is given up. */
const signalPatienceMs = 10_000

/** The connection that receives the signals of all processes; the driver reopens it when it breaks. */
export class SignalConnection {
  readonly #pool: Pool
  readonly #signals: Signals
  #isNotifying = false
  #isClosed = false
  readonly #channels = new Set<string>()

  constructor(url: string, signals: Signals, patienceMs = signalPatienceMs) {
    this.#pool = new Pool({ url, connectionsMax: 1, patienceMs, onReplaced: () => this.#listenAgain() })
    this.#signals = signals
  }

  /** Starts to listen. Every new connection wakes all listeners, because signals may have been missed. */
  async open(): Promise<void> {
    await this.#pool.use((sql) =>
      sql.listen(
        channelName,
        (channel) => this.#signals.wake(channel),
        () => this.#signals.wakeAll(),
      ),
    )
  }

  /** Sends a signal. Signals for the same channel that come while one is being sent are sent as one. */
  notify(channel: string): void {
    this.#channels.add(channel)
    if (this.#isNotifying) return
    this.#isNotifying = true
    void this.#send().finally(() => {
      this.#isNotifying = false
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#pool.close()
  }

  /** The driver listens again after a broken connection, but not on a new pool. */
  #listenAgain(): void {
    if (!this.#isClosed) this.open().catch(() => undefined)
  }

  async #send(): Promise<void> {
    for (const channel of this.#channels) {
      this.#channels.delete(channel)
      // When a signal is lost, listeners wait for their next timer.
      await this.#pool.use((sql) => sql.notify(channelName, channel)).catch(() => undefined)
    }
  }
}
