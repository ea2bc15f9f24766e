import type { Database, SqlValue } from '../../storage/database.ts'
import type { BucketRun } from './time-buckets.ts'

/** Usage of one end user in one bucket. */
export interface UserSums {
  bucket: number
  /** Null: calls that named no user, or of a day before the exact ones, of a user who was not among its largest. */
  userId: string | null
  requests: number
  inputTokens: number
  outputTokens: number
  costNanocredits: bigint
}

/** Reads usage by end user, aside, and keeps the largest of each day. All methods reject with `storage_unavailable`. */
export interface UsersRepository {
  /** From the usage rows themselves, less refunds; for spans that begin lately. */
  sumExact(organizationId: string, runs: readonly BucketRun[]): Promise<UserSums[]>
  /** From what was kept of each day (UTC). */
  sumDays(organizationId: string, days: readonly { day: number; bucket: number }[]): Promise<UserSums[]>
  /** The organizations with usage on this day that has not been kept yet; at most `limit`. */
  listUnkept(day: number, limit: number): Promise<string[]>
  /** Keeps the largest users of a day, and the rest in one row. Doing it again changes nothing. */
  keepDay(organizationId: string, day: number, largest: number): Promise<void>
}

const dayMs = 86_400_000
const quarterMs = 900_000

/** Usage and refunds of a span of time as parts of one sum. Parameters: $1 organization, then the times. */
function parts(from: string, to: string, fromDay: string, toDay: string): string {
  return `select user_id, created_at_ms, 1 as requests, coalesce(input_tokens, 0) as input_tokens,
      coalesce(output_tokens, 0) as output_tokens, cost_nanocredits
    from usages where organization_id = $1 and created_at_ms >= ${from} and created_at_ms < ${to}
    union all
    select usages.user_id, usages.created_at_ms, 0, 0, 0, -refunds.amount_nanocredits
    from postings as refunds join usages on usages.day = refunds.day and usages.generation_id = refunds.reference
    where (refunds.kind = 'refund' or refunds.kind = 'correction') and refunds.account = 'organization:' || $1
      and refunds.day >= ${fromDay} and refunds.day <= ${toDay}
      and usages.created_at_ms >= ${from} and usages.created_at_ms < ${to}`
}

const sums = `cast(sum(requests) as bigint) as requests, cast(sum(input_tokens) as bigint) as input_tokens,
  cast(sum(output_tokens) as bigint) as output_tokens, cast(sum(cost_nanocredits) as bigint) as cost_nanocredits`

export function createUsersRepository(database: Database): UsersRepository {
  return {
    async sumExact(organizationId, runs) {
      const found: UserSums[] = []
      for (const { first, start, length, count } of runs) {
        const fromMs = start * quarterMs
        const toMs = (start + length * count) * quarterMs
        const days = [Math.floor(fromMs / dayMs), Math.floor(toMs / dayMs)]
        const rows = await database.queryAside<UserRow>(
          `select (created_at_ms / ${quarterMs} - ${start}) / ${length} + ${first} as bucket, user_id, ${sums}
            from (${parts('$2', '$3', '$4', '$5')}) as parts
            group by (created_at_ms / ${quarterMs} - ${start}) / ${length} + ${first}, user_id`,
          [organizationId, fromMs, toMs, ...days],
        )
        found.push(...rows.map(toUserSums))
      }
      return found
    },
    async sumDays(organizationId, days) {
      if (days.length === 0) return []
      const bucketOf = new Map(days.map(({ day, bucket }) => [day, bucket]))
      const params: SqlValue[] = [organizationId, ...days.map(({ day }) => day)]
      const rows = await database.queryAside<Omit<UserRow, 'bucket'> & { day: number }>(
        `select day, user_id, requests, input_tokens, output_tokens, cost_nanocredits from usage_user_days
          where organization_id = $1 and day in (${days.map((_, index) => `$${index + 2}`).join(', ')})`,
        params,
      )
      return rows.map((row) => toUserSums({ ...row, bucket: bucketOf.get(row.day) ?? 0 }))
    },
    async listUnkept(day, limit) {
      const rows = await database.queryAside<{ organization_id: string }>(
        `select organization_id from organizations o where exists (
            select 1 from usages where usages.organization_id = o.organization_id
              and created_at_ms >= $1 and created_at_ms < $2)
          and not exists (select 1 from usage_user_days d where d.organization_id = o.organization_id and d.day = $3)
          limit $4`,
        [day * dayMs, (day + 1) * dayMs, day, limit],
      )
      return rows.map((row) => row.organization_id)
    },
    keepDay: (organizationId, day, largest) => keepDay(database, { organizationId, day, largest }),
  }
}

async function keepDay(
  database: Database,
  { organizationId, day, largest }: { organizationId: string; day: number; largest: number },
): Promise<void> {
  const rows = await database.queryAside<Omit<UserRow, 'bucket'>>(
    `select user_id, ${sums} from (${parts('$2', '$3', '$4', '$4')}) as parts where user_id is not null
          group by user_id order by cost_nanocredits desc, user_id limit $5`,
    [organizationId, day * dayMs, (day + 1) * dayMs, day, largest],
  )
  const [all] = await database.queryAside<Omit<UserRow, 'bucket'>>(
    `select null as user_id, ${sums} from (${parts('$2', '$3', '$4', '$4')}) as parts`,
    [organizationId, day * dayMs, (day + 1) * dayMs, day],
  )
  if (!all) return
  const rest = rows.reduce(less, all)
  await database.commit({
    name: 'users.keep',
    statements: [
      {
        sql: `insert into usage_user_days (organization_id, day, place, user_id, requests, input_tokens,
                output_tokens, cost_nanocredits) values ($1, $2, $3, $4, $5, $6, $7, $8)
              on conflict (organization_id, day, place) do nothing`,
        rows: [rest, ...rows].map((row, place) => [
          organizationId,
          day,
          place,
          row.user_id,
          row.requests,
          row.input_tokens,
          row.output_tokens,
          row.cost_nanocredits,
        ]),
      },
    ],
  })
}

interface UserRow {
  bucket: number
  user_id: string | null
  requests: number
  input_tokens: number
  output_tokens: number
  cost_nanocredits: bigint
}

function less(rest: Omit<UserRow, 'bucket'>, row: Omit<UserRow, 'bucket'>): Omit<UserRow, 'bucket'> {
  return {
    user_id: null,
    requests: rest.requests - row.requests,
    input_tokens: rest.input_tokens - row.input_tokens,
    output_tokens: rest.output_tokens - row.output_tokens,
    cost_nanocredits: rest.cost_nanocredits - row.cost_nanocredits,
  }
}

function toUserSums(row: UserRow): UserSums {
  return {
    bucket: row.bucket,
    userId: row.user_id,
    requests: row.requests,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    costNanocredits: row.cost_nanocredits,
  }
}
