import { GatewayError } from '../../core/errors.ts'
import { FairQueue } from '../../core/fair-queue.ts'
import { unavailable } from '../batch-availability.ts'
import type { Pause } from '../running/pause.ts'

/** How long an upload waits for its place, unread: shorter than load balancers keep a silent connection. */
export const uploadPlaceWaitMs = 30_000
/** Seconds after which an upload that got no place may be sent again. */
export const uploadPlaceRetrySeconds = 10

/** The bound on uploads of batches that this process reads at once, shared fairly among organizations. */
export interface UploadPlaces {
  /**
   * Resolves with a function that gives the place back, to be called once. An upload that waited in vain is refused:
   * with `rate_limit_exceeded` when its own organization's uploads have the places, with `batch_unavailable` when other
   * organizations' have them or when the signal aborted.
   */
  acquire(organizationId: string, signal: AbortSignal): Promise<() => void>
  readonly running: number
}

/**
 * A number of places. An organization takes no more of them than it leaves free: alone it has half of them, so the next
 * organization finds one, however slowly the others send. `FairQueue` says which of the waiting uploads gets a place.
 */
export function createUploadPlaces(max: number, pause: Pause): UploadPlaces {
  // An upload has no deadline.
  const queue = new FairQueue(() => 0)
  const mayTake = (ownHeld: number): boolean => ownHeld < max - queue.running

  return {
    get running() {
      return queue.running
    },
    async acquire(organizationId, signal) {
      const claim = { ownerId: organizationId, workId: '', deadlineMs: Number.POSITIVE_INFINITY }
      const inside = new AbortController()
      let giveBack: (() => void) | null = null
      const stopWaiting = queue.wait(claim, () => {
        giveBack = queue.take(claim)
        inside.abort()
      })
      queue.admit(mayTake)
      if (!inside.signal.aborted) await pause(uploadPlaceWaitMs, AbortSignal.any([signal, inside.signal]))
      // False when the upload got its place meanwhile.
      if (stopWaiting()) throw signal.aborted ? unavailable() : refusalOf(queue.heldBy(organizationId))
      return () => {
        giveBack?.()
        queue.admit(mayTake)
      }
    },
  }
}

function refusalOf(ofOwn: number): GatewayError {
  const retryAfterSeconds = uploadPlaceRetrySeconds
  if (ofOwn === 0) {
    const message = 'Too many batches are being uploaded by others. Send this one again shortly.'
    return new GatewayError('batch_unavailable', message, { retryAfterSeconds })
  }
  const uploads = ofOwn === 1 ? 'a batch' : `${ofOwn} batches`
  const message = `Your organization is uploading ${uploads} already, which is its share now. Send this one when one of them has arrived.`
  const metadata = { limit_source: 'organization_uploads' }
  return new GatewayError('rate_limit_exceeded', message, { retryAfterSeconds, metadata })
}
