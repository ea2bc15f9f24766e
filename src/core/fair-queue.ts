/** Work whose deadline is this near comes before its owner's other work, the nearest first. */
export const urgentBeforeMs = 2 * 3_600_000

/** Who asks for a place: an owner (an organization), for one of its pieces of work (a batch or an upload). */
export interface PlaceClaim {
  ownerId: string
  workId: string
  /** Wall clock, Unix milliseconds; infinite for work without one. */
  deadlineMs: number
}

interface Waiter {
  place: number
  enter(): void
}

interface Work {
  deadlineMs: number
  held: number
  waiting: Set<Waiter>
}

interface Owner {
  held: number
  works: Map<string, Work>
}

/** Of one owner's work, what comes next. */
interface Next {
  owner: Owner
  work: Work
  waiter: Waiter
}

/**
 * The one order in which places are shared wherever organizations and their batches meet: uploads, segments, items, and
 * calls to one deployment. A free place goes to the owner with the fewest. Of that owner's work it goes to what is near
 * its deadline, else to the work with the fewest places, else to the nearest deadline, else to who asked first.
 *
 * It counts places and has no bound of its own: its user says whether an owner may have one more.
 */
export class FairQueue {
  readonly #nowMs: () => number
  readonly #owners = new Map<string, Owner>()
  #running = 0
  #waiting = 0
  #asked = 0

  /** `nowMs` is the wall clock, which deadlines are compared with. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Places that are taken. */
  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting
  }

  heldBy(ownerId: string): number {
    return this.#owners.get(ownerId)?.held ?? 0
  }

  /** Takes a place. The returned function gives it back; calling it again does nothing. */
  take(claim: PlaceClaim): () => void {
    const [owner, work] = this.#entriesOf(claim)
    owner.held += 1
    work.held += 1
    this.#running += 1
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      owner.held -= 1
      work.held -= 1
      this.#running -= 1
      this.#forget(claim)
    }
  }

  /** Waits for a place: `enter` is called by `admit`, after it took the place's turn. Returns how to leave; false when it was called. */
  wait(claim: PlaceClaim, enter: () => void): () => boolean {
    const [, work] = this.#entriesOf(claim)
    const waiter: Waiter = { place: this.#asked++, enter }
    work.waiting.add(waiter)
    this.#waiting += 1
    return () => {
      if (!work.waiting.delete(waiter)) return false
      this.#waiting -= 1
      this.#forget(claim)
      return true
    }
  }

  /**
   * Lets in who waits, one after the other, while `mayTake` allows an owner with so many places one more. `enter` must take
   * the place before it returns.
   */
  admit(mayTake: (ownHeld: number) => boolean): void {
    for (let next = this.#next(mayTake); next !== null; next = this.#next(mayTake)) {
      next.work.waiting.delete(next.waiter)
      this.#waiting -= 1
      next.waiter.enter()
    }
  }

  #next(mayTake: (ownHeld: number) => boolean): Next | null {
    if (this.#waiting === 0) return null
    let best: Next | null = null
    for (const owner of this.#owners.values()) {
      if (best !== null && owner.held > best.owner.held) continue
      if (!mayTake(owner.held)) continue
      const next = this.#nextOf(owner)
      if (next === null) continue
      if (best === null || owner.held < best.owner.held || next.waiter.place < best.waiter.place) best = next
    }
    return best
  }

  #nextOf(owner: Owner): Next | null {
    const nowMs = this.#nowMs()
    let best: Next | null = null
    for (const work of owner.works.values()) {
      const [waiter] = work.waiting
      if (waiter === undefined) continue
      if (best === null || comesBefore([work, waiter.place], [best.work, best.waiter.place], nowMs))
        best = { owner, work, waiter }
    }
    return best
  }

  #entriesOf({ ownerId, workId, deadlineMs }: PlaceClaim): [Owner, Work] {
    let owner = this.#owners.get(ownerId)
    if (owner === undefined) {
      owner = { held: 0, works: new Map() }
      this.#owners.set(ownerId, owner)
    }
    let work = owner.works.get(workId)
    if (work === undefined) {
      work = { deadlineMs, held: 0, waiting: new Set() }
      owner.works.set(workId, work)
    }
    return [owner, work]
  }

  #forget({ ownerId, workId }: PlaceClaim): void {
    const owner = this.#owners.get(ownerId)
    const work = owner?.works.get(workId)
    if (work?.held === 0 && work.waiting.size === 0) owner?.works.delete(workId)
    if (owner?.works.size === 0) this.#owners.delete(ownerId)
  }
}

/** Whether the first of two pieces of one owner's work comes before the second; each with its place in the order of asking. */
function comesBefore(
  [left, leftPlace]: readonly [Pick<Work, 'deadlineMs' | 'held'>, number],
  [right, rightPlace]: readonly [Pick<Work, 'deadlineMs' | 'held'>, number],
  nowMs: number,
): boolean {
  const order = compareWork(left, right, nowMs)
  return order === 0 ? leftPlace < rightPlace : order < 0
}

/** The order of one owner's pieces of work that hold so many places each; negative when `left` comes first. */
export function compareWork(
  left: { deadlineMs: number; held: number },
  right: { deadlineMs: number; held: number },
  nowMs: number,
): number {
  const [leftUrgent, rightUrgent] = [left, right].map(({ deadlineMs }) => deadlineMs - nowMs < urgentBeforeMs)
  if (leftUrgent !== rightUrgent) return leftUrgent ? -1 : 1
  const byDeadline = left.deadlineMs === right.deadlineMs ? 0 : left.deadlineMs - right.deadlineMs
  return leftUrgent ? byDeadline : left.held - right.held || byDeadline
}
