/** Under which name `usage_days` has what an organization spent. */
export function organizationSubject(organizationId: string): string {
  return `organization:${organizationId}`
}

/** Under which name `usage_days` has what a key spent. */
export function keySubject(keyId: string): string {
  return `key:${keyId}`
}

/**
 * A query of `day` and `cost_nanocredits` for everything an organization or a key used: days that were rolled up, and
 * the tail. Being one statement it sees both at one moment. `subject` and `id` are parameters, such as `$1`.
 */
export function spendingByDay(of: 'organization_id' | 'key_id', subject: string, id: string): string {
  return `select day, cost_nanocredits from usage_days where subject = ${subject}
    union all select hour / 24 as day, cost_nanocredits from usage_tail where ${of} = ${id}`
}
