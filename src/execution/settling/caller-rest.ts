/**
 * Notices a caller who takes nothing for so long that the waiting provider may give the connection up. Otherwise a
 * caller could break answers that way to get them for nothing, and providers would seem to fail.
 */
export class CallerRest {
  readonly #longMs: number
  #sinceMs: number | null = null
  #endedMs = Number.NEGATIVE_INFINITY
  /** The sum of the rests with less than `longMs` of reading between them. */
  #restedMs = 0

  /** A rest is long from `longMs` on, with shorter rests added up. */
  constructor(longMs: number) {
    this.#longMs = longMs
  }

  /** The caller has been given something, and has not taken it yet. */
  begin(): void {
    this.#sinceMs = performance.now()
    if (this.#sinceMs - this.#endedMs >= this.#longMs) this.#restedMs = 0
  }

  /** The caller takes more. Does nothing when no rest had begun. */
  end(): void {
    if (this.#sinceMs === null) return
    this.#endedMs = performance.now()
    this.#restedMs += this.#endedMs - this.#sinceMs
    this.#sinceMs = null
  }

  /**
   * Whether the caller has rested for long, less than `longMs` ago. The gateway first reads what the provider sent
   * before it gave up; a caller who takes that in small pieces rests after each of them, and these rests add up.
   */
  get wasJustLong(): boolean {
    return this.#restedMs >= this.#longMs && performance.now() - this.#endedMs < this.#longMs
  }
}
