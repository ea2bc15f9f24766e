/** Cuts a text that arrives in pieces into lines. Each piece is looked at once, however long a line is. */
export class LineCutter {
  #waiting: string[] = []
  #waitingLength = 0

  /** The lines that this piece ends. */
  cut(piece: string): string[] {
    const [first = '', ...others] = piece.split('\n')
    const last = others.pop()
    if (last === undefined) {
      this.#keep(first)
      return []
    }
    const lines = [[...this.#waiting, first].join(''), ...others]
    this.#waiting = []
    this.#waitingLength = 0
    this.#keep(last)
    return lines
  }

  /** How much of a line is there whose end is not. */
  get waitingLength(): number {
    return this.#waitingLength
  }

  /** What stands after the last line's end. */
  end(): string {
    const rest = this.#waiting.join('')
    this.#waiting = []
    this.#waitingLength = 0
    return rest
  }

  #keep(text: string): void {
    if (text === '') return
    this.#waiting.push(text)
    this.#waitingLength += text.length
  }
}
