import type { Policy, Rates } from '../canonical/principal.ts'
import { GatewayError } from '../core/errors.ts'
import { ruleChangeAttemptsMax } from '../core/limits/access.ts'
import { parsePolicy, renderPolicy } from './policy.ts'
import { parseRates, renderRates } from './rate-rules.ts'

/** The columns that hold rules, of an organization and of a key alike. */
export interface RuleColumns {
  policy_json: string
  rate_json: string
}

/** Rules to change; members left out stay. */
export interface RuleChanges {
  policy?: Partial<Policy>
  rates?: Partial<Rates>
}

/**
 * The columns to write so that `stored` becomes what is asked for; a column without a change is left out. Throws
 * `invalid_request` for rules that could not be read back: a row that nobody can read shuts everybody out.
 */
export function toRuleColumns(
  { policy, rates }: RuleChanges,
  stored: { policy: Policy; rates: Rates },
): Partial<RuleColumns> {
  const columns: Partial<RuleColumns> = {}
  if (policy) {
    columns.policy_json = renderPolicy({ ...stored.policy, ...policy })
    parsePolicy(JSON.parse(columns.policy_json))
  }
  if (rates) {
    columns.rate_json = renderRates({ ...stored.rates, ...rates })
    parseRates(JSON.parse(columns.rate_json))
  }
  return columns
}

/**
 * Rules are stored together, so two who change different ones at once would undo each other. An attempt reads, writes
 * only where nothing changed since, and gives undefined when something did; then it is made again. Throws `conflict`
 * when that happens too often.
 */
export async function untilUndisturbed<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let count = 0; count < ruleChangeAttemptsMax; count++) {
    const result = await attempt()
    if (result !== undefined) return result
  }
  throw new GatewayError('conflict', 'Somebody else keeps changing the same rules; try again in a moment.')
}
