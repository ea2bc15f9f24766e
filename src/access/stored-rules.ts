import type { Policy, Rates } from '../canonical/principal.ts'
import { GatewayError } from '../core/errors.ts'
import { parsePolicy, renderPolicy } from './policy.ts'
import { parseRates, renderRates } from './rate-rules.ts'

/** How often a change of stored rules is tried again after a concurrent change; operators are few. */
const ruleChangeAttemptsMax = 5

/** The columns with rules, which organizations and keys have alike. */
export interface RuleColumns {
  policy_json: string
  rate_json: string
}

/** Changes to rules; absent members stay as they are. */
export interface RuleChanges {
  policy?: Partial<Policy>
  rates?: Partial<Rates>
}

/**
 * The columns to write so that `stored` has the changes; unchanged columns are left out. Throws `invalid_request` for
 * rules that could not be read back, because an unreadable row would lock every caller out.
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
 * Rules are stored in one column, so two requests that change different rules at once would undo each other. An attempt
 * reads the rules, writes only if they have not changed since, and returns undefined if they have; then it is repeated.
 * Throws `conflict` when that happens too often.
 */
export async function untilUndisturbed<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let count = 0; count < ruleChangeAttemptsMax; count++) {
    const result = await attempt()
    if (result !== undefined) return result
  }
  throw new GatewayError('conflict', 'Somebody else keeps changing the same rules; try again in a moment.')
}
