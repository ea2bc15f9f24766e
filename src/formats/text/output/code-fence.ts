/** Characters that are kept back of a text because they may be of a code fence around it. */
const fenceHeldLengthMax = 256

const mark = '```'

/** The text inside a code fence that encloses the whole text; otherwise the text itself. */
export function withoutFence(text: string): string {
  const fence = new CodeFence()
  return fence.push(text) + fence.end()
}

/**
 * Removes the fence from a text that arrives in pieces and begins with one. A possible end of the fence is kept back,
 * up to a bound, until it is decided.
 */
export class CodeFence {
  #state: 'beginning' | 'inside' | 'plain' = 'beginning'
  #held = ''

  /** The part of the text that may be shown now. */
  push(text: string): string {
    if (this.#state === 'plain') return text
    this.#held += text
    if (this.#state === 'beginning' && !this.#hasBegun()) return ''
    return this.#state === 'inside' ? this.#show() : this.#giveUp()
  }

  /** The rest, when the text has ended. */
  end(): string {
    const held = this.#held
    this.#held = ''
    return this.#state === 'inside' && held.trim() === mark ? '' : held
  }

  /** Whether the beginning of the text is decided. */
  #hasBegun(): boolean {
    const start = this.#held.trimStart()
    const mayBegin = start.length < mark.length ? mark.startsWith(start) : start.startsWith(mark)
    if (!mayBegin) {
      this.#state = 'plain'
      return true
    }
    const line = start.indexOf('\n')
    if (line === -1) {
      if (this.#held.length > fenceHeldLengthMax) this.#state = 'plain'
      return this.#held.length > fenceHeldLengthMax
    }
    // After the mark only the name of a language may follow.
    const isFence = line <= fenceHeldLengthMax && /^```\s*[\w-]*\s*$/.test(start.slice(0, line))
    this.#state = isFence ? 'inside' : 'plain'
    if (this.#state === 'inside') this.#held = start.slice(line + 1)
    return true
  }

  #show(): string {
    const held = this.#held
    let end = held.length
    while (end > 0 && held.length - end <= fenceHeldLengthMax && isOfEnd(held.charCodeAt(end - 1))) end -= 1
    if (held.length - end > fenceHeldLengthMax) end = held.length
    this.#held = held.slice(end)
    return held.slice(0, end)
  }

  #giveUp(): string {
    const held = this.#held
    this.#held = ''
    return held
  }
}

/** A space, a line end or a backtick. */
function isOfEnd(code: number): boolean {
  return code === 0x60 || code === 0x20 || (code >= 0x09 && code <= 0x0d)
}
