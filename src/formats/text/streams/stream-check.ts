import type { TextEvent } from '../../../canonical/text/events.ts'
import type { PromisedOutput } from '../../../canonical/upstream.ts'
import type { GatewayError } from '../../../core/errors.ts'
import { checkOutput } from '../output/promised-output.ts'
import { toStreamFailure } from './stream-reader.ts'

/** Collects the texts of a stream with a promised form, and checks them at the end. */
export class StreamCheck {
  readonly #promised: PromisedOutput
  readonly #texts = new Map<number, string>()
  /** Choices that ended normally. */
  readonly #whole = new Set<number>()
  readonly #refused = new Set<number>()
  /** Choices whose open part is a text. */
  readonly #speaking = new Set<number>()

  constructor(promised: PromisedOutput) {
    this.#promised = promised
  }

  read(event: TextEvent): void {
    if (event.type === 'part_begin') {
      if (event.head.type === 'text') this.#speaking.add(event.choice)
      else this.#speaking.delete(event.choice)
      if (event.head.type === 'refusal') this.#refused.add(event.choice)
    } else if (event.type === 'piece' && event.piece.type === 'text' && this.#speaking.has(event.choice)) {
      this.#texts.set(event.choice, `${this.#texts.get(event.choice) ?? ''}${event.piece.text}`)
    } else if (event.type === 'finish' && event.reason === 'stop') {
      this.#whole.add(event.choice)
    }
  }

  /** Why the stream does not have the promised form; null when it has. */
  end(): GatewayError | null {
    try {
      for (const choice of this.#whole)
        if (!this.#refused.has(choice)) checkOutput(this.#promised, this.#texts.get(choice) ?? '')
      return null
    } catch (thrown) {
      return toStreamFailure(thrown)
    }
  }
}
