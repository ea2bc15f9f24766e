import { systemClock } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'

/** How billing waits and schedules, so that a simulation can control time. */
export interface Timing {
  readonly clock: Clock
  sleep(milliseconds: number): Promise<void>
  /** Runs a task at the end of this event-loop turn, so that everything else of the turn can still add to it. */
  defer(task: () => void): void
  /** Runs a task at an interval; returns a function that stops it. Does not keep the process alive. */
  every(milliseconds: number, task: () => void): () => void
}

/** The machine's time. */
export const systemTiming: Timing = {
  clock: systemClock,
  sleep: (milliseconds) => Bun.sleep(milliseconds),
  defer: (task) => {
    setImmediate(task)
  },
  every: (milliseconds, task) => {
    const timer = setInterval(task, milliseconds)
    timer.unref()
    return () => clearInterval(timer)
  },
}
