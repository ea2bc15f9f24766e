/**
 * Notices when a caller takes nothing for so long that a provider which is kept waiting may give the connection up. Who
 * could break answers that way would have them for nothing, and providers would look as if they failed.
 */
export class CallerRest {
  readonly #longMs: number
  #sinceMs: number | null = null
  #longUntilMs = Number.NEGATIVE_INFINITY

  /** Rests of `longMs` and more count. */
  constructor(longMs: number) {
    this.#longMs = longMs
  }

  /** The caller has been given something, and has not taken it yet. */
  begin(): void {
    this.#sinceMs = performance.now()
  }

  /** The caller takes more. Does nothing when no rest had begun. */
  end(): void {
    if (this.#sinceMs === null) return
    const nowMs = performance.now()
    if (nowMs - this.#sinceMs >= this.#longMs) this.#longUntilMs = nowMs
    this.#sinceMs = null
  }

  /** Whether a long one has just ended: what the provider had sent before it gave up is read first, which takes a moment. */
  get wasJustLong(): boolean {
    return performance.now() - this.#longUntilMs < this.#longMs
  }
}
