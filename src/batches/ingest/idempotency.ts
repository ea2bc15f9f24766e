import { GatewayError } from '../../core/errors.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { randomText } from '../../core/ids.ts'
import type { Committer } from '../committer.ts'
import type { Claim, IdempotencyRepository } from './idempotency-repository.ts'
import { completeClaim, insertClaim, releaseClaim, takeOverClaim } from './idempotency-repository.ts'

/** How long a key of an idempotent request is remembered: as long as the batch it made. */
export const idempotencyMs = 30 * 86_400_000
/** Characters of an `Idempotency-Key`. */
const idempotencyKeyLengthMax = 256
/** Seconds after which a request may ask again while the first request with its key is still running. */
const idempotencyRetrySeconds = 5
/** Keys whose release failed and is tried again; further ones stay claimed until this process ends. */
const idempotencyReleasesMax = 1_000

/** The first request with its key. It ends with exactly one of `completion` (in a unit that succeeds) and `release`. */
export interface Claimed {
  isReplay: false
  claimId: string
  /** The statement that remembers what the request created; belongs into the unit that creates it. */
  completion(done: { bodySha256: string; referenceId: string }): ReturnType<typeof completeClaim>
  /** The unit with the completion is durable. */
  completed(): void
  /** The request was refused: the key is free again. Never rejects. */
  release(): Promise<void>
}

/** A request whose key was used before; with an equal body it gets what the first request created. */
export interface Replay {
  isReplay: true
  bodySha256: string
  referenceId: string
}

/** A request with its organization, route and key. */
export interface KeyedRequest {
  organizationId: OrganizationId
  route: string
  key: string
}

/** Remembers requests with an idempotency key for 30 days, by organization, route and key. */
export interface Idempotency {
  /** Throws `conflict` while the first request with this key is running. */
  claim(request: KeyedRequest): Promise<Claimed | Replay>
  /** What `claim` would return, without claiming: null for a free key. Throws as `claim` does. */
  look(request: KeyedRequest): Promise<Replay | null>
  /** Retries releases that failed. */
  releaseLeftovers(): Promise<void>
}

/** What `createIdempotency` needs. `isOwnerDead` tells whether a process of the database is dead. */
export interface IdempotencyDependencies {
  repository: IdempotencyRepository
  committer: Committer
  ownerId: string
  isOwnerDead(ownerId: string): Promise<boolean>
}

export function createIdempotency(dependencies: IdempotencyDependencies): Idempotency {
  // A claim's owner names this process and one of its requests. A claim of this process without such a request is a leftover.
  const live = new Set<string>()
  const leftovers = new Map<string, string>()

  function claimed(claimId: string, owner: string): Claimed {
    return {
      isReplay: false,
      claimId,
      completion: (done) => completeClaim(claimId, owner, done),
      completed: () => void live.delete(owner),
      release: async () => {
        live.delete(owner)
        try {
          await dependencies.committer.commit('idempotency.release', [releaseClaim(claimId, owner)])
        } catch {
          if (leftovers.size < idempotencyReleasesMax) leftovers.set(owner, claimId)
        }
      },
    }
  }

  async function isAlive(owner: string): Promise<boolean> {
    const [processOwner = ''] = owner.split('#')
    if (processOwner === dependencies.ownerId) return live.has(owner)
    return !(await dependencies.isOwnerDead(processOwner))
  }

  /** What was created under the claim's key; null when the key may be taken over. */
  async function replayOf(found: Claim): Promise<Replay | null> {
    if (found.isExpired) return null
    if (found.state === 'done') {
      return { isReplay: true, bodySha256: found.bodySha256 ?? '', referenceId: found.referenceId ?? '' }
    }
    if (await isAlive(found.ownerId)) throw stillRunning()
    return null
  }

  return {
    async look(request) {
      checkKey(request.key)
      const found = await dependencies.repository.load(claimIdOf(request))
      return found && replayOf(found)
    },
    async claim(request) {
      checkKey(request.key)
      const owner = `${dependencies.ownerId}#${randomText(12)}`
      // Added before the row is written: another request may read the row before this one gets its commit's answer.
      live.add(owner)
      let earlier: Replay | null = null
      let isOurs = false
      try {
        earlier = await takeKey(owner, request, { ...dependencies, replayOf })
        isOurs = earlier === null
      } finally {
        if (!isOurs) live.delete(owner)
      }
      return earlier ?? claimed(claimIdOf(request), owner)
    },
    async releaseLeftovers() {
      for (const [owner, claimId] of leftovers) {
        await dependencies.committer.commit('idempotency.release', [releaseClaim(claimId, owner)])
        leftovers.delete(owner)
      }
    },
  }
}

/** What taking a key needs; `replayOf` judges an existing claim. */
type TakeDependencies = Pick<IdempotencyDependencies, 'repository' | 'committer'> & {
  replayOf(found: Claim): Promise<Replay | null>
}

/** Claims the key for the owner and resolves with null, or resolves with what was created under it before. */
async function takeKey(
  owner: string,
  request: KeyedRequest,
  dependencies: TakeDependencies,
): Promise<Replay | null> {
  const { repository, committer } = dependencies
  const { organizationId, route } = request
  const claimId = claimIdOf(request)
  const isOurs = async () => (await repository.load(claimId))?.ownerId === owner
  const insert = insertClaim({ claimId, organizationId, route, ownerId: owner, rememberMs: idempotencyMs })
  const inserted = await committer.commit('idempotency.claim', [insert], isOurs)
  if (inserted.type === 'committed') return null
  const found = await repository.load(claimId)
  // The claim was released between the two statements: the caller's next attempt may get the key.
  if (found === null) throw stillRunning()
  const replay = await dependencies.replayOf(found)
  if (replay !== null) return replay
  const takeOver = takeOverClaim(claimId, found.ownerId, owner, idempotencyMs)
  const taken = await committer.commit('idempotency.take_over', [takeOver], isOurs)
  if (taken.type === 'refused') throw stillRunning()
  return null
}

function claimIdOf({ organizationId, route, key }: KeyedRequest): string {
  return new Bun.CryptoHasher('sha256').update(JSON.stringify([organizationId, route, key])).digest('hex')
}

function checkKey(key: string): void {
  if (key.length >= 1 && key.length <= idempotencyKeyLengthMax) return
  throw new GatewayError(
    'invalid_request',
    `Idempotency-Key must have 1 to ${idempotencyKeyLengthMax} characters.`,
    {
      param: 'Idempotency-Key',
    },
  )
}

function stillRunning(): GatewayError {
  return new GatewayError(
    'conflict',
    'A request with this Idempotency-Key is still running. Ask again in a moment.',
    {
      retryAfterSeconds: idempotencyRetrySeconds,
    },
  )
}
