import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { authenticationAddressesMax, authenticationFailuresPerMinuteMax } from '../core/limits.ts'

/**
 * Counts failed authentications per client address, so that guessing keys is slow; of IPv6 per network of 64 bits, since
 * whoever has one address there has all of them.
 */
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
      const count = counts.get(networkOf(address))
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
      const network = networkOf(address)
      const known = counts.get(network)
      if (known && known.untilMs > nowMs) {
        known.failures += 1
        return
      }
      counts.delete(network)
      for (const oldest of counts.keys()) {
        if (counts.size < authenticationAddressesMax) break
        counts.delete(oldest)
      }
      counts.set(network, { failures: 1, untilMs: nowMs + minuteMs })
    },
  }
}

/** The first four groups of an IPv6 address; any other address as it is. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  const [front = '', back] = address.split('::')
  const groups = front === '' ? [] : front.split(':')
  const tail = back === undefined || back === '' ? [] : back.split(':')
  const gap =
    back === undefined ? [] : Array.from({ length: Math.max(0, 8 - groups.length - tail.length) }, () => '0')
  return [...groups, ...gap, ...tail]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
}
