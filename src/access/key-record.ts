import type { Policy, Rates } from '../canonical/principal.ts'
import type { KeyId, OrganizationId } from '../core/ids.ts'

/** A key as it is stored: everything but its secret. Times are epoch milliseconds. */
export interface KeyRecord {
  /** 64 hex digits, SHA-256 of the secret; the public name of the key. */
  keyHash: string
  keyId: KeyId
  organizationId: OrganizationId
  kind: 'inference' | 'management'
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
