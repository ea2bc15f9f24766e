import { AttemptFailed } from '../../canonical/attempt-failed.ts'
import type { Identity, Login } from '../../canonical/endpoint.ts'
import type { Clock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Grant } from './identity-world.ts'

/** A login is fetched again so long before it ends, or after half of its time where that is shorter. */
const renewBeforeMs = 300_000
/** It is not used in its last moments: the request has to reach the provider before they are over. */
const unusedMs = 10_000
/** Between two tries that failed, and between two doubts. */
const retryMs = 60_000

/** What keeps a login. */
export interface KeptLoginOptions {
  /** The deployment that it is for. */
  deploymentId: string
  /** Fetches a login; a rejection says why there is none, in words for the operator. */
  fetch: () => Promise<Grant>
  clock: Clock
  /** Told each time that a login could not be fetched, and when one can be had again (null). */
  report: (deploymentId: string, reason: string | null) => void
}

/**
 * One login of one deployment, fetched once for all calls and again in the background before it ends. While a fetch fails, an
 * older login serves to its end; after that, calls fail at once, with a try every minute.
 */
export class KeptLogin implements Identity {
  readonly type = 'identity'
  readonly #options: KeptLoginOptions
  #grant: Grant | null = null
  /** Monotonic times: until when the login is used, and before which no fetch is begun. */
  #usedUntilMs = 0
  #quietUntilMs = 0
  /** Until when a refusal by the provider makes no fetch, because a login was fetched for the last one. */
  #trustedUntilMs = 0
  #fetching: Promise<void> | null = null
  #reason: string | null = null
  #timer: ReturnType<typeof setTimeout> | null = null
  #isStopped = false

  constructor(options: KeptLoginOptions) {
    this.#options = options
  }

  get last(): Login {
    return this.#grant?.login ?? { type: 'none' }
  }

  /** Why there is no fresh login; null while all is well. */
  get reason(): string | null {
    return this.#reason
  }

  login(): Login | Promise<Login> {
    return this.#valid() ?? this.#fetched()
  }

  async instead(refused: Login): Promise<Login | null> {
    const nowMs = this.#options.clock.monotonicMs()
    // Another call may have fetched one already.
    if (this.#isRefused(refused) && (this.#fetching !== null || nowMs >= this.#trustedUntilMs)) {
      this.#trustedUntilMs = nowMs + retryMs
      await this.#fetch()
    }
    const login = this.#valid()
    return login === null || this.#isRefused(refused) ? null : login
  }

  /** Whether the login in use is the one that was refused, also where the same one has been fetched again. */
  #isRefused(refused: Login): boolean {
    return JSON.stringify(this.#grant?.login ?? null) === JSON.stringify(refused)
  }

  /** Fetches the first login, so that the first call need not wait. Never rejects. */
  async start(): Promise<void> {
    await this.#fetch()
  }

  stop(): void {
    this.#isStopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  #valid(): Login | null {
    return this.#grant !== null && this.#options.clock.monotonicMs() < this.#usedUntilMs
      ? this.#grant.login
      : null
  }

  async #fetched(): Promise<Login> {
    const isQuiet = this.#fetching === null && this.#options.clock.monotonicMs() < this.#quietUntilMs
    if (!isQuiet) await this.#fetch()
    const login = this.#valid()
    if (login !== null) return login
    throw new AttemptFailed({
      error: new GatewayError('provider_failed', 'The gateway has no login at the provider.', {
        cause: new Error(this.#reason ?? 'the login has ended'),
      }),
      retryElsewhere: true,
      retrySame: false,
      credentialFault: true,
      retryAfterMs: null,
    })
  }

  /** One fetch at a time, for all who ask. */
  #fetch(): Promise<void> {
    this.#fetching ??= this.#renew().finally(() => {
      this.#fetching = null
    })
    return this.#fetching
  }

  async #renew(): Promise<void> {
    const { clock, deploymentId, report } = this.#options
    try {
      const grant = await this.#options.fetch()
      const nowMs = clock.monotonicMs()
      const { lifeMs } = grant
      if (lifeMs !== null && lifeMs <= unusedMs) throw new Error('the login that came has ended already')
      this.#grant = grant
      this.#usedUntilMs = lifeMs === null ? Infinity : nowMs + lifeMs - unusedMs
      this.#quietUntilMs = 0
      if (this.#reason !== null) report(deploymentId, null)
      this.#reason = null
      if (lifeMs !== null) this.#renewIn(Math.max(lifeMs - renewBeforeMs, lifeMs / 2))
    } catch (thrown) {
      this.#reason = thrown instanceof Error ? thrown.message : 'the login could not be fetched'
      this.#quietUntilMs = clock.monotonicMs() + retryMs
      report(deploymentId, this.#reason)
      this.#renewIn(retryMs)
    }
  }

  #renewIn(waitMs: number): void {
    if (this.#isStopped) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#fetch(), Math.min(waitMs, 2_147_483_647))
    this.#timer.unref()
  }
}
