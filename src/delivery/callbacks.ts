import { GatewayError } from '../core/errors.ts'
import type { CallbackSender } from '../transport/callback-sender.ts'
import type { DeliveryRepository } from './delivery-repository.ts'
import type { Seal } from './master-key.ts'

/** The longest address that a caller may name. */
const callbackUrlLengthMax = 2_048

/** What the batch engine needs of deliveries. */
export interface Callbacks extends Pick<DeliveryRepository, 'listOf' | 'listTries' | 'redeliver'> {
  /** Throws `invalid_request` for an address that events cannot be sent to, and where none can be signed. */
  check(url: string): Promise<void>
}

export function createCallbacks({
  repository,
  sender,
  seal,
}: {
  repository: DeliveryRepository
  sender: Pick<CallbackSender, 'check'>
  seal: Pick<Seal, 'refusal'>
}): Callbacks {
  return {
    listOf: (batchId) => repository.listOf(batchId),
    listTries: (deliveryId) => repository.listTries(deliveryId),
    redeliver: (batchId) => repository.redeliver(batchId),
    async check(url) {
      const problem =
        url.length > callbackUrlLengthMax
          ? `has more than ${callbackUrlLengthMax} characters`
          : await sender.check(url)
      if (problem !== null)
        throw new GatewayError('invalid_request', `callback_url ${problem}.`, { param: 'callback_url' })
      const refusal = seal.refusal()
      if (refusal !== null) throw refusal.with({ param: 'callback_url' })
    },
  }
}
