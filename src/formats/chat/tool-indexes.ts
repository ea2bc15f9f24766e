import { streamToolCallsMax } from '../../core/limits/text.ts'

/**
 * Indexes of the tool calls of one streamed choice. Several hosts repeat index 0 for every call or leave it out, and
 * clients that merge by index would glue calls together; ids decide instead.
 */
export class ToolIndexes {
  readonly #byId = new Map<string, number>()
  readonly #byUpstreamIndex = new Map<number, number>()
  readonly #taken = new Set<number>()
  #last = 0

  /** Whether a piece of the call with this id has come before. */
  hasBegun(id: string): boolean {
    return this.#byId.has(id)
  }

  /** The shown index of the call that a piece without an id would continue; null when there is no such call. */
  continuedAt(upstreamIndex: number | null): number | null {
    if (upstreamIndex !== null) return this.#byUpstreamIndex.get(upstreamIndex) ?? null
    return this.#taken.size === 0 ? null : this.#last
  }

  /** How many calls have begun. */
  get size(): number {
    return this.#taken.size
  }

  /**
   * The index to show for one piece of a call; pieces without an id continue the call their index began. `upstreamIndex`
   * is a count, or null: beyond 2^53 adding one changes nothing, and the search for a free index would not end.
   */
  indexOf(id: string | null, upstreamIndex: number | null): number {
    const index = id === null ? this.#continued(upstreamIndex) : this.#begun(id, upstreamIndex)
    this.#last = index
    return index
  }

  #continued(upstreamIndex: number | null): number {
    if (upstreamIndex === null) return this.#last
    const known = this.#byUpstreamIndex.get(upstreamIndex)
    if (known !== undefined) return known
    if (this.#byUpstreamIndex.size >= streamToolCallsMax) return this.#last
    this.#byUpstreamIndex.set(upstreamIndex, upstreamIndex)
    this.#taken.add(upstreamIndex)
    return upstreamIndex
  }

  #begun(id: string, upstreamIndex: number | null): number {
    const known = this.#byId.get(id)
    // So many calls are a fault; they share an index, and memory stays bounded.
    if (known === undefined && this.#byId.size >= streamToolCallsMax) return this.#last
    const index = known ?? this.#free(upstreamIndex)
    this.#byId.set(id, index)
    this.#taken.add(index)
    if (upstreamIndex !== null) this.#byUpstreamIndex.set(upstreamIndex, index)
    return index
  }

  #free(wanted: number | null): number {
    let index = wanted ?? this.#taken.size
    while (this.#taken.has(index)) index += 1
    return index
  }
}

/** The id of a call that its provider gave none: no other call of any answer has it, and it is the same however often it is asked for. */
export function missingCallId(idSuffix: string, position: number): string {
  return `call_${idSuffix}_${position}`
}
