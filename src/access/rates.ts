import type { Principal } from '../canonical/principal.ts'
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { rateLimitsMax } from '../core/limits/access.ts'
import type { RateRepository } from './rate-repository.ts'
import { createSharedRates, type SharedRates } from './shared-rates.ts'

/** Rates up to this many per minute are decided in the database, larger ones as shares in each process. */
const databaseRateMax = 120

/** Decides whether a caller is within its rates. */
export interface RateGate {
  /**
   * For an inference request. Checks the key's limits, then the organization's, for tokens (used by earlier calls) and for
   * requests. Returns undefined when every limit answers from memory. Throws or rejects with `rate_limit_exceeded`, which
   * names the limit and the time to come again.
   */
  admitRequest(principal: Principal): Promise<void> | undefined
  /** Counts the tokens of a live call once they are known; later calls wait until they have run off. */
  spendTokens(principal: Principal, tokens: number): void
  /** For creating a batch, in the same way. */
  admitBatch(principal: Principal): Promise<void> | undefined
  /** Whether `admitBatch` would admit a batch now; throws what it would throw and uses nothing. */
  lookAtBatch(principal: Principal): Promise<void> | undefined
  /** Undoes one `admitBatch` whose batch was not created. Resolves when a different batch may use the place; never rejects. */
  giveBackBatch(principal: Principal): Promise<void>
  /** Rates that every process shares, for others than callers: `deployments` of the operator's. */
  readonly shared: Pick<SharedRates, 'take' | 'look' | 'want' | 'spend'>
  /** Ends the background work. */
  stop(): void
}

/** What the gate needs. */
export interface RateGateOptions {
  repository: RateRepository
  /** This process's owner id in the database. */
  ownerId: string
  clock: Clock
  onFailure?: (failure: unknown) => void
}

/** One limit of one subject. */
interface Limit {
  id: string
  /** For the message: `this organization`. */
  subject: string
  /** For the message: `requests`. */
  things: string
  /** Machine-readable name: `organization_requests`. */
  source: string
  perMinute: number
}

/** Use one of a limit, or only ask whether one is free. */
type Asking = 'take' | 'look'

/** A refusal by a limit. */
interface Refusal {
  /** The limit's rate at that time. */
  perMinute: number
  /** Monotonic time at which one more will be free. */
  untilMs: number
}

/** For small limits the database decides for all processes; of a large limit every process has a share in memory. */
export function createRateGate(options: RateGateOptions): RateGate {
  const { repository, clock } = options
  const shared = createSharedRates(options)
  /** Small limits that are used up: until one more is free, the database is not asked again, unless the limit was changed. */
  const refusals = new Map<string, Refusal>()

  /** Milliseconds to wait, 0 for none; with `take` it uses one. */
  async function askDatabase({ id, perMinute }: Limit, how: Asking): Promise<number> {
    const known = refusals.get(id)
    const restMs = known?.perMinute === perMinute ? known.untilMs - clock.monotonicMs() : 0
    if (restMs > 0) return restMs
    const { isAllowed, waitMs } = await repository[how](id, perMinute)
    if (isAllowed) {
      refusals.delete(id)
      return 0
    }
    if (refusals.size >= rateLimitsMax) refusals.clear()
    refusals.set(id, { perMinute, untilMs: clock.monotonicMs() + waitMs })
    return waitMs
  }

  async function giveBack({ id, perMinute }: Limit): Promise<void> {
    if (perMinute > databaseRateMax) return shared.giveBack(id)
    try {
      await repository.giveBack(id, perMinute)
      // The returned place may be free for a batch that this refusal would turn away.
      refusals.delete(id)
    } catch (failure) {
      options.onFailure?.(failure)
    }
  }

  const ask = (limit: Limit, how: Asking): number | Promise<number> =>
    // Tokens are counted after the call, so their limit never waits for the database.
    limit.things !== 'tokens' && limit.perMinute <= databaseRateMax
      ? askDatabase(limit, how)
      : shared[how](limit.id, limit.perMinute)

  const admitEach = (limits: readonly Limit[], how: Asking) =>
    admitAll(limits, (limit) => ask(limit, how), clock)

  const admit = (limits: readonly Limit[], how: Asking) =>
    limits.length === 0 ? undefined : admitEach(limits, how)

  async function takeLater(principal: Principal, waiting: Promise<void>): Promise<void> {
    await waiting
    await admit(requestLimitsOf(principal), 'take')
  }

  return {
    admitRequest(principal) {
      const waiting = admit(tokenLimitsOf(principal), 'look')
      return waiting ? takeLater(principal, waiting) : admit(requestLimitsOf(principal), 'take')
    },
    spendTokens(principal, tokens) {
      for (const { id, perMinute } of tokenLimitsOf(principal)) shared.spend(id, perMinute, tokens)
    },
    admitBatch: (principal) => admit(batchLimitsOf(principal), 'take'),
    lookAtBatch: (principal) => admit(batchLimitsOf(principal), 'look'),
    giveBackBatch: (principal) => Promise.all(batchLimitsOf(principal).map(giveBack)).then(() => undefined),
    shared,
    stop: () => shared.stop(),
  }
}

/** Asks one limit after the other. Synchronous as long as every limit answers from memory. */
function admitAll(
  limits: readonly Limit[],
  ask: (limit: Limit) => number | Promise<number>,
  clock: Clock,
): Promise<void> | undefined {
  for (const [index, limit] of limits.entries()) {
    const waitMs = ask(limit)
    if (typeof waitMs === 'number') {
      if (waitMs > 0) throw refusal(limit, waitMs, clock)
    } else {
      const rest = limits.slice(index + 1)
      return waitMs.then((ms) => {
        if (ms > 0) throw refusal(limit, ms, clock)
        return admitAll(rest, ask, clock)
      })
    }
  }
  return undefined
}

const none: readonly Limit[] = []

function tokenLimitsOf(principal: Principal): readonly Limit[] {
  const { organization, key } = principal.rates
  if (organization.tokensPerMinute === null && key.tokensPerMinute === null) return none
  return limitsOf(principal, 'tokens', [organization.tokensPerMinute, key.tokensPerMinute])
}

function requestLimitsOf(principal: Principal): readonly Limit[] {
  const { organization, key } = principal.rates
  if (organization.requestsPerMinute === null && key.requestsPerMinute === null) return none
  return limitsOf(principal, 'requests', [organization.requestsPerMinute, key.requestsPerMinute])
}

function batchLimitsOf(principal: Principal): Limit[] {
  const { organization, key } = principal.rates
  return limitsOf(principal, 'batches', [organization.batchesPerMinute, key.batchesPerMinute])
}

/**
 * The limits that are set, the key's first: a request that the key's limit refuses must not use up the organization's
 * limit, which its other keys share.
 */
function limitsOf(
  { organizationId, keyId }: Principal,
  things: 'requests' | 'batches' | 'tokens',
  [ofOrganization, ofKey]: readonly [number | null, number | null],
): Limit[] {
  const limits: Limit[] = []
  const add = (kind: 'organization' | 'key', id: string, perMinute: number | null) => {
    if (perMinute === null) return
    limits.push({
      id: `${kind}:${id}:${things}`,
      subject: `this ${kind}`,
      things,
      source: `${kind}_${things}`,
      perMinute,
    })
  }
  add('key', keyId, ofKey)
  add('organization', organizationId, ofOrganization)
  return limits
}

function refusal({ subject, things, source, perMinute }: Limit, waitMs: number, clock: Clock): GatewayError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
  return new GatewayError(
    'rate_limit_exceeded',
    `Rate limit exceeded: ${subject} may ${things === 'tokens' ? 'use' : 'send'} ${perMinute} ${things} a minute. Try again in ${retryAfterSeconds} s.`,
    {
      retryAfterSeconds,
      rateLimit: { limit: perMinute, resetAtMs: clock.nowMs() + waitMs },
      metadata: { limit_source: source, limit_per_minute: perMinute },
    },
  )
}
