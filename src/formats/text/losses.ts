import type { Conversation } from '../../canonical/text/conversation.ts'
import { nameOf, type Carried } from './member-names.ts'

/** What a request loses on its way into another format, by the names that its caller knows. */
export class Losses {
  readonly dropped = new Set<string>()
  readonly approximated = new Set<string>()
  readonly #conversation: Pick<Conversation, 'format'>

  constructor(conversation: Pick<Conversation, 'format'>) {
    this.#conversation = conversation
  }

  /** The provider does not get it. */
  drop(carried: Carried): void {
    this.dropped.add(nameOf(carried, this.#conversation))
  }

  /** The provider gets it in another way. */
  approximate(carried: Carried): void {
    this.approximated.add(nameOf(carried, this.#conversation))
  }
}
