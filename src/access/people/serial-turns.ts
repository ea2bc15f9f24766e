/** Runs pieces of work a few at a time; the others wait in the order in which they came. */
export class SerialTurns {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(atOnceMax: number) {
    this.#free = atOnceMax
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }
}
