/** Names of one JSON object that are compared one by one; of an object of more they are put into a set. */
export const memberNamesComparedMax = 24

const backslash = 0x5c

/**
 * The names of all objects that are open while a JSON text is scanned, to find one that an object has twice: a reader
 * that takes the first and a reader that takes the last would not be asked the same. Names are compared by a hash of their bytes first, so
 * that a text of ordinary objects costs a few nanoseconds for each name.
 */
export class MemberNames {
  readonly #buffer: Buffer
  /** Of all names of all open objects, the outermost first; what is beyond the count is of objects that have ended. */
  readonly #hashes: number[] = []
  readonly #starts: number[] = []
  readonly #ends: number[] = []
  #count = 0
  /** Where the innermost object's names begin; and all its names where they are many or have escapes. */
  #base = 0
  #set: Set<string> | null = null
  /** The same of the objects around it. */
  readonly #bases: number[] = []
  readonly #sets: (Set<string> | null)[] = []

  constructor(buffer: Buffer) {
    this.#buffer = buffer
  }

  /** An object begins. */
  open(): void {
    this.#bases.push(this.#base)
    this.#sets.push(this.#set)
    this.#base = this.#count
    this.#set = null
  }

  /** The innermost object ends. */
  close(): void {
    this.#count = this.#base
    this.#base = this.#bases.pop() ?? 0
    this.#set = this.#sets.pop() ?? null
  }

  /** Adds a name of the innermost object, by its quotes; true when the object has it already. */
  addIsTwice(start: number, end: number): boolean {
    const buffer = this.#buffer
    let hash = 0
    let isPlain = true
    for (let at = start + 1; at < end - 1; at += 1) {
      const byte = buffer[at] ?? 0
      if (byte === backslash) isPlain = false
      hash = (Math.imul(hash, 31) + byte) | 0
    }
    const base = this.#base
    const count = this.#count
    if (this.#set !== null || !isPlain || count - base >= memberNamesComparedMax)
      return this.#addToSetIsTwice(start, end)
    const hashes = this.#hashes
    for (let index = base; index < count; index += 1) {
      if (hashes[index] === hash && this.#isSame(index, start, end)) return true
    }
    hashes[count] = hash
    this.#starts[count] = start
    this.#ends[count] = end
    this.#count = count + 1
    return false
  }

  #addToSetIsTwice(start: number, end: number): boolean {
    this.#set ??= this.#namesSoFar()
    const name = this.#nameAt(start, end)
    if (this.#set.has(name)) return true
    this.#set.add(name)
    return false
  }

  #namesSoFar(): Set<string> {
    const names = new Set<string>()
    for (let index = this.#base; index < this.#count; index += 1)
      names.add(this.#nameAt(this.#starts[index] ?? 0, this.#ends[index] ?? 0))
    return names
  }

  #isSame(index: number, start: number, end: number): boolean {
    const otherStart = this.#starts[index] ?? 0
    if ((this.#ends[index] ?? 0) - otherStart !== end - start) return false
    const buffer = this.#buffer
    for (let at = start; at < end; at += 1) if (buffer[at] !== buffer[otherStart + at - start]) return false
    return true
  }

  /** A name that is no JSON stays as it is; the reader that parses it refuses it. */
  #nameAt(start: number, end: number): string {
    const text = this.#buffer.toString('utf8', start, end)
    try {
      return String(JSON.parse(text))
    } catch {
      return text
    }
  }
}
