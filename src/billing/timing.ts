import { systemClock } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'

/** How billing waits and what it calls later, so that a simulation can be in charge of time. */
export interface Timing {
  readonly clock: Clock
  sleep(milliseconds: number): Promise<void>
  /** Runs a task once everything of this event-loop turn had its chance to add to it. */
  defer(task: () => void): void
  /** Runs a task again and again; returns how to stop. Does not keep the process alive. */
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
