import type { Finish } from '../../canonical/text/events.ts'
import { GatewayError } from '../../core/errors.ts'

/** An answer that its provider ended in an error, for callers whose format has no word for that. */
export function endedInError({ native }: Pick<Finish, 'native'>): GatewayError {
  const word = native !== null && endWord.test(native) ? ` (${native})` : ''
  return new GatewayError(
    'provider_failed',
    `The provider ended its answer in an error${word}. Try again, or ask another model.`,
  )
}

/** What is no single word may be anything that a provider wrote there. */
const endWord = /^\w{1,40}$/
