import type { PartHead, Piece, TextEvent } from '../../../canonical/text/events.ts'
import { streamHeldBytesMax, streamHeldFramesMax } from '../../../core/limits/text.ts'

type Step = { type: 'begin'; head: PartHead } | { type: 'piece'; piece: Piece } | { type: 'close' }

/** Takes the parts of one item of an answer, one after another. */
export interface PartLane {
  /** Begins a part; the one before it ends. */
  begin(head: PartHead): void
  /** Adds to the open part. */
  piece(piece: Piece): void
  /** Ends the open part, if any. */
  close(): void
  /** The item is complete and has no more parts. */
  finish(): void
}

interface Lane {
  /** The steps that came while another item was in front. */
  kept: Step[]
  isFinished: boolean
}

/**
 * Puts items that a provider sends at the same time one after another, because the parts of an answer never overlap.
 * The first item passes at once; the others wait until it is complete.
 */
export class PartLanes {
  readonly #emit: (event: TextEvent) => void
  #parts = 0
  #isOpen = false
  readonly #lanes: Lane[] = []
  /** The lane whose parts pass at once. */
  #front = 0
  #keptSteps = 0
  #keptLength = 0

  constructor(emit: (event: TextEvent) => void) {
    this.#emit = emit
  }

  /** Opens a lane behind all incomplete items. */
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
