import type { Database } from '../../storage/database.ts'
import { groupColumns, rollupColumns, usageGroup } from './rollup-repository.ts'

/** A row that breaks an invariant. */
export interface Violation {
  subject: string
  detail: string
}

/** The queries behind `checkInvariants`; each lists the rows that break one invariant. They scan tables: not for the hot path. */
export interface InvariantsRepository {
  listUnbalancedTransactions(limit: number): Promise<Violation[]>
  listOverdrawnLeases(limit: number): Promise<Violation[]>
  /** Usages that cost something without a matching capture, and captures without their usage. */
  listUnmatchedCharges(limit: number): Promise<Violation[]>
  /** Open leases with holds, and their owners. */
  listHeldLeases(limit: number): Promise<(Violation & { ownerId: string })[]>
  listMisgrantedBudgets(limit: number): Promise<Violation[]>
  listMisbalancedCredits(limit: number): Promise<Violation[]>
  /** Groups of usages within an hour, quarters and days, whose sum differs from the roll-up plus the tail. */
  listMisrolledUsage(limit: number): Promise<Violation[]>
  isOwnerDead(ownerId: string): Promise<boolean>
}

export function createInvariantsRepository(database: Database): InvariantsRepository {
  const list = (sql: string, limit: number): Promise<Violation[]> =>
    database.query<Violation>(`${sql} limit $1`, [limit])
  return {
    listUnbalancedTransactions: (limit) => list(unbalancedSql, limit),
    listOverdrawnLeases: (limit) => list(overdrawnSql, limit),
    listUnmatchedCharges: (limit) => list(unmatchedSql, limit),
    listHeldLeases: async (limit) => {
      const rows = await database.query<Violation & { owner_id: string }>(`${heldSql} limit $1`, [limit])
      return rows.map(({ subject, detail, owner_id }) => ({ subject, detail, ownerId: owner_id }))
    },
    listMisgrantedBudgets: (limit) => list(misgrantedSql, limit),
    listMisbalancedCredits: (limit) => list(misbalancedSql, limit),
    listMisrolledUsage: (limit) => list(misrolledSql, limit),
    isOwnerDead: (ownerId) => database.isOwnerDead(ownerId),
  }
}

const unbalancedSql = `select transaction_id as subject,
    'postings sum to ' || cast(cast(sum(amount_nanocredits) as bigint) as text) as detail
  from postings group by transaction_id having sum(amount_nanocredits) <> 0`

const overdrawnSql = `select lease_id as subject,
    'granted ' || cast(granted_nanocredits as text) || ', captured ' || cast(captured_nanocredits as text)
      || ', held ' || cast(held_nanocredits as text) as detail
  from leases
  where captured_nanocredits + held_nanocredits > granted_nanocredits or captured_nanocredits < 0
    or held_nanocredits < 0 or (state = 'closed' and granted_nanocredits <> 0)`

const unmatchedSql = `select generation_id as subject, 'no capture of its cost' as detail
  from usages where cost_nanocredits <> 0 and not exists (
    select 1 from postings where postings.day = usages.day and transaction_id = generation_id and kind = 'capture'
      and account = 'income:usage' and amount_nanocredits = cost_nanocredits)
  union all
  select transaction_id as subject, 'a capture without its usage' as detail
  from postings where kind = 'capture' and account = 'income:usage'
    and not exists (select 1 from usages where usages.day = postings.day and generation_id = transaction_id)`

const heldSql = `select lease_id as subject, owner_id, 'held ' || cast(held_nanocredits as text) as detail
  from leases where state <> 'closed' and held_nanocredits > 0`

const leasesGranted = `coalesce((select cast(sum(l.granted_nanocredits) as bigint) from leases l
  where l.budget_id = p.budget_id and l.state <> 'closed'), 0)`
const batchesGranted = `coalesce((select cast(sum(c.limit_nanocredits) as bigint) from budgets c
  where c.kind = 'batch' and c.closed = 0 and c.organization_id = p.organization_id
    and replace(c.parents_json, '"' || p.budget_id || '"', '') <> c.parents_json), 0)`

// A closed batch budget keeps its figures for the record; its leases are gone.
const misgrantedSql = `select subject, detail from (
    select p.budget_id as subject, 'granted ' || cast(p.granted_nanocredits as text) || ', accounted '
        || cast(p.spent_nanocredits + ${leasesGranted} + ${batchesGranted} as text) as detail,
      p.granted_nanocredits - p.spent_nanocredits - ${leasesGranted} - ${batchesGranted} as difference
    from budgets p
  ) accounts where difference <> 0`

const leasesCaptured = `coalesce((select cast(sum(l.captured_nanocredits) as bigint) from leases l
  where l.budget_id = p.budget_id and l.state <> 'closed'), 0)`
const batchesSpent = `coalesce((select cast(sum(c.spent_nanocredits + coalesce((select
    cast(sum(l.captured_nanocredits) as bigint) from leases l
    where l.budget_id = c.budget_id and l.state <> 'closed'), 0)) as bigint) from budgets c
  where c.kind = 'batch' and c.closed = 0 and c.organization_id = p.organization_id
    and replace(c.parents_json, '"' || p.budget_id || '"', '') <> c.parents_json), 0)`
const posted = `coalesce((select cast(sum(amount_nanocredits) as bigint) from postings
  where account = 'organization:' || p.organization_id), 0)`

// Only the balance of a prepaid account must match: a tracked account's captures do not touch its credits.
const misbalancedSql = `select subject, detail from (
    select p.organization_id as subject, 'balance ' || cast(p.limit_nanocredits - p.spent_nanocredits
        - ${leasesCaptured} - ${batchesSpent} as text) || ', postings ' || cast(${posted} as text) as detail,
      p.limit_nanocredits - p.spent_nanocredits - ${leasesCaptured} - ${batchesSpent} - ${posted} as difference
    from budgets p join organizations o on o.organization_id = p.organization_id
    where p.kind = 'credits' and o.account_mode = 'prepaid'
  ) balances where difference <> 0`

const groups = groupColumns.join(', ')
const quarterGroups = groupColumns
  .map((column) => (column === 'hour' ? 'quarter / 4 as hour' : column))
  .join(', ')
const measures = rollupColumns.slice(groupColumns.length)

// One statement, so that the comparison holds even while usage is captured and rolled up.
const misrolledSql = `select subject, detail from (
    select organization_id || ' ' || key_id || ' ' || model || ' ' || provider || ' hour ' || cast(hour as text) as subject,
      'usages exceed roll-ups and tail by ' || cast(cast(sum(cost_nanocredits) as bigint) as text) || ' nanocredits, '
        || cast(cast(sum(requests) as bigint) as text) || ' requests' as detail
    from (
      select ${usageGroup}, 1 as requests,
        coalesce(input_tokens, 0) as input_tokens, coalesce(output_tokens, 0) as output_tokens,
        coalesce(reasoning_tokens, 0) as reasoning_tokens, coalesce(audio_milliseconds, 0) as audio_milliseconds,
        coalesce(characters, 0) as characters, is_estimated as estimated_count, cost_nanocredits from usages
      union all select ${usageGroup}, 0, 0, 0, 0, 0, 0, 0,
        amount_nanocredits
        from postings join usages on usages.day = postings.day and generation_id = reference
        where account = 'income:usage' and (kind = 'refund' or kind = 'correction')
      union all select ${groups}, ${measures.map((column) => `-${column}`).join(', ')} from usage_tail
      union all select ${groups}, ${measures.map((column) => `-${column}`).join(', ')} from usage_rollups
    ) as parts group by ${groups} having ${measures.map((column) => `sum(${column}) <> 0`).join(' or ')}
    union all
    select subject || ' day ' || cast(day as text) as subject,
      'roll-ups exceed the day by ' || cast(cast(sum(cost_nanocredits) as bigint) as text) || ' nanocredits' as detail
    from (
      select 'organization:' || organization_id as subject, hour / 24 as day, cost_nanocredits from usage_rollups
      union all select 'key:' || key_id, hour / 24, cost_nanocredits from usage_rollups
      union all select subject, day, -cost_nanocredits from usage_days
    ) as days group by subject, day having sum(cost_nanocredits) <> 0
    union all
    select organization_id || ' ' || key_id || ' ' || model || ' ' || provider || ' hour ' || cast(hour as text) as subject,
      'the hour exceeds its quarters by ' || cast(cast(sum(cost_nanocredits) as bigint) as text) || ' nanocredits, '
        || cast(cast(sum(requests) as bigint) as text) || ' requests' as detail
    from (
      select ${groups}, ${measures.join(', ')} from usage_rollups
      union all select ${quarterGroups}, ${measures.map((column) => `-${column}`).join(', ')} from usage_quarters
    ) as quarters group by ${groups} having ${measures.map((column) => `sum(${column}) <> 0`).join(' or ')}
  ) as differences`
