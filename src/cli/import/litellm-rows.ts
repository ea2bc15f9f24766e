import { finiteNumberOrNull, recordOrEmpty } from '../../json/values.ts'
import { parseCredits } from '../../core/money.ts'

/** A spending limit, in the form of this gateway's keys. */
export interface RowLimit {
  amount: bigint | null
  reset: 'daily' | 'weekly' | 'monthly' | null
}

const resets: Readonly<Record<string, RowLimit['reset']>> = {
  '24h': 'daily',
  '1d': 'daily',
  '7d': 'weekly',
  '1w': 'weekly',
  '30d': 'monthly',
  '1mo': 'monthly',
}

/** The rest of a budget that is never renewed; the whole of a renewed one, because it starts anew here. */
export function limitWith({
  most,
  spent,
  duration,
}: {
  most: number
  spent: number
  duration: string | null
}): RowLimit {
  const reset = duration === null ? null : (resets[duration] ?? null)
  const whole = creditsOf(most)
  const left = whole - creditsOf(spent)
  if (reset !== null) return { amount: whole, reset }
  return { amount: left > 0n ? left : 0n, reset: null }
}

function creditsOf(amount: number): bigint {
  try {
    return parseCredits(String(Math.max(0, amount)))
  } catch {
    // Larger than any possible amount.
    return 9_000_000_000_000_000_000n
  }
}

/** Whether a column has a meaningful value. */
export function saysSomething(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return false
  if (Array.isArray(value)) return value.length > 0
  return typeof value !== 'object' || Object.keys(recordOrEmpty(value)).length > 0
}

/** A budget; null for none or an unlimited one. An invalid amount becomes 0, so that no caller can spend by mistake. */
export function budgetOf(value: unknown): number | null {
  if (value === null || value === undefined || value === 'Infinity') return null
  return finiteNumberOrNull(value) ?? 0
}

/** The spent amount. When the column is no number, such as PostgreSQL's `Infinity` or `NaN`, it is more than any budget. */
export function spentOf(value: unknown): number {
  if (value === null || value === undefined || value === '-Infinity') return 0
  return finiteNumberOrNull(value) ?? Number.POSITIVE_INFINITY
}
