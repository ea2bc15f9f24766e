import type { UpstreamTarget } from '../../canonical/credential.ts'
import type {
  FoundResource,
  ResourceKind,
  ResourceListing,
  ResourcePage,
  ResourceRemains,
} from '../../canonical/resource-notes.ts'
import type { ResponseHeaders, UpstreamRequest } from '../../canonical/upstream.ts'
import { GatewayError } from '../../core/errors.ts'
import { answerBytesMax } from '../../core/limits/calls.ts'
import { readRetryAfter } from '../../formats/retry-after.ts'
import type { Transport } from '../../transport/exchange.ts'
import type { ClaimedResource, KnownOfMarker } from './upstream-resource-repository.ts'

/** Longest time for one request of a removal, answer included. */
const removalRequestMs = 30_000
/** Requests of one removal: the pages of a listing, and one for each thing that is found on them. */
const removalRequestsMax = 30
/** Tries of one removal, about two days with the waits between: an outage of the provider passes, a lost key does not. */
export const removalTriesMax = 30
/** Wait before a failed removal is tried again; it doubles up to the longest. */
export const removalWaitMs = 5_000
const removalWaitMsMax = 7_200_000
/**
 * The waits between the looks for a thing whose id never came. A request that was running when its process died may
 * arrive at the provider later, and a listing may lag behind. A try that the provider did not answer is no look.
 */
export const lostLookWaitsMs: readonly number[] = [30_000, 600_000]
/** The least wait for a thing that has been told to end, and has not ended yet. */
const endingWaitMs = 60_000
/** How much the clocks of a provider and of the database may differ. */
const providerClockSlackMs = 300_000

/** A deployment as it is configured now, and how things of each kind are found and removed there. */
export interface RemovalPlace {
  target: UpstreamTarget
  kinds: Readonly<Record<string, ResourceKind>>
}

/** A provider's response to a request of a removal, read. */
export interface RemovalResponse {
  status: number
  headers: ResponseHeaders
  bytes: Uint8Array
}

/** What a removal needs from outside. */
export interface RemovalDependencies {
  /** The deployment with this id; null when it is not configured any more. */
  placeOf(deploymentId: string): RemovalPlace | null
  /** Rejects with a GatewayError when there is no response. */
  send(request: UpstreamRequest, target: UpstreamTarget): Promise<RemovalResponse>
  ofMarker(claimed: ClaimedResource): Promise<KnownOfMarker>
}

/** Sends a request of a removal and reads the whole response. */
export async function sendRemoval(
  request: UpstreamRequest,
  target: UpstreamTarget,
  transport: Transport,
): Promise<RemovalResponse> {
  const response = await transport.send(request, target, {
    signal: new AbortController().signal,
    deadlineMs: removalRequestMs,
    firstByteTimeoutMs: removalRequestMs,
  })
  const { status, headers } = response
  return { status, headers, bytes: await response.readAll(answerBytesMax) }
}

/** What a try to remove something came to. */
export type Removal =
  | { type: 'gone' }
  /** `isLook`: a thing whose id never came was looked for, and nothing is wrong. */
  | { type: 'again'; waitMs: number; reason: string; isLook?: true }
  /** `isExpected` where no try could ever succeed, so that the log need not warn each time. */
  | { type: 'kept'; reason: string; isExpected?: true }

/** Tries to remove something once. Never rejects for a failure of the provider; rejects with `storage_unavailable`. */
export async function remove(claimed: ClaimedResource, dependencies: RemovalDependencies): Promise<Removal> {
  try {
    return await removeKnown(claimed, dependencies)
  } catch (error) {
    if (!(error instanceof RemovalFailed)) throw error
    return again(claimed, error.message, error.leastMs)
  }
}

/** This try has failed; the message is for an operator. */
class RemovalFailed extends Error {
  readonly leastMs: number

  constructor(message: string, leastMs = 0) {
    super(message)
    this.leastMs = leastMs
  }
}

/** Tries later, after a wait that doubles; gives up after `removalTriesMax` tries. */
function again({ tries }: ClaimedResource, reason: string, leastMs: number): Removal {
  if (tries >= removalTriesMax) return { type: 'kept', reason: `${reason}; given up after ${tries} tries` }
  const waitMs = Math.max(removalWaitMs * 2 ** Math.min(tries - 1, 20), leastMs)
  return { type: 'again', waitMs: Math.min(waitMs, removalWaitMsMax), reason }
}

async function removeKnown(claimed: ClaimedResource, dependencies: RemovalDependencies): Promise<Removal> {
  const place = dependencies.placeOf(claimed.deploymentId)
  // The deployment may be configured again at the next start, and other processes may still have it.
  if (place === null)
    throw new RemovalFailed(`the provider "${claimed.deploymentId}" is not configured any more`)
  if (claimed.credentialId !== place.target.credential.reference.id)
    return { type: 'kept', reason: 'it was made with a login of the caller, which is not stored' }
  const kind = place.kinds[claimed.kind]
  if (kind === undefined)
    throw new RemovalFailed(`"${claimed.deploymentId}" is another provider now, without ${claimed.kind}`)
  if (kind.remove === null)
    return { type: 'kept', reason: 'the provider documents no call that removes it', isExpected: true }
  const sender = new Sender(place.target, dependencies)
  if (claimed.upstreamId === null) return removeLost(claimed, { ...kind, remove: kind.remove }, sender)
  await sender.remove({ ...kind, remove: kind.remove }, claimed.upstreamId)
  return { type: 'gone' }
}

/** A kind of thing that the provider can remove. */
type RemovableKind = ResourceKind & { remove: NonNullable<ResourceKind['remove']> }

/** Sends the requests of one try, at most `removalRequestsMax`. */
class Sender {
  readonly dependencies: RemovalDependencies
  readonly #target: UpstreamTarget
  #sent = 0

  constructor(target: UpstreamTarget, dependencies: RemovalDependencies) {
    this.#target = target
    this.dependencies = dependencies
  }

  /** Removes it, and what that makes in turn. */
  async remove({ remove: requestOf, isGone, remains }: RemovableKind, id: string): Promise<void> {
    const { status, headers } = await this.#send(requestOf(id))
    if (isMissing(status)) return
    if (isGone?.(status) !== true) checkStatus(status, headers)
    if (remains !== undefined) await this.#removeRemains(remains, id)
  }

  async #removeRemains({ look, read, isGone }: ResourceRemains, id: string): Promise<void> {
    const { status, headers, bytes } = await this.#send(look(id))
    if (isMissing(status)) return
    checkStatus(status, headers)
    const requests = readOrFail(() => read({ headers, bytes }))
    if (requests === null) throw new RemovalFailed('it is ending at the provider', endingWaitMs)
    for (const request of requests) {
      const removed = await this.#send(request)
      if (!isMissing(removed.status) && isGone?.(removed.status) !== true)
        checkStatus(removed.status, removed.headers)
    }
  }

  async list(
    { request, read }: ResourceListing,
    older: string | null,
    marker: string,
  ): Promise<ResourcePage> {
    const { status, headers, bytes } = await this.#send(request(older))
    checkStatus(status, headers)
    return readOrFail(() => read({ headers, bytes }, marker))
  }

  async #send(request: UpstreamRequest): Promise<RemovalResponse> {
    this.#sent += 1
    if (this.#sent > removalRequestsMax)
      throw new RemovalFailed('it took more requests than one removal may make')
    try {
      return await this.dependencies.send(request, this.#target)
    } catch (error) {
      throw asFailure(error)
    }
  }
}

function isMissing(status: number): boolean {
  return status === 404 || status === 410
}

function readOrFail<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw asFailure(error)
  }
}

function checkStatus(status: number, headers: ResponseHeaders): void {
  if (status >= 200 && status < 300) return
  throw new RemovalFailed(`the provider answered ${status}`, readRetryAfter(headers) ?? 0)
}

function asFailure(error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.type === 'storage_unavailable') return error
  return new RemovalFailed(error.message)
}

/**
 * Removes a thing whose id never came. It is looked for a few times; what bears its marker, was made while the call ran
 * and belongs to no other row is removed. When there are more such things than calls have lost, somebody else works
 * with the same account, and nothing is removed.
 */
async function removeLost(claimed: ClaimedResource, kind: RemovableKind, sender: Sender): Promise<Removal> {
  const { marker, looks } = claimed
  if (kind.listing === null || marker === null)
    return {
      type: 'kept',
      reason: 'its id never came, and the provider cannot be asked for it',
      isExpected: true,
    }
  const found = await findAll(claimed, kind.listing, marker, sender)
  const known = await sender.dependencies.ofMarker(claimed)
  if (known.making > 0) throw new RemovalFailed('another call makes the same just now', lostLookWaitsMs[0])
  const strays = found.filter(({ id }) => !known.upstreamIds.includes(id))
  if (strays.length > known.lost)
    throw new RemovalFailed(`${strays.length} things bear its mark, and ${known.lost} are missing`)
  for (const { id } of strays) await sender.remove(kind, id)
  const waitMs = lostLookWaitsMs[looks]
  if (waitMs === undefined) return { type: 'gone' }
  return {
    type: 'again',
    waitMs,
    reason: 'its id never came; it may still arrive at the provider',
    isLook: true,
  }
}

async function findAll(
  { createdAtMs, leftAtMs }: ClaimedResource,
  listing: ResourceListing,
  marker: string,
  sender: Sender,
): Promise<FoundResource[]> {
  const fromMs = createdAtMs - providerClockSlackMs
  const toMs = leftAtMs + providerClockSlackMs
  const found: FoundResource[] = []
  let older: string | null = null
  do {
    const page: ResourcePage = await sender.list(listing, older, marker)
    for (const each of page.found) {
      const { createdAtMs: atMs } = each
      if (atMs === null || (atMs >= fromMs && atMs <= toMs)) found.push(each)
    }
    older = page.oldestAtMs !== null && page.oldestAtMs < fromMs ? null : page.older
  } while (older !== null)
  return found
}
