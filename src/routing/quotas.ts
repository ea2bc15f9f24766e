import type { Endpoint, Quota } from '../canonical/endpoint.ts'

/**
 * Rates that all processes share; `burstMs` of a rate may come at once. `access` has them, for the rates of keys, and knows
 * nothing of deployments.
 */
export interface QuotaRates {
  /** Milliseconds to wait; 0 when one was taken. A promise only for a rate that is new to this process. */
  take(rateId: string, perMinute: number, burstMs: number): number | Promise<number>
  /** What `take` would say of so many at once; takes nothing. */
  look(rateId: string, perMinute: number, burstMs: number, count: number): number | Promise<number>
  /** So many were refused: they count when the processes share the rate anew. */
  want(rateId: string, perMinute: number, count: number): void
  /** Uses up so many, even more than are free; fewer than none gives them back. */
  spend(rateId: string, perMinute: number, count: number): void
}

/** The requests and tokens a minute of endpoints whose operator set a quota, for them or for their whole deployment. */
export interface Quotas {
  /**
   * Milliseconds until there is room for a call of about so many tokens; 0 when there is, and the call then counts. A promise
   * only for the first calls of a process.
   */
  take(endpoint: Endpoint, tokens: number): number | Promise<number>
  /** A call that was counted with `expected` tokens has used so many: 0 for one that the provider refused. */
  correct(endpoint: Endpoint, expected: number, used: number): void
}

/** Whether calls to an endpoint count at all. */
export function hasQuota({ quota, deployment }: Endpoint): boolean {
  return quota !== undefined || deployment.quota !== undefined
}

/** The part of a quota that may come at once, and at least so many. */
const burstPart = 0.04
const burstMin = 2
/**
 * The part of a quota that is used at an even pace. With the burst it is less than the whole, because a provider's minutes
 * begin at other times, calls arrive a little later than they left, and processes share a quota by what they needed a second ago.
 */
const pacePart = 0.92

export function createQuotas(rates: QuotaRates): Quotas {
  function takeRequest({ id, quota }: Counted, tokens: number): number | Promise<number> {
    const { requestsPerMinute, tokensPerMinute } = quota
    const count = (waitMs: number): number => {
      if (waitMs === 0 && tokensPerMinute !== null)
        rates.spend(`${id}:tokens`, paceOf(tokensPerMinute).perMinute, tokens)
      return waitMs
    }
    if (requestsPerMinute === null) return count(0)
    const { perMinute, burstMs } = paceOf(requestsPerMinute)
    const waitMs = rates.take(`${id}:requests`, perMinute, burstMs)
    return typeof waitMs === 'number' ? count(waitMs) : waitMs.then(count)
  }

  return {
    take(endpoint, tokens) {
      const counted = countedAt(endpoint)
      const perMinuteMax = counted?.quota.tokensPerMinute ?? null
      if (counted === null) return 0
      if (perMinuteMax === null) return takeRequest(counted, tokens)
      const { perMinute, burstMs } = paceOf(perMinuteMax)
      const counting = (waitMs: number) => {
        if (waitMs === 0) return takeRequest(counted, tokens)
        rates.want(`${counted.id}:tokens`, perMinute, tokens)
        return waitMs
      }
      const look = () => rates.look(`${counted.id}:tokens`, perMinute, burstMs, tokens)
      const waitMs = look()
      if (typeof waitMs === 'number') return counting(waitMs)
      return waitMs.then(() => {
        // Many calls may have waited for the same first look: each looks again at what those before it have used.
        const again = look()
        return typeof again === 'number' ? counting(again) : again.then(counting)
      })
    },
    correct(endpoint, expected, used) {
      const counted = countedAt(endpoint)
      const perMinute = counted?.quota.tokensPerMinute ?? null
      if (counted !== null && perMinute !== null && used !== expected)
        rates.spend(`${counted.id}:tokens`, paceOf(perMinute).perMinute, used - expected)
    },
  }
}

/** What a call counts at: a quota, and the name of its rates. */
interface Counted {
  id: string
  quota: Quota
}

function countedAt({ id, quota, deployment }: Endpoint): Counted | null {
  if (quota !== undefined) return { id: `endpoint:${id}`, quota }
  return deployment.quota === undefined
    ? null
    : { id: `deployment:${deployment.id}`, quota: deployment.quota }
}

/** So that no minute, wherever it begins, has more than the quota. */
function paceOf(quota: number): { perMinute: number; burstMs: number } {
  if (quota === 1) return { perMinute: 1, burstMs: 0 }
  const burst = Math.min(Math.max(burstMin, Math.floor(quota * burstPart)), Math.max(1, quota / 2))
  const perMinute = Math.max(quota / 2, Math.min(quota - burst, quota * pacePart))
  return { perMinute, burstMs: (burst / perMinute) * 60_000 }
}
