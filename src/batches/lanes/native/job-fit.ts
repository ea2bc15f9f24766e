import { GatewayError } from '../../../core/errors.ts'
import type { ItemRequest } from '../../item-contract.ts'
import type { JobItems } from './job-contract.ts'

/** Whether a provider's jobs would run a request with this body. */
export type FitsJob = (body: Uint8Array) => Promise<boolean>

/** Tells what the jobs would run that these items could have now; null where they could have none. */
export function createJobFit(
  items: JobItems,
  asked: Pick<ItemRequest, 'principal' | 'endpoint' | 'model' | 'providerOnly' | 'betas'>,
): FitsJob | null {
  const at = items.endpointFor(asked)
  const place = at === null ? null : items.placeOf(at.endpointId)
  if (at === null || place === null) return null
  return async (body) => {
    const item: ItemRequest = {
      ...asked,
      batchId: '',
      customId: '',
      body,
      tier: null,
      budgets: [],
      signal: new AbortController().signal,
      deadlineMs: Number.MAX_SAFE_INTEGER,
      onQueued: () => {},
    }
    try {
      return place.jobs.operationOf(await items.encode(item, at)) !== null
    } catch (thrown) {
      // A request that is wrong ends with its own error wherever it goes, and costs nothing; nothing is known of another one.
      if (thrown instanceof GatewayError) return true
      throw thrown
    }
  }
}
