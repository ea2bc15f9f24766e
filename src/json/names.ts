/** The names of an object are compared one by one up to this number; beyond it they go into a set. */
export const memberNamesComparedMax = 24

const backslash = 0x5c

/**
 * The names of all open objects during a scan of a JSON text, to find a name that stands twice in one object: readers
 * that take the first and readers that take the last would read different requests. Names are compared by a hash of
 * their bytes first, so that ordinary objects cost a few nanoseconds for each name.
 */
export class MemberNames {
  readonly #buffer: Buffer
  /**
   * The hashes of all names of all open objects, the outermost first. Entries beyond the count belong to objects that
   * have ended.
   */
  readonly #hashes: number[] = []
  readonly #starts: number[] = []
  readonly #ends: number[] = []
  #count = 0
  /** The index of the innermost object's first name; and a set of all its names when they are many or have escapes. */
  #base = 0
  #set: Set<string> | null = null
  /** The same values of the enclosing objects. */
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

  /** Adds a name of the innermost object, given by its quotes; true when the object has the name already. */
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

  /** A name that is not JSON stays unchanged; the parser refuses it later. */
  #nameAt(start: number, end: number): string {
    const text = this.#buffer.toString('utf8', start, end)
    try {
      return String(JSON.parse(text))
    } catch {
      return text
    }
  }
}
