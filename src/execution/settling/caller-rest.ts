/**
 * Notices when a caller takes nothing for so long that a provider which is kept waiting may give the connection up. Who
 * could break answers that way would have them for nothing, and providers would look as if they failed.
 */
export class CallerRest {
  readonly #longMs: number
  #sinceMs: number | null = null
  #endedMs = Number.NEGATIVE_INFINITY
  /** Of all rests with no more than `longMs` of reading between them. */
  #restedMs = 0

  /** Rests of `longMs` together count. */
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
   * Whether the caller has rested for long and not read freely for as long since. What the provider had sent before it
   * gave up is read first, and who takes that in small bites rests again and again.
   */
  get wasJustLong(): boolean {
    return this.#restedMs >= this.#longMs && performance.now() - this.#endedMs < this.#longMs
  }
}
