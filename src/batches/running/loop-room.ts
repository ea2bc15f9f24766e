import type { Clock } from '../../core/clock.ts'

/** How often the event loop's delay is measured while items run. */
export const loopLookMs = 20
/** A mean delay above the first takes places away, one below the second gives some back. */
const delayMaxMs = 4
const delayLowMs = 2
/** Items always go on, however busy live calls keep the process. */
export const itemsBesideMin = 4
/** After this long without a live call the items of batches may delay the loop: no caller waits. */
const quietMs = 2_000

/** The live calls of this process. */
export interface LiveCalls {
  /** Since the start. */
  readonly begun: number
  readonly running: number
}

/** What `LoopRoom` needs; `tick` calls back until its result is called. */
export interface LoopRoomOptions {
  itemsMax: number
  live: LiveCalls
  clock: Pick<Clock, 'monotonicMs'>
  tick?: (everyMs: number, look: () => void) => () => void
}

/**
 * Leaves live calls their turns of the event loop. Items whose provider answers at once fill every turn, and a call that
 * arrives waits behind all of their answers. So while there are live calls, fewer items run the longer a turn takes.
 * Items that wait for a slow provider take no turns, and keep their places.
 */
export class LoopRoom {
  readonly #options: LoopRoomOptions
  readonly #running: () => number
  #itemsMax: number
  #delayMs = 0
  #lookedMs = 0
  #begun = 0
  #servedMs = Number.NEGATIVE_INFINITY
  #stop: (() => void) | null = null

  constructor(options: LoopRoomOptions, running: () => number) {
    this.#options = options
    this.#running = running
    this.#itemsMax = options.itemsMax
  }

  /** The most items that may run now. */
  get itemsMax(): number {
    return this.#itemsMax
  }

  /** Measures from now on, for as long as items run. `onRoom` is called when more of them may. */
  watch(onRoom: () => void): void {
    if (this.#stop !== null) return
    this.#lookedMs = this.#options.clock.monotonicMs()
    this.#stop = (this.#options.tick ?? systemTick)(loopLookMs, () => this.#look(onRoom))
  }

  #look(onRoom: () => void): void {
    const { clock, live, itemsMax } = this.#options
    const nowMs = clock.monotonicMs()
    const lateMs = Math.max(0, nowMs - this.#lookedMs - loopLookMs)
    this.#lookedMs = nowMs
    this.#delayMs = (this.#delayMs + lateMs) / 2
    if (live.running > 0 || live.begun !== this.#begun) this.#servedMs = nowMs
    this.#begun = live.begun
    const running = this.#running()
    const before = this.#itemsMax
    if (running === 0 || nowMs - this.#servedMs > quietMs) this.#itemsMax = itemsMax
    else if (this.#delayMs > delayMaxMs)
      this.#itemsMax = Math.max(itemsBesideMin, Math.floor(Math.min(before, running) * 0.75))
    else if (this.#delayMs < delayLowMs)
      this.#itemsMax = Math.min(itemsMax, before + Math.max(1, Math.floor(before / 8)))
    if (running === 0) {
      this.#stop?.()
      this.#stop = null
    } else if (this.#itemsMax > before) onRoom()
  }
}

function systemTick(everyMs: number, look: () => void): () => void {
  const timer = setInterval(look, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
