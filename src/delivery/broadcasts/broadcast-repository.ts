import type { Database, Row, Statement } from '../../storage/database.ts'
import { type BroadcastCommitPoint, broadcastCommitPoints } from './broadcast-commit-points.ts'

/** The guard that fails when another process has leased the destination since. */
const leaseGuard = 'broadcast_lease'

/** The right to tell a destination something, which one process has at a time. */
export interface DestinationLease {
  readonly destination: string
  readonly epoch: number
  /** Rows of one post at most, after the receiver refused larger ones; null for the usual number. */
  readonly groupMax: number | null
  /** For how long its posts have failed; null when the last one was taken. */
  readonly failingMs: number | null
}

/** A destination that may be leased. */
export interface DueDestination {
  readonly destination: string
  /** A process that has leased it and is known to be dead; null when nobody has it. */
  readonly deadOwner: string | null
}

/** A generation that waits, with its JSON. */
export interface WaitingGeneration {
  readonly generationId: string
  readonly createdAtMs: number
  readonly payload: string
}

/** What became of a post. */
export interface PostOutcome {
  /** Rows that go: the destination has them. */
  readonly sent: readonly string[]
  /** Rows that are given up, and stay until an operator asks for them again or they are too old. */
  readonly failed: readonly string[]
  /** Whatever has waited for longer is given up too; null for nothing. */
  readonly giveUpAfterMs: number | null
  readonly status: number | null
  /** Why the post was not taken; null when it was. */
  readonly problem: string | null
  /** Until the next post; 0 for at once. */
  readonly waitMs: number
  readonly groupMax: number | null
  /** How long the lease goes on from now; 0 gives it back. */
  readonly leaseMs: number
}

/** How a destination fares, for operators and metrics. Times are Unix milliseconds by the database's clock. */
export interface DestinationState {
  readonly destination: string
  readonly waiting: number
  readonly oldestAtMs: number | null
  readonly kept: number
  readonly failingSinceMs: number | null
  readonly nextTryMs: number
  readonly status: number | null
  readonly problem: string | null
  /** Since the destination was first used: generations taken, given up after a day, and dropped because too many waited. */
  readonly sent: number
  readonly failed: number
  readonly dropped: number
}

/** Reads and units of the tables `broadcasts` and `broadcast_destinations`. */
export interface BroadcastRepository {
  /** Those of these destinations for which something waits, that are due, and that no living process has. */
  listDue(destinations: readonly string[]): Promise<DueDestination[]>
  /** Leases a destination; null when another process has it or it is not due. */
  claim(due: DueDestination, leaseMs: number): Promise<DestinationLease | null>
  /** The oldest generations that wait. */
  listWaiting(destination: string, limit: number): Promise<WaitingGeneration[]>
  /** Notes a post; false when another process has leased the destination since, and then nothing is noted. */
  record(lease: DestinationLease, outcome: PostOutcome): Promise<boolean>
  /** Drops what waits beyond `waitingMax` rows, and what is older than `keptMs`; resolves with how many were dropped. */
  trim(destination: string, bounds: { waitingMax: number; keptMs: number }): Promise<number>
  /** Removes rows of destinations that nobody configures any more, when they are older than this. */
  trimForgotten(destinations: readonly string[], keptMs: number): Promise<void>
  /** Makes what was given up wait again, and the destination due now; resolves with how many. */
  again(destination: string): Promise<number>
  /** Every destination that has rows or was used, by name. */
  listStates(): Promise<DestinationState[]>
}

/** The statement that leaves these generations for their destinations; it belongs into the unit of their captures. */
export function insertBroadcasts(
  rows: readonly (readonly [destination: string, generationId: string, payload: string])[],
): { sql: string; rows: readonly (readonly string[])[] } {
  return {
    sql: `insert into broadcasts (destination, generation_id, state, created_at_ms, payload_json)
      values ($1, $2, 'waiting', now_ms(), $3)`,
    rows,
  }
}

type Commit = (name: BroadcastCommitPoint, statements: readonly Statement[]) => Promise<Row[][]>

export function createBroadcastRepository(database: Database): BroadcastRepository {
  const commit: Commit = (name, statements) => database.commit({ name, statements })
  return {
    ...forTelling(database, commit),
    ...forRecords(database, commit),
    ...forTrimming(database, commit),
    ...forOperators(database, commit),
  }
}

function forTelling(
  database: Database,
  commit: Commit,
): Pick<BroadcastRepository, 'listDue' | 'claim' | 'listWaiting'> {
  return {
    async listDue(destinations) {
      if (destinations.length === 0) return []
      const rows = await database.query<{ destination: string; owner: string | null }>(
        destinations.map((_, index) => dueSql(`cast($${index + 1} as text)`)).join(' union all '),
        destinations,
      )
      const due: DueDestination[] = []
      for (const { destination, owner } of rows) {
        const isFree = owner === null || (owner !== database.ownerId && (await database.isOwnerDead(owner)))
        if (isFree) due.push({ destination, deadOwner: owner })
      }
      return due
    },
    async claim({ destination, deadOwner }, leaseMs) {
      const [, rows = []] = await commit(broadcastCommitPoints.claim, [
        {
          sql: `insert into broadcast_destinations (destination) values ($1) on conflict (destination) do nothing`,
          params: [destination],
        },
        {
          sql: `update broadcast_destinations set epoch = epoch + 1, owner_id = $1,
              lease_until_ms = now_ms() + cast($2 as bigint)
            where destination = $3 and due_at_ms <= now_ms()
              and (lease_until_ms <= now_ms() or owner_id = cast($4 as text))
            returning epoch, group_max, now_ms() - failing_since_ms as failing_ms`,
          params: [database.ownerId, leaseMs, destination, deadOwner],
        },
      ])
      const [row] = rows
      if (row === undefined) return null
      return {
        destination,
        epoch: Number(row['epoch']),
        groupMax: numberOrNull(row['group_max']),
        failingMs: numberOrNull(row['failing_ms']),
      }
    },
    async listWaiting(destination, limit) {
      const rows = await database.query<{
        generation_id: string
        created_at_ms: number
        payload_json: string
      }>(
        `select generation_id, created_at_ms, payload_json from broadcasts
         where destination = $1 and state = 'waiting' order by created_at_ms, generation_id limit $2`,
        [destination, limit],
      )
      return rows.map((row) => ({
        generationId: row.generation_id,
        createdAtMs: row.created_at_ms,
        payload: row.payload_json,
      }))
    },
  }
}

/** A row for a destination that is due and has something to be told. */
function dueSql(name: string): string {
  return `select ${name} as destination,
      (select owner_id from broadcast_destinations where destination = ${name} and lease_until_ms > now_ms()) as owner
    where exists (select 1 from broadcasts where destination = ${name} and state = 'waiting')
      and not exists (select 1 from broadcast_destinations where destination = ${name} and due_at_ms > now_ms())`
}

function forRecords(database: Database, commit: Commit): Pick<BroadcastRepository, 'record'> {
  return {
    async record({ destination, epoch }, outcome) {
      const { sent, failed, giveUpAfterMs, status, problem, waitMs, groupMax, leaseMs } = outcome
      const isTaken = problem === null
      try {
        await commit(broadcastCommitPoints.record, [
          {
            sql: `update broadcast_destinations set
                lease_until_ms = case when cast($1 as bigint) = 0 then 0 else now_ms() + cast($1 as bigint) end,
                due_at_ms = now_ms() + cast($2 as bigint), status = cast($3 as bigint), problem = cast($4 as text),
                failing_since_ms = ${isTaken ? 'null' : 'coalesce(failing_since_ms, now_ms())'},
                group_max = cast($5 as bigint), sent = sent + cast($6 as bigint), failed = failed + cast($7 as bigint)
              where destination = $8 and epoch = $9 and owner_id = $10`,
            params: [
              leaseMs,
              waitMs,
              status,
              problem,
              groupMax,
              sent.length,
              failed.length,
              destination,
              epoch,
              database.ownerId,
            ],
            expect: 1,
            guard: leaseGuard,
          },
          ...inGroups(sent).map((ids) => ({
            sql: `delete from broadcasts where destination = $1 and generation_id in (${placeholders(ids)})`,
            params: [destination, ...ids],
          })),
          ...inGroups(failed).map((ids) => ({
            sql: `update broadcasts set state = 'failed' where destination = $1 and generation_id in (${placeholders(ids)})`,
            params: [destination, ...ids],
          })),
          ...(giveUpAfterMs === null ? [] : giveUp(destination, giveUpAfterMs)),
        ])
        return true
      } catch (error) {
        if (error instanceof Error && 'guard' in error && error.guard === leaseGuard) return false
        throw error
      }
    },
  }
}

/** Gives up what has waited for longer, and counts it. */
function giveUp(destination: string, afterMs: number): Statement[] {
  const old = `destination = $1 and state = 'waiting' and created_at_ms < now_ms() - cast($2 as bigint)`
  return [
    {
      sql: `update broadcast_destinations set failed = failed + (select count(*) from broadcasts where ${old})
        where destination = $1`,
      params: [destination, afterMs],
    },
    { sql: `update broadcasts set state = 'failed' where ${old}`, params: [destination, afterMs] },
  ]
}

function forTrimming(
  database: Database,
  commit: Commit,
): Pick<BroadcastRepository, 'trim' | 'trimForgotten'> {
  return {
    async trim(destination, { waitingMax, keptMs }) {
      const doomed = await database.query<{ created_at_ms: number; generation_id: string }>(
        `select created_at_ms, generation_id from broadcasts where destination = $1 and state = 'waiting'
         order by created_at_ms desc, generation_id desc limit 1 offset $2`,
        [destination, waitingMax],
      )
      const [oldest] = await database.query<{ oldest: number | null; now: number }>(
        `select (select min(created_at_ms) from broadcasts where destination = $1 and state = 'failed') as oldest,
           now_ms() as now`,
        [destination],
      )
      const isOld = typeof oldest?.oldest === 'number' && oldest.oldest < oldest.now - keptMs
      const [first] = doomed
      if (first === undefined && !isOld) return 0
      const surplus = `destination = $1 and state = 'waiting' and (created_at_ms < cast($2 as bigint)
        or (created_at_ms = cast($2 as bigint) and generation_id <= cast($3 as text)))`
      const last = [first?.created_at_ms ?? -1, first?.generation_id ?? '']
      const [, , , dropped = []] = await commit(broadcastCommitPoints.trim, [
        ...lockDestination(destination),
        {
          sql: `update broadcast_destinations set dropped = dropped + (select count(*) from broadcasts where ${surplus})
            where destination = $1`,
          params: [destination, ...last],
        },
        {
          sql: `delete from broadcasts where ${surplus} returning generation_id`,
          params: [destination, ...last],
        },
        {
          sql: `delete from broadcasts where destination = $1 and state = 'failed'
            and created_at_ms < now_ms() - cast($2 as bigint)`,
          params: [destination, keptMs],
        },
      ])
      return dropped.length
    },
    async trimForgotten(destinations, keptMs) {
      const names = destinations.map((_, index) => `$${index + 2}`).join(', ')
      const others = destinations.length === 0 ? '' : `destination not in (${names}) and`
      const [found] = await database.query(
        `select 1 as found from broadcasts where ${others} created_at_ms < now_ms() - cast($1 as bigint) limit 1`,
        [keptMs, ...destinations],
      )
      if (found === undefined) return
      await commit(broadcastCommitPoints.trim, [
        {
          sql: `delete from broadcasts where ${others} created_at_ms < now_ms() - cast($1 as bigint)`,
          params: [keptMs, ...destinations],
        },
      ])
    },
  }
}

function forOperators(database: Database, commit: Commit): Pick<BroadcastRepository, 'again' | 'listStates'> {
  return {
    async again(destination) {
      const [rows = []] = await commit(broadcastCommitPoints.again, [
        {
          sql: `update broadcasts set state = 'waiting', created_at_ms = now_ms()
            where destination = $1 and state = 'failed' returning generation_id`,
          params: [destination],
        },
        {
          sql: `update broadcast_destinations set due_at_ms = now_ms() where destination = $1`,
          params: [destination],
        },
      ])
      return rows.length
    },
    async listStates() {
      const rows = await database.query(
        `select names.destination as destination,
           (select count(*) from broadcasts where destination = names.destination and state = 'waiting') as waiting,
           (select min(created_at_ms) from broadcasts where destination = names.destination and state = 'waiting') as oldest,
           (select count(*) from broadcasts where destination = names.destination and state = 'failed') as kept,
           failing_since_ms, coalesce(due_at_ms, 0) as due_at_ms, status, problem,
           coalesce(sent, 0) as sent, coalesce(failed, 0) as failed, coalesce(dropped, 0) as dropped
         from (select destination from broadcast_destinations union select distinct destination from broadcasts) names
         left join broadcast_destinations on broadcast_destinations.destination = names.destination
         order by names.destination limit 100`,
      )
      return rows.map(toState)
    },
  }
}

/** Makes units on one destination wait for each other, so that each counts what it removes itself. */
function lockDestination(destination: string): Statement[] {
  return [
    {
      sql: `insert into broadcast_destinations (destination) values ($1) on conflict (destination) do nothing`,
      params: [destination],
    },
    {
      sql: `update broadcast_destinations set epoch = epoch where destination = $1`,
      params: [destination],
    },
  ]
}

function toState(row: Row): DestinationState {
  return {
    destination: String(row['destination']),
    waiting: Number(row['waiting']),
    oldestAtMs: numberOrNull(row['oldest']),
    kept: Number(row['kept']),
    failingSinceMs: numberOrNull(row['failing_since_ms']),
    nextTryMs: Number(row['due_at_ms']),
    status: numberOrNull(row['status']),
    problem: row['problem'] as string | null,
    sent: Number(row['sent']),
    failed: Number(row['failed']),
    dropped: Number(row['dropped']),
  }
}

function numberOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value)
}

/** Ids of one statement, so that its text has few lengths and stays within every database's number of parameters. */
const idsMax = 100

function inGroups(ids: readonly string[]): (readonly string[])[] {
  const groups: (readonly string[])[] = []
  for (let start = 0; start < ids.length; start += idsMax) groups.push(ids.slice(start, start + idsMax))
  return groups
}

/** Behind `$1`. */
function placeholders(ids: readonly string[]): string {
  return ids.map((_, index) => `$${index + 2}`).join(', ')
}
