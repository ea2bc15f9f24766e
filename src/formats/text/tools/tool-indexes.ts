import { streamToolCallsMax } from '../../../core/limits/text.ts'

/** One piece of a tool call, as its provider marked it. */
export interface CallMark {
  id: string | null
  /** A count, or null: beyond 2^53 adding one changes nothing, and the search for a free index would not end. */
  upstreamIndex: number | null
  /** It has the name of a tool. */
  isNamed: boolean
}

/**
 * Indexes of the tool calls of one streamed choice. Several hosts repeat index 0 for every call or leave it out, and
 * clients that merge by index would glue calls together: there the ids tell calls apart. Others give several calls one
 * id, and there the indexes do.
 */
export class ToolIndexes {
  readonly #byId = new Map<string, number>()
  /** By the id and the index that the provider gave. */
  readonly #byMark = new Map<string, number>()
  readonly #byUpstreamIndex = new Map<number, number>()
  readonly #taken = new Set<number>()
  /** By a taken index: all from it up to this one are taken. Many hosts want the same index for every call. */
  readonly #behind = new Map<number, number>()
  #last = 0

  /** Whether a call was given this id by its provider. */
  isTaken(id: string): boolean {
    return this.#byId.has(id)
  }

  /** The shown index of the call that a piece would continue; null when there is no such call. */
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

  /** How many calls have begun. */
  get size(): number {
    return this.#taken.size
  }

  /** The index to show for a piece that continues the call at this shown index; null for one whose call never began. */
  continue(index: number | null, upstreamIndex: number | null): number {
    this.#last = index ?? this.#unbegun(upstreamIndex)
    if (upstreamIndex !== null && this.#byUpstreamIndex.has(upstreamIndex))
      this.#byUpstreamIndex.set(upstreamIndex, this.#last)
    return this.#last
  }

  /** The index to show for a piece that begins a call. */
  begin({ id, upstreamIndex }: CallMark): number {
    // So many calls are a fault; they share an index, and memory stays bounded.
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

/** The id of a call that its provider gave none, or another call's: no other call of any answer has it, and it is the same however often it is asked for. */
export function missingCallId(idSuffix: string, position: number): string {
  return `call_${idSuffix}_${position}`
}
