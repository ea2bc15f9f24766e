/**
 * The beginning of a stream. It is kept back until something follows: until then another endpoint may answer, and its
 * stream would begin differently.
 */
export class StreamBeginning {
  readonly #write: () => string
  /** Null before it is written; empty once it was taken. */
  #text: string | null = null

  constructor(write: () => string) {
    this.#write = write
  }

  /** Writes the beginning before anything else, so that its numbers come first. */
  prepare(): void {
    this.#text ??= this.#write()
  }

  /** Takes the beginning out, once. */
  take(): string {
    this.prepare()
    const text = this.#text ?? ''
    this.#text = ''
    return text
  }

  /** The shown text with the beginning before it; empty for an empty text. */
  before(shown: string): string {
    return shown === '' ? '' : this.take() + shown
  }
}
