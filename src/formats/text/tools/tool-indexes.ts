import { streamToolCallsMax } from '../../../core/limits/text.ts'

/** The identity of one piece of a tool call, from its provider. */
export interface CallMark {
  id: string | null
  /** A count, or null. Above 2^53 adding 1 changes nothing, and the search for a free index would not end. */
  upstreamIndex: number | null
  /** Whether the piece names a tool. */
  isNamed: boolean
}

/**
 * The shown indexes of the tool calls of one streamed choice. Several hosts repeat index 0 for every call or omit the
 * index, and clients that merge by index would join these calls, so the ids tell them apart. Other hosts give several
 * calls one id, and then the indexes tell them apart.
 */
export class ToolIndexes {
  readonly #byId = new Map<string, number>()
  /** By the provider's id and index. */
  readonly #byMark = new Map<string, number>()
  readonly #byUpstreamIndex = new Map<number, number>()
  readonly #taken = new Set<number>()
  /**
   * For a taken index, the next index to try: all from here up to it are taken. Many hosts ask for the same index for
   * every call.
   */
  readonly #behind = new Map<number, number>()
  #last = 0

  /** Whether the provider gave this id to a call. */
  isTaken(id: string): boolean {
    return this.#byId.has(id)
  }

  /** The shown index of the call that a piece continues; null when there is no such call. */
  continuedAt({ id, upstreamIndex, isNamed }: CallMark): number | null {
    if (id === null) {
      if (upstreamIndex !== null) return this.#byUpstreamIndex.get(upstreamIndex) ?? null
      return this.#taken.size === 0 ? null : this.#last
    }
    const marked = this.#byMark.get(markOf(id, upstreamIndex))
    if (marked !== undefined) return marked
    const isAnother = isNamed && upstreamIndex !== null && !this.#byMark.has(markOf(id, null))
    return isAnother ? null : (this.#byId.get(id) ?? null)
  }

  /** The number of calls so far. */
  get size(): number {
    return this.#taken.size
  }

  /** The index to show for a piece that continues this shown index; null when its call never began. */
  continue(index: number | null, upstreamIndex: number | null): number {
    this.#last = index ?? this.#unbegun(upstreamIndex)
    if (upstreamIndex !== null && this.#byUpstreamIndex.has(upstreamIndex))
      this.#byUpstreamIndex.set(upstreamIndex, this.#last)
    return this.#last
  }

  /** The index to show for a piece that begins a call. */
  begin({ id, upstreamIndex }: CallMark): number {
    // This many calls are a fault: further calls share an index, so that memory stays bounded.
    if (this.#taken.size >= streamToolCallsMax) return this.#last
    const index = this.#free(upstreamIndex)
    this.#taken.add(index)
    if (id !== null) {
      this.#byId.set(id, index)
      this.#byMark.set(markOf(id, upstreamIndex), index)
    }
    if (upstreamIndex !== null) this.#byUpstreamIndex.set(upstreamIndex, index)
    this.#last = index
    return index
  }

  #unbegun(upstreamIndex: number | null): number {
    if (upstreamIndex === null || this.#byUpstreamIndex.size >= streamToolCallsMax) return this.#last
    this.#byUpstreamIndex.set(upstreamIndex, upstreamIndex)
    this.#taken.add(upstreamIndex)
    return upstreamIndex
  }

  #free(wanted: number | null): number {
    let index = wanted ?? this.#taken.size
    const passed: number[] = []
    while (this.#taken.has(index)) {
      passed.push(index)
      index = this.#behind.get(index) ?? index + 1
    }
    for (const each of passed) this.#behind.set(each, index)
    return index
  }
}

function markOf(id: string, upstreamIndex: number | null): string {
  return `${upstreamIndex ?? ''} ${id}`
}

/**
 * The id of a call whose provider sent none, or another call's. It is unique among all answers, and the same each time.
 */
export function missingCallId(idSuffix: string, position: number): string {
  return `call_${idSuffix}_${position}`
}
