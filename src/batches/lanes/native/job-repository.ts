import type { Batch, LaneJob } from '../../../canonical/batch.ts'
import type { BatchId } from '../../../core/ids.ts'
import type { Database, Row, SqlValue, Statement } from '../../../storage/database.ts'
import type { Job, JobEnd, JobLease, JobPrice, JobState } from './job.ts'

/** Jobs of one batch that are read at once: far more than any batch has. */
const jobsOfBatchMax = 10_000
/** Ids of a provider's jobs that are compared with its listing: far more than a deployment has in a month. */
const knownIdsMax = 1_000_000
/** Owners that are checked for being dead in one look. */
const jobOwnersMax = 1_000

/** A job as it is intended. */
export type NewNativeJob = Pick<
  Job,
  'id' | 'batchId' | 'nonce' | 'endpointId' | 'deploymentId' | 'credentialId' | 'price'
>

/** What a step changes of a job. */
export type JobChanges = Partial<
  Pick<
    Job,
    | 'nonce'
    | 'operation'
    | 'state'
    | 'itemCount'
    | 'worstNanocredits'
    | 'sentUntil'
    | 'tries'
    | 'inputFileId'
    | 'upstreamId'
    | 'outputs'
    | 'endedAs'
    | 'reason'
    | 'strayLines'
    | 'movedItems'
  >
> & {
  /** `now`: by the database's clock. */
  sentAt?: 'now' | null
  cancelledAt?: 'now' | null
}

/** The guard of every change of a leased job: it fails when another process drives the job now. */
export const jobGuard = 'native_job'

/** Reads of the table `native_jobs`. */
export interface JobRepository {
  listOf(batchId: BatchId): Promise<Job[]>
  /** Whether a job is due that nobody drives. */
  hasDue(): Promise<boolean>
  load(jobId: string): Promise<Job | null>
  /** What callers see of the jobs of these batches; batches of other lanes are left out. */
  shownOf(batches: readonly Pick<Batch, 'id' | 'lane'>[]): Promise<ReadonlyMap<BatchId, readonly LaneJob[]>>
  /** Ids of the provider's jobs that stored jobs are, or were and are not removed yet. */
  listKnownIds(deploymentId: string): Promise<ReadonlySet<string>>
  /** How many things that bear this mark were asked for since then, or are being made, and have no id. */
  countNameless(
    things: { deploymentId: string; kind: string; mark: string },
    sinceMs: number,
  ): Promise<number>
  /** Owners of leases that have not run out, except this process. */
  listOwners(except: string): Promise<string[]>
}

export function createJobRepository(database: Database): JobRepository {
  return {
    async listOf(batchId) {
      const sql = `select * from native_jobs where batch_id = $1 order by created_at_ms, job_id limit $2`
      return (await database.query(sql, [batchId, jobsOfBatchMax])).map(toJob)
    },
    async hasDue() {
      const sql = `select 1 as found from native_jobs where state <> 'ended' and ${isDue} limit 1`
      return (await database.query(sql)).length > 0
    },
    async load(jobId) {
      const [row] = await database.query(`select * from native_jobs where job_id = $1`, [jobId])
      return row === undefined ? null : toJob(row)
    },
    async listKnownIds(deploymentId) {
      const rows = await database.query<{ upstream_id: string }>(
        `select upstream_id from native_jobs where deployment_id = $1 and upstream_id is not null
         union select upstream_id from upstream_resources where deployment_id = $1 and upstream_id is not null
         limit ${knownIdsMax}`,
        [deploymentId],
      )
      return new Set(rows.map((row) => row.upstream_id))
    },
    async countNameless({ deploymentId, kind, mark }, sinceMs) {
      const [row] = await database.query<{ nameless: number }>(
        `select count(*) as nameless from upstream_resources
         where deployment_id = $1 and kind = $2 and marker = $3 and upstream_id is null and state <> 'kept'
           and created_at_ms >= $4`,
        [deploymentId, kind, mark, sinceMs],
      )
      return Number(row?.nameless)
    },
    async shownOf(batches) {
      const found = new Map<BatchId, LaneJob[]>()
      const ids = batches.filter(({ lane }) => lane === 'native').map(({ id }) => id)
      if (ids.length === 0) return found
      const places = ids.map((_, index) => `$${index + 1}`).join(', ')
      const rows = await database.query(
        `select batch_id, state, item_count, ended_as, stray_lines,
           (select count(*) from upstream_resources where used_by = job_id and state <> 'kept') as left_count
         from native_jobs where batch_id in (${places})
         order by created_at_ms, job_id limit ${jobsOfBatchMax}`,
        ids,
      )
      for (const row of rows) {
        const id = String(row['batch_id'])
        found.set(id, [...(found.get(id) ?? []), toLaneJob(row)])
      }
      return found
    },
    async listOwners(except) {
      const rows = await database.query<{ owner_id: string }>(
        `select distinct owner_id from native_jobs
         where lease_until_ms > now_ms() and owner_id <> $1 limit $2`,
        [except, jobOwnersMax],
      )
      return rows.map((row) => row.owner_id)
    },
  }
}

const isDue = `due_at_ms <= now_ms() and lease_until_ms <= now_ms()`

/** Notes a job before anything of it is sent. */
export function insertJob(job: NewNativeJob): Statement {
  return {
    sql: `insert into native_jobs (job_id, batch_id, nonce, endpoint_id, deployment_id, credential_id, price_json, state, created_at_ms)
      values ($1, $2, $3, $4, $5, $6, $7, 'intended', now_ms())`,
    params: [
      job.id,
      job.batchId,
      job.nonce,
      job.endpointId,
      job.deploymentId,
      job.credentialId,
      priceJson(job.price),
    ],
  }
}

/** Leases the job that is due for longest, if there is one, under a new epoch. */
export function leaseJob(owner: string, leaseMs: number): Statement {
  return {
    sql: `update native_jobs set owner_id = $1, epoch = epoch + 1, lease_until_ms = now_ms() + cast($2 as bigint)
      where state <> 'ended' and ${isDue} and job_id = (
        select job_id from native_jobs where state <> 'ended' and ${isDue}
        order by due_at_ms, job_id limit 1 {{for_update_skip_locked}})
      returning *, now_ms() as leased_at_ms`,
    params: [owner, leaseMs],
  }
}

/** Prolongs a lease if this process still has it. */
export function renewJob({ job, owner, epoch }: JobLease, leaseMs: number): Statement {
  return {
    sql: `update native_jobs set lease_until_ms = now_ms() + cast($1 as bigint)
      where job_id = $2 and owner_id = $3 and epoch = $4 returning job_id`,
    params: [leaseMs, job.id, owner, epoch],
  }
}

/** Ends the leases of an owner that is known to be dead. */
export function freeJobs(owner: string): Statement {
  return {
    sql: `update native_jobs set owner_id = null, lease_until_ms = 0 where owner_id = $1`,
    params: [owner],
  }
}

const columns: Readonly<Record<keyof JobChanges, string>> = {
  nonce: 'nonce',
  operation: 'operation',
  state: 'state',
  itemCount: 'item_count',
  worstNanocredits: 'worst_nanocredits',
  sentUntil: 'sent_until',
  tries: 'tries',
  inputFileId: 'input_file_id',
  upstreamId: 'upstream_id',
  outputs: 'outputs_json',
  endedAs: 'ended_as',
  reason: 'reason',
  strayLines: 'stray_lines',
  movedItems: 'moved_items',
  sentAt: 'sent_at_ms',
  cancelledAt: 'cancelled_at_ms',
}

/** Changes a job that this process drives, and goes on driving it. Refused when it lost the lease. */
export function changeJob(lease: JobLease, changes: JobChanges): Statement {
  return changing(lease, changes, [])
}

/** Changes a job and gives it back, to be driven again after `restMs`. */
export function leaveJob(lease: JobLease, changes: JobChanges, restMs: number): Statement {
  const ended = changes.state === 'ended' ? ', ended_at_ms = now_ms()' : ''
  return changing(lease, changes, [
    `owner_id = null, lease_until_ms = 0, due_at_ms = now_ms() + ${Math.ceil(restMs)}${ended}`,
  ])
}

function changing({ job, owner, epoch }: JobLease, changes: JobChanges, more: readonly string[]): Statement {
  const params: SqlValue[] = [job.id, owner, epoch]
  const sets = Object.entries(changes).map(([name, value]) => {
    const column = columns[name as keyof JobChanges]
    if (value === 'now' && column.endsWith('_at_ms')) return `${column} = now_ms()`
    return `${column} = $${params.push(Array.isArray(value) ? JSON.stringify(value) : (value as SqlValue))}`
  })
  return {
    sql: `update native_jobs set ${[...sets, ...more, 'epoch = epoch'].join(', ')}
      where job_id = $1 and owner_id = $2 and epoch = $3 and state <> 'ended'`,
    params,
    expect: 1,
    guard: jobGuard,
  }
}

/** Removes the jobs of a batch that is purged. */
export function purgeJobs(batchId: BatchId): Statement {
  return { sql: `delete from native_jobs where batch_id = $1 and state = 'ended'`, params: [batchId] }
}

/** A leased row as a value. */
export function toJobLease(row: Row, owner: string): JobLease {
  return {
    job: toJob(row),
    owner,
    epoch: Number(row['epoch']),
    leasedAtMs: Number(row['leased_at_ms']),
  }
}

function toLaneJob(row: Row): LaneJob {
  const state = row['state'] as JobState
  const stray = Number(row['stray_lines'])
  const left = Number(row['left_count'])
  return {
    state: state === 'running' || state === 'collecting' || state === 'ended' ? state : 'preparing',
    items: Number(row['item_count']),
    ...(row['ended_as'] === null ? {} : { ended_as: String(row['ended_as']) }),
    ...(stray === 0 ? {} : { stray_lines: stray }),
    ...(left === 0 ? {} : { left }),
  }
}

function toJob(row: Row): Job {
  const text = (name: string) => (row[name] === null ? null : String(row[name]))
  const number = (name: string) => (row[name] === null ? null : Number(row[name]))
  return {
    id: String(row['job_id']),
    batchId: String(row['batch_id']),
    nonce: String(row['nonce']),
    endpointId: String(row['endpoint_id']),
    deploymentId: String(row['deployment_id']),
    credentialId: String(row['credential_id']),
    price: readPrice(String(row['price_json'])),
    operation: text('operation'),
    state: row['state'] as JobState,
    itemCount: Number(row['item_count']),
    worstNanocredits: BigInt(row['worst_nanocredits'] as string | number | bigint),
    sentUntil: number('sent_until'),
    tries: Number(row['tries']),
    inputFileId: text('input_file_id'),
    upstreamId: text('upstream_id'),
    outputs: JSON.parse(String(row['outputs_json'])) as string[],
    endedAs: row['ended_as'] as JobEnd | null,
    reason: text('reason'),
    strayLines: Number(row['stray_lines']),
    movedItems: Number(row['moved_items']),
    createdAtMs: Number(row['created_at_ms']),
    sentAtMs: number('sent_at_ms'),
    cancelledAtMs: number('cancelled_at_ms'),
  }
}

const amountMark = 'n'

/** Amounts are whole numbers that JSON's would not hold: they are written as text that ends with `n`. */
function priceJson(price: JobPrice): string {
  return JSON.stringify(price, (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}${amountMark}` : value,
  )
}

function readPrice(json: string): JobPrice {
  return JSON.parse(json, (_, value: unknown) =>
    typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -amountMark.length)) : value,
  ) as JobPrice
}
