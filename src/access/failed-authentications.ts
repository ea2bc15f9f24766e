import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { authenticationAddressesMax, authenticationFailuresPerMinuteMax } from '../core/limits.ts'

/** Counts failed authentications per client address, so that guessing keys is slow. */
export interface FailedAuthentications {
  /** The refusal for an address that failed too often within a minute, or null. An empty address is unknown and free. */
  refusalFor(address: string): GatewayError | null
  record(address: string): void
}

interface Count {
  failures: number
  /** Monotonic milliseconds; the count starts anew then. */
  untilMs: number
}

const minuteMs = 60_000

/** Remembers a bounded number of addresses; the one counted longest ago gives way. */
export function createFailedAuthentications(clock: Clock): FailedAuthentications {
  const counts = new Map<string, Count>()
  return {
    refusalFor(address) {
      const count = counts.get(address)
      if (!count || count.failures < authenticationFailuresPerMinuteMax) return null
      const restMs = count.untilMs - clock.monotonicMs()
      if (restMs <= 0) return null
      return new GatewayError(
        'rate_limit_exceeded',
        'Too many failed authentications from this address. Wait a minute.',
        {
          retryAfterSeconds: Math.ceil(restMs / 1000),
        },
      )
    },
    record(address) {
      if (address === '') return
      const nowMs = clock.monotonicMs()
      const known = counts.get(address)
      if (known && known.untilMs > nowMs) {
        known.failures += 1
        return
      }
      counts.delete(address)
      for (const oldest of counts.keys()) {
        if (counts.size < authenticationAddressesMax) break
        counts.delete(oldest)
      }
      counts.set(address, { failures: 1, untilMs: nowMs + minuteMs })
    },
  }
}
