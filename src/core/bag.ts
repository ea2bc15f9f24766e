/** A member of a bag; it stores its own place. */
export interface Placed {
  /** Set by the bag; -1 outside of one. */
  place: number
}

/**
 * An unordered collection whose members come and go all the time. A `Set` grows by replacing its table, and JavaScriptCore
 * leaves the old table behind with a pointer to the new one. Once an old table is in the old generation, all members of
 * later tables stay alive until a full collection. On a busy gateway that kept every call alive for a second.
 */
export class Bag<Member extends Placed> implements Iterable<Member> {
  readonly #members: Member[] = []

  get size(): number {
    return this.#members.length
  }

  add(member: Member): void {
    member.place = this.#members.length
    this.#members.push(member)
  }

  /** False when the member was not in this bag. */
  delete(member: Member): boolean {
    const { place } = member
    if (this.#members[place] !== member) return false
    const last = this.#members.pop()
    if (last !== undefined && last !== member) {
      this.#members[place] = last
      last.place = place
    }
    member.place = -1
    return true
  }

  /** Iterates over the members of this moment; others may come and go meanwhile. */
  [Symbol.iterator](): Iterator<Member> {
    return this.#members.slice()[Symbol.iterator]()
  }
}
