import { batchErrorJson } from '../../formats/batch/batch-object.ts'
import type { Shortage } from './batch-money.ts'

/** What a batch waits for, in words for its owner. */
export const shortages: Record<Shortage, string> = {
  credits: 'This batch waits for credits. It goes on when credits are added.',
  key_limit:
    "This batch waits because the limit of its API key is used up. It goes on when the key's limit is raised.",
  max_cost:
    'This batch has reached its headrace.max_cost. Its other requests end unpaid at the deadline, or now when it is cancelled.',
}

/** The note of a batch that waits for money. */
export function shortageJson(shortage: Shortage): string {
  return batchErrorJson({ type: 'payment_required', message: shortages[shortage] })
}
