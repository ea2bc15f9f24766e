/** Bytes that texts in memory may take together, as characters of two bytes. */
const recentTextsBytesMax = 32_000_000

/** Texts in use, by the names of their blobs. A blob never changes, so a text here is never outdated. */
export class RecentTexts {
  readonly #texts = new Map<string, string>()
  #bytes = 0

  get(blob: string): string | undefined {
    return this.#texts.get(blob)
  }

  /** Keeps a text, and forgets those that were used longest ago. */
  set(blob: string, text: string): void {
    this.delete(blob)
    this.#texts.set(blob, text)
    this.#bytes += text.length * 2
    for (const oldest of this.#texts.keys()) {
      if (this.#bytes <= recentTextsBytesMax) return
      this.delete(oldest)
    }
  }

  delete(blob: string): void {
    const text = this.#texts.get(blob)
    if (text === undefined) return
    this.#texts.delete(blob)
    this.#bytes -= text.length * 2
  }
}
