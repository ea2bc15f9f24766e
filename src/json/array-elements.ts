const backslash = 0x5c
const closeBrace = 0x7d
const closeBracket = 0x5d
const colon = 0x3a
const comma = 0x2c
const openBrace = 0x7b
const openBracket = 0x5b
const quote = 0x22

/** An element that is larger than the bound, whose bytes were not kept. */
export type Element = Uint8Array | 'too large'

/** What is read of a document as it arrives. */
export interface ElementsWish {
  /** The members that lead to the array, from the top. */
  at: readonly string[]
  elementBytesMax: number
  /** Most bytes of the document besides the elements. */
  restBytesMax: number
}

/**
 * Reads the elements of one array of a JSON document as its bytes arrive, so that in memory there is one element and what
 * stands around the array. Other arrays under a member of the same name are left out too. It does not check the document:
 * each element and the rest are parsed by their readers.
 */
export class ArrayElements {
  readonly #wish: ElementsWish
  readonly #rest: Buffer[] = []
  #restBytes = 0
  /** The member of each open object or array, as its own object calls it; null in an array and at the top. */
  readonly #names: (string | null)[] = []
  readonly #isList: boolean[] = []
  #isInString = false
  #isEscaped = false
  /** Whether the next string is the name of a member. */
  #isName = false
  #name: number[] | null = null
  #lastName: string | null = null
  /** How many containers are open around the elements that are left out; 0 outside of such an array. */
  #listDepth = 0
  #isTaken = false
  #element: Buffer[] = []
  #elementBytes = 0
  #isComplete = false

  constructor(wish: ElementsWish) {
    this.#wish = wish
  }

  /** Whether the document has come to its end. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /** The document with its arrays empty; null where it has too many bytes besides them. */
  rest(): Uint8Array | null {
    return this.#restBytes > this.#wish.restBytesMax ? null : Buffer.concat(this.#rest)
  }

  /** Takes the next bytes; returns the elements that are complete by now. */
  push(chunk: Uint8Array): Element[] {
    const elements: Element[] = []
    let start = 0
    for (let offset = 0; offset < chunk.length; offset++) {
      const wasListed = this.#listDepth > 0
      const ended = this.#scan(chunk[offset] ?? 0)
      const isListed = this.#listDepth > 0
      if (wasListed !== isListed) {
        // The bracket that opens or closes the array belongs to the rest.
        const border = wasListed ? offset : offset + 1
        this.#keep(chunk.subarray(start, border), wasListed)
        start = border
      }
      if (!ended) continue
      const isByte = wasListed && isListed && chunk[offset] !== comma
      if (isListed) {
        this.#keep(chunk.subarray(start, isByte ? offset + 1 : offset), true)
        start = offset + 1
      }
      const element = this.#takeElement()
      if (element !== null) elements.push(element)
    }
    this.#keep(chunk.subarray(start), this.#listDepth > 0)
    return elements
  }

  #keep(bytes: Uint8Array, isListed: boolean): void {
    if (bytes.length === 0) return
    if (!isListed) {
      this.#restBytes += bytes.length
      if (this.#restBytes <= this.#wish.restBytesMax) this.#rest.push(Buffer.from(bytes))
    } else if (this.#isTaken) {
      this.#elementBytes += bytes.length
      if (this.#elementBytes > this.#wish.elementBytesMax) this.#element = []
      else this.#element.push(Buffer.from(bytes))
    }
  }

  #takeElement(): Element | null {
    const isTooLarge = this.#elementBytes > this.#wish.elementBytesMax
    const bytes = Buffer.concat(this.#element)
    this.#element = []
    this.#elementBytes = 0
    if (isTooLarge) return 'too large'
    return bytes.length === 0 ? null : bytes
  }

  /** Whether this byte ends an element, or follows its end. */
  #scan(byte: number): boolean {
    if (this.#isInString) return this.#scanString(byte)
    switch (byte) {
      case quote: {
        this.#isInString = true
        if (this.#isName && this.#listDepth === 0) this.#name = []
        return false
      }
      case openBrace:
      case openBracket: {
        this.#open(byte === openBracket)
        return false
      }
      case closeBrace:
      case closeBracket: {
        return this.#close()
      }
      case comma: {
        this.#isName = this.#isList.at(-1) === false
        const isBetween = this.#listDepth > 0 && this.#isList.length === this.#listDepth
        return isBetween && this.#isTaken
      }
      case colon: {
        this.#isName = false
        return false
      }
      default: {
        return false
      }
    }
  }

  #scanString(byte: number): boolean {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === backslash) this.#isEscaped = true
    else if (byte === quote) {
      this.#isInString = false
      if (this.#name !== null) this.#lastName = Buffer.from(this.#name).toString('utf8')
      this.#name = null
      return false
    }
    this.#name?.push(byte)
    return false
  }

  #open(isList: boolean): void {
    const isMember = this.#isList.at(-1) === false
    this.#names.push(isMember ? this.#lastName : null)
    this.#isList.push(isList)
    this.#isName = !isList
    if (this.#listDepth > 0 || !isList || this.#names.at(-1) !== this.#wish.at.at(-1)) return
    this.#listDepth = this.#isList.length
    // The first is the document itself.
    const path = this.#names.slice(1)
    this.#isTaken =
      path.length === this.#wish.at.length && path.every((name, index) => name === this.#wish.at[index])
  }

  #close(): boolean {
    const isEnd = this.#listDepth > 0 && this.#isList.length === this.#listDepth
    this.#names.pop()
    this.#isList.pop()
    this.#isName = false
    if (this.#isList.length === 0) this.#isComplete = true
    if (!isEnd) return false
    this.#listDepth = 0
    const wasTaken = this.#isTaken
    return wasTaken
  }
}
