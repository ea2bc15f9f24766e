/** Characters that are kept back of a text because they may be of a code fence around it. */
const fenceHeldLengthMax = 256

const mark = '```'

/** The text inside a code fence that is all of a text; the text itself where there is none. */
export function withoutFence(text: string): string {
  const fence = new CodeFence()
  return fence.push(text) + fence.end()
}

/**
 * Takes the fence off a text that comes piece by piece, and begins with one. What may be the end of the fence is kept back
 * until it shows that it is none, up to a bound.
 */
export class CodeFence {
  #state: 'beginning' | 'inside' | 'plain' = 'beginning'
  #held = ''

  /** What may be shown of the text by now. */
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

  /** Whether it is decided how the text begins. */
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
    // Behind the mark stands the language, if anything.
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

/** Spaces, line ends and the marks themselves. */
function isOfEnd(code: number): boolean {
  return code === 0x60 || code === 0x20 || (code >= 0x09 && code <= 0x0d)
}
