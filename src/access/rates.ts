import type { Principal } from '../canonical/principal.ts'
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { databaseRateMax, rateLimitsMax } from '../core/limits/access.ts'
import type { RateRepository } from './rate-repository.ts'
import { createSharedRates } from './shared-rates.ts'

/** Decides whether a caller may make one more request a minute. */
export interface RateGate {
  /**
   * For an inference request: limits of the key, then of the organization, of tokens (where what earlier calls used has to run
   * off first) and of requests. Undefined at once when there are none.
   * Throws or rejects with `rate_limit_exceeded` that says which limit and when to come again.
   */
  admitRequest(principal: Principal): Promise<void> | undefined
  /** Counts the tokens of a live call once they are known, so that calls after it wait until they have run off. */
  spendTokens(principal: Principal, tokens: number): void
  /** For creating a batch, in the same way. */
  admitBatch(principal: Principal): Promise<void> | undefined
  /** Whether `admitBatch` would admit one now, with its refusals; nothing is used up. */
  lookAtBatch(principal: Principal): Promise<void> | undefined
  /** Undoes one `admitBatch`, of which no batch came. Resolves when others may have its place; never rejects. */
  giveBackBatch(principal: Principal): Promise<void>
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

/** Whether one is used up or only asked about. */
type Asking = 'take' | 'look'

/** A limit that said no. */
interface Refusal {
  /** As it was then. */
  perMinute: number
  /** Monotonic; when one more will be free. */
  untilMs: number
}

/** Small limits are decided by the database for all processes together, large ones by shares in each. */
export function createRateGate(options: RateGateOptions): RateGate {
  const { repository, clock } = options
  const shared = createSharedRates(options)
  /** Small limits that are used up: no use asking before one more will be free, unless the limit was changed. */
  const refusals = new Map<string, Refusal>()

  /** Takes one, or only looks whether there is one. */
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
      // Another batch may have been refused for the place that is free now.
      refusals.delete(id)
    } catch (failure) {
      options.onFailure?.(failure)
    }
  }

  function ask(limit: Limit, how: Asking): number | Promise<number> {
    // Tokens are counted after the call, so that no decision of the database's is waited for.
    if (limit.things !== 'tokens' && limit.perMinute <= databaseRateMax) return askDatabase(limit, how)
    return shared[how](limit.id, limit.perMinute)
  }

  /** Stays synchronous as long as every limit answers from memory. */
  function admit(limits: readonly Limit[], how: Asking): Promise<void> | undefined {
    for (const [index, limit] of limits.entries()) {
      const waitMs = ask(limit, how)
      if (typeof waitMs === 'number') {
        if (waitMs > 0) throw refusal(limit, waitMs, clock)
      } else {
        const rest = limits.slice(index + 1)
        return waitMs.then((ms) => {
          if (ms > 0) throw refusal(limit, ms, clock)
          return admit(rest, how)
        })
      }
    }
    return undefined
  }

  return {
    admitRequest(principal) {
      const waiting = admit(tokenLimitsOf(principal), 'look')
      const take = () => admit(requestLimitsOf(principal), 'take')
      return waiting ? waiting.then(take) : take()
    },
    spendTokens(principal, tokens) {
      for (const { id, perMinute } of tokenLimitsOf(principal)) shared.spend(id, perMinute, tokens)
    },
    admitBatch: (principal) => admit(batchLimitsOf(principal), 'take'),
    lookAtBatch: (principal) => admit(batchLimitsOf(principal), 'look'),
    giveBackBatch: (principal) => Promise.all(batchLimitsOf(principal).map(giveBack)).then(() => undefined),
    stop: () => shared.stop(),
  }
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
 * The limits that are set, of the key first: what it refuses must not use up what the organization's other keys share.
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
