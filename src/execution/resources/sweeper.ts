import { remove, type RemovalDependencies } from './removal.ts'
import type { ClaimedResource, UpstreamResourceRepository } from './upstream-resource-repository.ts'
import type { UpstreamResources } from './upstream-resources.ts'

/**
 * What calls leave at providers, and its removal. Durations end in Ms.
 */

/** How often a process looks for things to remove, and for processes that have died. */
const resourcesLookEveryMs = 10_000
/** From the end of a call to the removal of what it left: its charge and its answer go first. */
const removalDelayMs = 100
/** Removals of one process at once: they are never in a hurry, and share the provider's rate with calls. */
const removalsAtOnce = 4
/** Rounds of removals that one look makes, so that a stop need not wait for a long list. */
const removalRoundsMax = 50
/** How long no other process tries a removal that a process has begun: longer than its requests can take together. */
const removalLeaseMs = 1_200_000
/** How long a row stays that says why something was not removed. */
const keptResourceMs = 30 * 86_400_000
/** Rows of that age that one look deletes. */
const keptResourcesRoundMax = 1_000

/**
 * Removes what is left at providers, in any number of processes: after calls that ended in whatever way, and after
 * processes that died. It looks at the table, so that a signal, a timer and a restart are the same thing.
 */
export interface ResourceSweeper {
  /** Looks now, and again every `resourcesLookEveryMs`. */
  start(): void
  /** Does everything that is due. Never rejects. */
  look(): Promise<void>
  /** Looks a last time for what the last calls left. The caller bounds the wait. */
  stop(): Promise<void>
}

/** The table that a sweeper reads, the providers that it asks, and the log for what stays there. */
export interface SweeperDependencies extends Omit<RemovalDependencies, 'ofMarker'> {
  repository: UpstreamResourceRepository
  resources: Pick<UpstreamResources, 'settle' | 'onLeft'>
  warn: (message: string, facts: Readonly<Record<string, unknown>>) => void
}

export function createResourceSweeper(dependencies: SweeperDependencies): ResourceSweeper {
  return new TableSweeper(dependencies)
}

class TableSweeper implements ResourceSweeper {
  readonly #dependencies: SweeperDependencies
  #timer: ReturnType<typeof setInterval> | null = null
  #looking: Promise<void> | null = null
  #isWoken = false
  #isStopped = false
  #soon: ReturnType<typeof setTimeout> | null = null

  constructor(dependencies: SweeperDependencies) {
    this.#dependencies = dependencies
    dependencies.resources.onLeft = () => this.#lookSoon()
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.look(), resourcesLookEveryMs)
    this.#timer.unref()
    void this.look()
  }

  look(): Promise<void> {
    this.#isWoken = true
    this.#looking ??= this.#lookAgain().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    if (this.#soon) clearTimeout(this.#soon)
    await this.#dependencies.resources.settle()
    await this.look()
    this.#isStopped = true
  }

  #lookSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = null
      void this.look()
    }, removalDelayMs)
  }

  /** Looks again as long as calls have left something during the last look. */
  async #lookAgain(): Promise<void> {
    while (this.#isWoken && !this.#isStopped) {
      this.#isWoken = false
      await this.#round().catch((cause: unknown) =>
        this.#dependencies.warn('what is left at providers was not looked for', { cause: String(cause) }),
      )
    }
  }

  async #round(): Promise<void> {
    const { repository, resources } = this.#dependencies
    await resources.settle()
    await repository.freeOfDead()
    for (let round = 0; round < removalRoundsMax && !this.#isStopped; round += 1) {
      const claimed = await repository.claim(removalsAtOnce, removalLeaseMs)
      if (claimed.length === 0) break
      await Promise.all(claimed.map((each) => this.#removeOne(each)))
    }
    await repository.expireKept(keptResourcesRoundMax)
  }

  async #removeOne(claimed: ClaimedResource): Promise<void> {
    const { repository, placeOf, send, warn } = this.#dependencies
    const removal = await remove(claimed, {
      placeOf,
      send,
      ofMarker: (asked) => repository.ofMarker(asked),
    })
    if (removal.type === 'gone') return repository.removed(claimed)
    if (removal.type === 'again') return repository.postpone(claimed, removal)
    if (!removal.isExpected) warn('something stays at a provider', factsOf(claimed, removal.reason))
    await repository.keep(claimed, removal.reason, keptResourceMs)
  }
}

function factsOf({ kind, deploymentId, upstreamId, usedBy }: ClaimedResource, reason: string) {
  return { kind, deployment: deploymentId, upstream_id: upstreamId, generation_id: usedBy, reason }
}
