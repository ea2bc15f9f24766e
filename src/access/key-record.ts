import type { Policy, Rates } from '../canonical/principal.ts'
import type { KeyId, OrganizationId } from '../core/ids.ts'

/** A key as it is stored: everything but its secret. Times are epoch milliseconds. */
export interface KeyRecord {
  /** 64 hex digits, SHA-256 of the secret; the public name of the key. */
  keyHash: string
  keyId: KeyId
  organizationId: OrganizationId
  /** `playground`: pays for the calls of a signed-in person. Nobody knows its secret, and no list has it. */
  kind: 'inference' | 'management' | 'playground'
  name: string
  /** The secret with its middle hidden. */
  label: string
  disabled: boolean
  /** Spending limit; null means none. */
  limitNanocredits: bigint | null
  limitReset: 'daily' | 'weekly' | 'monthly' | null
  /** When the limit was set or its reset was changed; changing only the amount leaves it. */
  limitSinceMs: number
  policy: Policy
  rates: Rates
  expiresAtMs: number | null
  createdAtMs: number
  updatedAtMs: number | null
}

/** Changes to a key. Absent members stay as they are, also those inside of policy and rates. */
export interface KeyChanges {
  name?: string
  disabled?: boolean
  limitNanocredits?: bigint | null
  limitReset?: KeyRecord['limitReset']
  /** When the key expires, epoch milliseconds by the processes' clocks; null for never. */
  expiresAtMs?: number | null
  policy?: Partial<Policy>
  rates?: Partial<Rates>
}

/**
 * The limit that would have no effect: `management` for any limit of a key that makes no calls, `reset` for a reset without a
 * limit. Null when there is none.
 */
export function idleLimitOf(
  { limitNanocredits, limitReset = null, rates }: KeyChanges,
  key: Pick<KeyRecord, 'kind' | 'limitNanocredits'>,
): 'management' | 'reset' | null {
  const limit = limitNanocredits === undefined ? key.limitNanocredits : limitNanocredits
  if (key.kind === 'management') {
    const limits = [limitNanocredits, limitReset, ...Object.values(rates ?? {})]
    return limits.every((each) => each === null || each === undefined) ? null : 'management'
  }
  return limitReset !== null && limit === null ? 'reset' : null
}
