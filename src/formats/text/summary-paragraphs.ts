import type { Piece } from '../../canonical/text/events.ts'

/** Puts an empty line between the paragraphs of a summary that come piece by piece, as a whole one has it. */
export class SummaryParagraphs {
  #last: number | null = null

  /** What follows of the same thought's summary. */
  next({ index, text }: Extract<Piece, { type: 'summary' }>): string {
    const lead = this.#last === null || this.#last === index ? '' : '\n\n'
    this.#last = index
    return lead + text
  }
}
