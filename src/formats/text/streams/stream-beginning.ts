/**
 * How a stream begins, kept back until something follows it: until then another endpoint may still answer, and its answer
 * would begin otherwise.
 */
export class StreamBeginning {
  readonly #write: () => string
  /** Null before it is written, empty once it was taken. */
  #text: string | null = null

  constructor(write: () => string) {
    this.#write = write
  }

  /** Writes it before anything else is written, whose numbers follow its own. */
  prepare(): void {
    this.#text ??= this.#write()
  }

  /** It goes out, once. */
  take(): string {
    this.prepare()
    const text = this.#text ?? ''
    this.#text = ''
    return text
  }

  /** What is shown, behind the beginning; nothing for nothing. */
  before(shown: string): string {
    return shown === '' ? '' : this.take() + shown
  }
}
