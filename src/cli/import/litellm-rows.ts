import { asObject } from '../../json/values.ts'
import { parseCredits } from '../../core/money.ts'

/** A spending limit as a key has it here. */
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

/** What is left of a budget that is never renewed; the whole of one that is, which begins anew here. */
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
    // More than there can be.
    return 9_000_000_000_000_000_000n
  }
}

/** Whether a column has a value that means anything. */
export function saysSomething(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return false
  if (Array.isArray(value)) return value.length > 0
  return typeof value !== 'object' || Object.keys(asObject(value)).length > 0
}

/** A text that is not empty. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** The texts of a list. */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** A budget: null for none or an endless one. One that is no amount is 0, so that nobody may spend what nobody meant. */
export function budgetOf(value: unknown): number | null {
  if (value === null || value === undefined || value === 'Infinity') return null
  return numberOf(value) ?? 0
}

/** What was spent; more than there can be where the column has no number, as `Infinity` and `NaN` of PostgreSQL are none. */
export function spentOf(value: unknown): number {
  if (value === null || value === undefined || value === '-Infinity') return 0
  return numberOf(value) ?? Number.POSITIVE_INFINITY
}

/** A number that is one. */
export function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
