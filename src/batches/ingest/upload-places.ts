import { GatewayError } from '../../core/errors.ts'
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

interface Waiter {
  organizationId: string
  /** Called when the place has been taken for this upload. */
  enter(): void
}

/**
 * A number of places. An organization takes no more of them than it leaves free: alone it has half of them, so the next
 * organization finds one, however slowly the others send. Of the waiting uploads, the first that is allowed gets a place.
 */
export function createUploadPlaces(max: number, pause: Pause): UploadPlaces {
  const held = new Map<string, number>()
  const waiting = new Set<Waiter>()
  let running = 0

  const heldBy = (organizationId: string): number => held.get(organizationId) ?? 0
  const mayTake = ({ organizationId }: Waiter): boolean => heldBy(organizationId) < max - running

  function letIn(): void {
    for (const waiter of waiting) {
      if (!mayTake(waiter)) continue
      waiting.delete(waiter)
      running += 1
      held.set(waiter.organizationId, heldBy(waiter.organizationId) + 1)
      waiter.enter()
    }
  }

  function leave(organizationId: string): void {
    running -= 1
    const left = heldBy(organizationId) - 1
    if (left > 0) held.set(organizationId, left)
    else held.delete(organizationId)
    letIn()
  }

  return {
    get running() {
      return running
    },
    async acquire(organizationId, signal) {
      const inside = new AbortController()
      const waiter: Waiter = { organizationId, enter: () => inside.abort() }
      waiting.add(waiter)
      letIn()
      if (!inside.signal.aborted) await pause(uploadPlaceWaitMs, AbortSignal.any([signal, inside.signal]))
      // `delete` returns false when the upload got its place meanwhile.
      if (waiting.delete(waiter)) throw signal.aborted ? unavailable() : refusalOf(heldBy(organizationId))
      return () => leave(organizationId)
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
