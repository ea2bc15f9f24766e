import { Alarms, type Alarm } from '../core/alarms.ts'
import type { Clock } from '../core/clock.ts'
import type { GatewayError } from '../core/errors.ts'
import { deadlinePassed, stalled, timedOut } from './exchange-errors.ts'
import type { SendOptions } from './exchange.ts'

/** Longest silence in the middle of an upstream's body; a model that thinks between two pieces is quiet for minutes. */
const upstreamIdleMs = 300_000

/** Shared by all exchanges, so that an ordinary exchange sets no timer of its own. */
const alarms = new Alarms()

/** What has time limits. */
export interface Limited {
  /** The first limit was exceeded. */
  onTimeOver(error: GatewayError): void
}

/** Watches all time limits of one exchange; it is its own alarm, to save objects. */
export class TimeLimits implements Alarm {
  /** Among the alarms. */
  place = -1
  dueAtMs = 0
  readonly #options: SendOptions
  readonly #clock: Clock
  readonly #limited: Limited
  readonly #startedAtMs: number
  #hasHead = false
  #readSinceMs = -1

  /** Begins to watch. */
  constructor(options: SendOptions, clock: Clock, limited: Limited) {
    this.#options = options
    this.#clock = clock
    this.#limited = limited
    this.#startedAtMs = clock.monotonicMs()
    this.#watch(this.#startedAtMs)
  }

  /** The head of the answer has arrived. */
  onHead(): void {
    this.#hasHead = true
  }

  /** A read waits for the upstream from now on, or goes on waiting after a part has come. */
  onWait(): void {
    this.#readSinceMs = this.#clock.monotonicMs()
  }

  /** No read waits, so the upstream cannot be at fault. */
  onRead(): void {
    this.#readSinceMs = -1
  }

  stop(): void {
    alarms.callOff(this)
  }

  /** The earliest time has come at which a limit could be exceeded. */
  onDue(): void {
    this.#watch(this.#clock.monotonicMs())
  }

  /**
   * Sets the alarm to the earliest time at which a limit could be exceeded; then it checks what has happened since. So an
   * ordinary exchange sets it once and never moves it.
   */
  #watch(nowMs: number): void {
    const { deadlineMs, firstByteTimeoutMs, idleTimeoutMs = upstreamIdleMs } = this.#options
    const spentMs = nowMs - this.#startedAtMs
    let leftMs = deadlineMs - spentMs
    if (leftMs <= 0) return this.#limited.onTimeOver(deadlinePassed())
    if (this.#hasHead) {
      // Only an open read can stall: when the caller reads slowly, no read is open, and the upstream is not at fault.
      const silentMs = this.#readSinceMs < 0 ? 0 : nowMs - this.#readSinceMs
      if (silentMs >= idleTimeoutMs) return this.#limited.onTimeOver(stalled())
      leftMs = Math.min(leftMs, idleTimeoutMs - silentMs)
    } else {
      if (spentMs >= firstByteTimeoutMs) return this.#limited.onTimeOver(timedOut())
      leftMs = Math.min(leftMs, firstByteTimeoutMs - spentMs, idleTimeoutMs)
    }
    this.dueAtMs = performance.now() + leftMs
    alarms.add(this)
  }
}
