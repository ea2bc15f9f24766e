import type { ResourceIntent, ResourceKind } from '../../canonical/resource-notes.ts'
import type { UpstreamReply } from '../../canonical/upstream.ts'
import { assert } from '../../core/assert.ts'
import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import type { UpstreamResourceRepository } from './upstream-resource-repository.ts'

/**
 * Changes of rows that wait until storage takes them. A change beyond these is dropped; its row is freed when this
 * process has ended.
 */
const resourceChangesMax = 10_000

/** Where an attempt makes things, and for whom. */
export interface ResourcePlace {
  deploymentId: string
  credentialId: string
  usedBy: string
  kinds: Readonly<Record<string, ResourceKind>>
}

/** Keeps track of what attempts make at providers. */
export interface UpstreamResources {
  /** For one attempt; its `end` must be called, however the attempt ends. */
  trail(place: ResourcePlace): ResourceTrail
  /** Writes again what storage did not take. Never rejects. */
  settle(): Promise<void>
  /** Called when there is something to be removed. */
  onLeft: () => void
}

/** Follows an attempt from before it makes something until the attempt needs that no more. */
export interface ResourceTrail {
  /** Right before the request is sent: durable when it resolves. Rejects with `storage_unavailable`. */
  begin(intent: ResourceIntent): Promise<void>
  /** The request was answered with an error status. */
  refused(status: number): void
  /** The request was answered: the thing has its id. Never rejects. */
  replied(reply: UpstreamReply): Promise<void>
  /** Everything that was made is to be removed. Returns at once. */
  end(): void
}

/** The table for what attempts make, and the log for changes that could not be written. */
export interface UpstreamResourcesDependencies {
  repository: Pick<UpstreamResourceRepository, 'insert' | 'name' | 'leave' | 'forget'>
  clock: Pick<Clock, 'nowMs'>
  warn: (message: string, facts: Readonly<Record<string, unknown>>) => void
}

export function createUpstreamResources(dependencies: UpstreamResourcesDependencies): UpstreamResources {
  return new StoredResources(dependencies)
}

/** A change of a row that no call waits for; a second run of it changes nothing. */
type Change = () => Promise<void>

class StoredResources implements UpstreamResources {
  onLeft: () => void = () => undefined
  readonly #dependencies: UpstreamResourcesDependencies
  /** What storage did not take. */
  #failed: Change[] = []
  readonly #running = new Set<Promise<void>>()

  constructor(dependencies: UpstreamResourcesDependencies) {
    this.#dependencies = dependencies
  }

  trail(place: ResourcePlace): ResourceTrail {
    return new AttemptTrail(place, this.#dependencies, (change) => this.#later(change))
  }

  async settle(): Promise<void> {
    const again = this.#failed
    this.#failed = []
    for (const change of again) this.#later(change)
    await Promise.all(this.#running)
  }

  #later(change: Change): void {
    const running = change()
      .then(() => this.onLeft())
      .catch((cause: unknown) => this.#keep(change, cause))
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /**
   * Keeps the change until storage takes it. When this process ends before that, another process finds it dead and
   * frees the row.
   */
  #keep(change: Change, cause: unknown): void {
    this.#dependencies.warn('what is left at a provider is noted later', { cause: String(cause) })
    if (this.#failed.length < resourceChangesMax) this.#failed.push(change)
  }
}

interface Made {
  resourceId: string
  kind: string
  upstreamId: string | null
}

class AttemptTrail implements ResourceTrail {
  readonly #place: ResourcePlace
  readonly #dependencies: UpstreamResourcesDependencies
  readonly #later: (change: Change) => void
  readonly #made: Made[] = []
  /** What the request under way makes. */
  #making: { resource: Made; intent: ResourceIntent } | null = null

  constructor(
    place: ResourcePlace,
    dependencies: UpstreamResourcesDependencies,
    later: (change: Change) => void,
  ) {
    this.#place = place
    this.#dependencies = dependencies
    this.#later = later
  }

  async begin(intent: ResourceIntent): Promise<void> {
    const { clock, repository } = this.#dependencies
    const { deploymentId, credentialId, usedBy, kinds } = this.#place
    const { kind, marker } = intent
    assert(kinds[kind], `what is made is known to its adapter: ${kind}`)
    const resource: Made = { resourceId: newId('res', clock.nowMs()), kind, upstreamId: null }
    await repository.insert({ ...resource, deploymentId, credentialId, usedBy, marker })
    this.#making = { resource, intent }
  }

  refused(status: number): void {
    const making = this.#take()
    // A provider that fails at its work may have made something all the same.
    if (making && status >= 500) this.#made.push(making.resource)
    else if (making) this.#forget(making.resource)
  }

  async replied(reply: UpstreamReply): Promise<void> {
    const making = this.#take()
    if (making === null) return
    const { resource, intent } = making
    const upstreamId = this.#readId(resource, reply)
    if (upstreamId === undefined) return void this.#made.push(resource)
    if (upstreamId === null) return this.#forget(resource)
    const takenIn = this.#made.filter(({ kind }) => intent.takesIn?.includes(kind))
    for (const each of takenIn) this.#made.splice(this.#made.indexOf(each), 1)
    const named = { ...resource, upstreamId }
    this.#made.push(named)
    await this.#dependencies.repository
      .name(
        resource.resourceId,
        upstreamId,
        takenIn.map(({ resourceId }) => resourceId),
      )
      .catch((cause: unknown) =>
        // The call can go on: its end writes the id again.
        this.#dependencies.warn('the id of what was made at a provider is noted later', {
          cause: String(cause),
        }),
      )
  }

  end(): void {
    const making = this.#take()
    if (making) this.#made.push(making.resource)
    const { repository } = this.#dependencies
    for (const { resourceId, upstreamId } of this.#made.splice(0))
      this.#later(() => repository.leave(resourceId, upstreamId))
  }

  /**
   * Null for a reply that made nothing. Undefined for a reply that cannot be read: its request may have made something.
   */
  #readId({ kind }: Made, reply: UpstreamReply): string | null | undefined {
    try {
      return this.#place.kinds[kind]?.readId(reply) ?? null
    } catch {
      return undefined
    }
  }

  #take(): { resource: Made; intent: ResourceIntent } | null {
    const making = this.#making
    this.#making = null
    return making
  }

  #forget({ resourceId }: Made): void {
    this.#later(() => this.#dependencies.repository.forget(resourceId))
  }
}
