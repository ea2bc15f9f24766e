import type { PartHead, Piece, TextEvent } from '../../../canonical/text/events.ts'
import { streamHeldBytesMax, streamHeldFramesMax } from '../../../core/limits/text.ts'

type Step = { type: 'begin'; head: PartHead } | { type: 'piece'; piece: Piece } | { type: 'close' }

/** The parts of one item of an answer, one after the other. */
export interface PartLane {
  /** A part begins; the one before it ends. */
  begin(head: PartHead): void
  /** More of the part that is open. */
  piece(piece: Piece): void
  /** The part that is open, if any, ends. */
  close(): void
  /** The item is whole: it has no part any more. */
  finish(): void
}

interface Lane {
  /** What was told while another item was in front. */
  kept: Step[]
  isFinished: boolean
}

/**
 * Puts items that a provider tells at once one behind the other, because the parts of an answer never overlap: the first
 * is told as it comes, the others wait until it is whole.
 */
export class PartLanes {
  readonly #emit: (event: TextEvent) => void
  #parts = 0
  #isOpen = false
  readonly #lanes: Lane[] = []
  /** Place of the lane whose parts are told as they come. */
  #front = 0
  #keptSteps = 0
  #keptLength = 0

  constructor(emit: (event: TextEvent) => void) {
    this.#emit = emit
  }

  /** A place behind every item that is not whole. */
  open(): PartLane {
    const lane: Lane = { kept: [], isFinished: false }
    this.#lanes.push(lane)
    return {
      begin: (head) => this.#take(lane, { type: 'begin', head }),
      piece: (piece) => this.#take(lane, { type: 'piece', piece }),
      close: () => this.#take(lane, { type: 'close' }),
      finish: () => this.#finish(lane),
    }
  }

  #take(lane: Lane, step: Step): void {
    if (lane.isFinished) return
    if (lane === this.#lanes[this.#front]) {
      this.#tell(step)
      return
    }
    this.#keptSteps += 1
    if (step.type === 'piece' && 'text' in step.piece) this.#keptLength += step.piece.text.length
    if (this.#keptSteps > streamHeldFramesMax || this.#keptLength > streamHeldBytesMax)
      throw new RangeError('too much of an item came before the one in front of it was whole')
    lane.kept.push(step)
  }

  #finish(lane: Lane): void {
    this.#take(lane, { type: 'close' })
    lane.isFinished = true
    while (this.#lanes[this.#front]?.isFinished) {
      this.#front += 1
      const next = this.#lanes[this.#front]
      for (const step of next?.kept ?? []) this.#tell(step)
      if (next) next.kept = []
    }
  }

  #tell(step: Step): void {
    const event = { choice: 0, part: this.#parts }
    if (step.type === 'piece') {
      if (this.#isOpen) this.#emit({ type: 'piece', ...event, piece: step.piece })
      return
    }
    if (this.#isOpen) {
      this.#emit({ type: 'part_end', ...event })
      this.#parts += 1
      this.#isOpen = false
    }
    if (step.type === 'close') return
    this.#isOpen = true
    this.#emit({ type: 'part_begin', choice: 0, part: this.#parts, head: step.head })
  }
}
