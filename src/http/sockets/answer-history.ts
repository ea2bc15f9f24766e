import type { AnsweredTurn } from '../../formats/text/socket-format.ts'

/** Answers of one connection that can be continued: the latest, and those before it for a client that goes back. */
const answersKeptMax = 8
/** What the conversations of all connections may take. Beyond it those that rested longest are forgotten. */
const historyBytesMax = 256_000_000

/** A turn with its answer, and the one before it. Answers that share a beginning share its memory. */
interface Link {
  readonly before: Link | null
  readonly items: Uint8Array
  /** How many kept answers and later links need it. */
  uses: number
}

/** What the connections of this process keep together. */
export class HistoryRoom {
  readonly #bytesMax: number
  #bytes = 0
  /** From the one that rested longest on. */
  readonly #histories = new Set<AnswerHistory>()

  constructor(bytesMax: number = historyBytesMax) {
    this.#bytesMax = bytesMax
  }

  open(): AnswerHistory {
    return new AnswerHistory(this)
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Called when a history has changed by so many bytes. */
  count(history: AnswerHistory, bytes: number): void {
    this.#bytes += bytes
    if (bytes < 0) return
    this.#histories.delete(history)
    this.#histories.add(history)
    for (const resting of this.#histories) {
      if (this.#bytes <= this.#bytesMax) return
      resting.clear()
    }
  }

  forget(history: AnswerHistory): void {
    this.#histories.delete(history)
  }
}

/** The answers of one connection, so that a turn need send only what is new. In memory alone: a new connection begins anew. */
export class AnswerHistory {
  readonly #room: HistoryRoom
  readonly #answers = new Map<string, Link>()

  constructor(room: HistoryRoom) {
    this.#room = room
  }

  /** Everything up to the end of this answer, in order; null when this connection does not have it. */
  upTo(id: string): readonly Uint8Array[] | null {
    const answer = this.#answers.get(id)
    if (answer === undefined) return null
    const parts: Uint8Array[] = []
    for (let link: Link | null = answer; link !== null; link = link.before) parts.push(link.items)
    return parts.toReversed()
  }

  /** Keeps an answer, and the items that its turn added to an earlier one. */
  add({ id, items }: AnsweredTurn, own: Uint8Array, previousId: string | null): void {
    const before = previousId === null ? null : (this.#answers.get(previousId) ?? null)
    // Forgotten meanwhile, so that the conversation would have a gap.
    if (previousId !== null && before === null) return
    this.#drop(id)
    if (before !== null) before.uses += 1
    const asked = { before, items: own, uses: 1 }
    this.#answers.set(id, { before: asked, items, uses: 1 })
    const [oldest] = this.#answers.keys()
    if (this.#answers.size > answersKeptMax && oldest !== undefined) this.#drop(oldest)
    this.#room.count(this, own.length + items.length)
  }

  clear(): void {
    for (const id of this.#answers.keys()) this.#drop(id)
    this.#room.forget(this)
  }

  #drop(id: string): void {
    const answer = this.#answers.get(id)
    this.#answers.delete(id)
    for (let link = answer ?? null; link !== null; link = link.before) {
      link.uses -= 1
      if (link.uses > 0) return
      this.#room.count(this, -link.items.length)
    }
  }
}
