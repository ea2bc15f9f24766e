const minuteMs = 60_000
const hourMs = 3_600_000
const minutesKept = 30
const hoursKept = 24

/**
 * Counts an endpoint's answered and failed calls, by the minute for half an hour and by the hour for a day. Times are
 * monotonic milliseconds.
 */
export class TrackRecord {
  readonly #minutes = new Counts(minutesKept, minuteMs)
  readonly #hours = new Counts(hoursKept, hourMs)

  note(nowMs: number, isAnswered: boolean): void {
    this.#minutes.add(nowMs, isAnswered)
    this.#hours.add(nowMs, isAnswered)
  }

  /** Percent of the calls that were answered in the last so many minutes (30 at most) or the last day; null without calls. */
  uptime(nowMs: number, window: 5 | 30 | 'day'): number | null {
    return window === 'day' ? this.#hours.uptime(nowMs, hoursKept) : this.#minutes.uptime(nowMs, window)
  }
}

/** A ring of counters of equal time: answered and failed, alternately. */
class Counts {
  readonly #counts: Uint32Array
  readonly #length: number
  readonly #stepMs: number
  #step = 0

  constructor(length: number, stepMs: number) {
    this.#counts = new Uint32Array(length * 2)
    this.#length = length
    this.#stepMs = stepMs
  }

  add(nowMs: number, isAnswered: boolean): void {
    this.#turnTo(nowMs)
    const at = (this.#step % this.#length) * 2 + (isAnswered ? 0 : 1)
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
  }

  uptime(nowMs: number, steps: number): number | null {
    this.#turnTo(nowMs)
    let answered = 0
    let all = 0
    for (let step = this.#step; step > this.#step - steps && step >= 0; step -= 1) {
      const at = (step % this.#length) * 2
      answered += this.#counts[at] ?? 0
      all += (this.#counts[at] ?? 0) + (this.#counts[at + 1] ?? 0)
    }
    return all === 0 ? null : (answered / all) * 100
  }

  /** Clears counters whose time has passed. */
  #turnTo(nowMs: number): void {
    const step = Math.floor(nowMs / this.#stepMs)
    const passed = Math.min(step - this.#step, this.#length)
    for (let back = 0; back < passed; back += 1) {
      const at = ((step - back) % this.#length) * 2
      this.#counts[at] = 0
      this.#counts[at + 1] = 0
    }
    if (step > this.#step) this.#step = step
  }
}
