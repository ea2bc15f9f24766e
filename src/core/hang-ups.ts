import { Bag, type Placed } from './bag.ts'

/** How often it is asked whether callers are still there. */
const lookEveryMs = 50

/** Work that ends when its caller leaves. */
export interface Leavable extends Placed {
  readonly signal: AbortSignal
  /** Its signal is aborted. It is not watched any more. */
  onHangUp(): void
}

/**
 * Looks at the signals of all that is watched from time to time. A listener for each would tell at once, but adding and
 * removing it costs more than everything else that is done at an ordinary end, and hardly a caller leaves.
 */
export class HangUps {
  readonly #watched = new Bag<Leavable>()
  #timer: ReturnType<typeof setInterval> | null = null

  watch(work: Leavable): void {
    this.#watched.add(work)
    if (this.#timer === null) this.#beginToLook()
  }

  #beginToLook(): void {
    this.#timer = setInterval(() => this.look(), lookEveryMs)
    this.#timer.unref()
  }

  /** Does nothing for one that is not watched. */
  forget(work: Leavable): void {
    this.#watched.delete(work)
  }

  /** Tells at once what the next look would tell, for a stop that has cut the calls off. */
  look(): void {
    if (this.#watched.size === 0) {
      if (this.#timer !== null) clearInterval(this.#timer)
      this.#timer = null
      return
    }
    for (const work of this.#watched) if (work.signal.aborted && this.#watched.delete(work)) work.onHangUp()
  }
}

/** Of all callers of this process. */
export const hangUps = new HangUps()
