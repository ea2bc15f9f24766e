import type { Batch } from '../../canonical/batch.ts'
import type { Principal } from '../../canonical/principal.ts'
import type { Clock } from '../../core/clock.ts'
import { principalFreshMs } from '../../core/limits/access.ts'
import type { LoadPrincipal } from '../item-contract.ts'

/** The principal that a batch's items run as, read again now and then, because a segment may run for hours. */
export class BatchOwner {
  readonly #batch: Batch
  readonly #clock: Clock
  readonly #loadPrincipal: LoadPrincipal
  #principal: Principal | null = null
  /** Monotonic time of the last reading. */
  #readMs = 0

  constructor(dependencies: { batch: Batch; clock: Clock; loadPrincipal: LoadPrincipal }) {
    this.#batch = dependencies.batch
    this.#clock = dependencies.clock
    this.#loadPrincipal = dependencies.loadPrincipal
  }

  /** As last read; null when the key may no longer be used. */
  get lastRead(): Principal | null {
    return this.#principal
  }

  async read(): Promise<Principal | null> {
    const { organizationId, keyId } = this.#batch
    this.#readMs = this.#clock.monotonicMs()
    this.#principal = await this.#loadPrincipal({ organizationId, keyId })
    return this.#principal
  }

  /** The principal, read again when the reading is old: a key that is deleted or limited takes effect as quickly as in live calls. */
  async current(): Promise<Principal | null> {
    if (this.#clock.monotonicMs() - this.#readMs >= principalFreshMs) {
      // While storage is out of order, the last reading counts.
      await this.read().catch(() => undefined)
    }
    return this.#principal
  }
}
