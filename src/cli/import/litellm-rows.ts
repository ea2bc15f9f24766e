import { finiteNumberOrNull, recordOrEmpty } from '../../json/values.ts'
import { formatCredits } from '../../core/money.ts'
import { scaled } from './litellm-values.ts'

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

/**
 * The rest of a budget that is never renewed; the whole of a renewed one, because it starts anew here. Nothing is left when
 * the spent amount is no number, and that is never renewed.
 */
export function limitWith({
  most,
  spent,
  duration,
}: {
  most: number
  spent: number
  duration: string | null
}): RowLimit {
  if (!Number.isFinite(spent)) return { amount: 0n, reset: null }
  const reset = duration === null ? null : (resets[duration] ?? null)
  const whole = creditsOf(most)
  if (reset !== null) return { amount: whole, reset }
  const left = whole - creditsOf(spent)
  return { amount: left > 0n ? left : 0n, reset: null }
}

/** Credits are counted in billionths. */
const creditDigits = 9
/** The largest limit that a key can be given. */
const limitMax = 9_000_000_000

/** Whole nanocredits, rounded down, from 0 to the largest amount. */
function creditsOf(amount: number): bigint {
  if (amount <= 0) return 0n
  const [whole = '0'] = (scaled(String(Math.min(limitMax, amount)), creditDigits) ?? '0').split('.')
  return BigInt(whole)
}

/** What is said of a budget that is another one here; null when it is the same. */
export function budgetChange(value: unknown, most: number): string | null {
  const carried = creditsOf(most)
  const isSame = typeof value !== 'string' && Number(formatCredits(carried)) === most
  return isSame ? null : `max_budget: is ${formatCredits(carried)} here, and ${digitsOf(value)} in LiteLLM`
}

/** A number as LiteLLM's database has it, with all its digits. */
export function digitsOf(value: unknown): string {
  return typeof value === 'bigint' || typeof value === 'number' ? String(value) : JSON.stringify(value)
}

/** A number of a row, which is a bigint when it is larger than JavaScript's numbers are exact; null for another value. */
export function numberIn(value: unknown): number | null {
  return typeof value === 'bigint' ? Number(value) : finiteNumberOrNull(value)
}

/** Whether a column has a meaningful value. */
export function saysSomething(value: unknown): boolean {
  if (value === null || value === undefined || value === '' || value === false) return false
  if (Array.isArray(value)) return value.length > 0
  return typeof value !== 'object' || Object.keys(recordOrEmpty(value)).length > 0
}

/** A budget; null for none or an unlimited one. An invalid amount becomes 0, so that no caller can spend by mistake. */
export function budgetOf(value: unknown): number | null {
  if (value === null || value === undefined || value === 'Infinity') return null
  return numberIn(value) ?? 0
}

/** The spent amount. When the column is no number, such as PostgreSQL's `Infinity` or `NaN`, it is more than any budget. */
export function spentOf(value: unknown): number {
  if (value === null || value === undefined || value === '-Infinity') return 0
  return numberIn(value) ?? Number.POSITIVE_INFINITY
}
