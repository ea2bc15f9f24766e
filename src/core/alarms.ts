import { Bag, type Placed } from './bag.ts'

/** A wait that is set and can be cancelled. */
export interface Alarm extends Placed {
  dueAtMs: number
  onDue(): void
}

/**
 * Many waits on one timer. A busy gateway cancels nearly every wait long before it is due, and a timer for each would
 * cost more than the wait is worth: here, setting and cancelling only add to a list and remove from it.
 */
export class Alarms {
  readonly #alarms = new Bag<Alarm>()
  #timer: ReturnType<typeof setTimeout> | null = null
  #wakesAtMs = Number.POSITIVE_INFINITY

  /**
   * Calls `onDue` once, `waitMs` milliseconds from now, unless the alarm is cancelled before. Never keeps the process
   * alive.
   */
  set(waitMs: number, onDue: () => void): Alarm {
    const alarm = { dueAtMs: performance.now() + waitMs, onDue, place: -1 }
    this.add(alarm)
    return alarm
  }

  /** The same for an alarm that is not set, until its own `dueAtMs`, by `performance.now()`. */
  add(alarm: Alarm): void {
    this.#alarms.add(alarm)
    if (alarm.dueAtMs < this.#wakesAtMs) this.#wakeAt(alarm.dueAtMs)
  }

  /** Does nothing for an alarm that has rung or was cancelled. */
  callOff(alarm: Alarm): void {
    // The timer stays set. If no alarm is due when it fires, it is set for the next one.
    this.#alarms.delete(alarm)
  }

  #wakeAt(atMs: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#wakesAtMs = atMs
    this.#timer = setTimeout(() => this.#wake(), Math.max(1, Math.ceil(atMs - performance.now())))
    this.#timer.unref()
  }

  #wake(): void {
    this.#timer = null
    this.#wakesAtMs = Number.POSITIVE_INFINITY
    const nowMs = performance.now()
    const due: Alarm[] = []
    let nextMs = Number.POSITIVE_INFINITY
    for (const alarm of this.#alarms) {
      if (alarm.dueAtMs <= nowMs) due.push(alarm)
      else nextMs = Math.min(nextMs, alarm.dueAtMs)
    }
    if (nextMs < Number.POSITIVE_INFINITY) this.#wakeAt(nextMs)
    // After a blocked event loop several alarms are due at once, and one of them may cancel a later one.
    due.sort((left, right) => left.dueAtMs - right.dueAtMs)
    for (const alarm of due) if (this.#alarms.delete(alarm)) alarm.onDue()
  }
}
