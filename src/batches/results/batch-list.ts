import type { Principal } from '../../canonical/principal.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Batch, BatchEndpoint, StoredStatus } from '../../canonical/batch.ts'
import type { BatchId } from '../../core/ids.ts'
import type { BatchObject } from '../../formats/batch/batch-object.ts'
import { mayWait, toBatchObject } from '../../formats/batch/batch-object.ts'
import type { BatchPlace, BatchRepository } from '../batch-repository.ts'
import type { JobRepository } from '../lanes/native/job-repository.ts'
import type { MoveRepository } from '../lanes/move-repository.ts'
import type { WaitingRepository } from '../running/waiting-repository.ts'

/** Batches per page of a list. */
const batchListDefault = 20
const batchListMax = 100

/** A page of batches, newest first, without results. */
export interface BatchList {
  object: 'list'
  data: BatchObject[]
  first_id: string | null
  last_id: string | null
  has_more: boolean
}

const filterable: readonly StoredStatus[] = [
  'validating',
  'in_progress',
  'completed',
  'failed',
  'expired',
  'cancelled',
]
const dayPattern = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:?\d{2})?)?$/

/** What a list reads. */
interface ListDependencies {
  batches: BatchRepository
  waits: WaitingRepository
  moves: MoveRepository
  jobs: JobRepository
}

/** Lists the organization's batches. Throws `invalid_request` for a query that makes no sense. */
export async function listBatches(
  principal: Principal,
  query: URLSearchParams,
  { batches, waits, moves, jobs }: ListDependencies,
): Promise<BatchList> {
  const limit = parseLimit(query.get('limit'))
  const createdAfterMs = parseTime('created_after', query)
  const createdBeforeMs = parseTime('created_before', query)
  if (createdAfterMs !== null && createdBeforeMs !== null && createdAfterMs >= createdBeforeMs)
    throw invalid('created_after')
  const afterId = query.get('after')
  const after = afterId === null ? null : await batches.loadPlace(afterId, principal.organizationId)
  if (afterId !== null && after === null) throw invalid('after')
  const found = await batches.list({
    organizationId: principal.organizationId,
    statuses: parseStatuses(query.getAll('status')),
    ...inWholeSeconds(createdAfterMs, createdBeforeMs),
    endpoint: null,
    after,
    before: null,
    limit: limit + 1,
  })
  const page = found.slice(0, limit)
  const waiting = await waits.listOf(page.filter(mayWait).map(({ id }) => id))
  const moved = await moves.listOf(page.map(({ id }) => id))
  const driven = await jobs.shownOf(page)
  const data = page.map((batch) => {
    const { id } = batch
    return toBatchObject(batch, { waiting: waiting.get(id), moves: moved.get(id), jobs: driven.get(id) })
  })
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: found.length > limit,
  }
}

/** A page of a dialect's own list: the batches behind or before one of them, the latest without either. */
export interface PageQuery {
  endpoint: BatchEndpoint | null
  after: BatchId | null
  before: BatchId | null
  limit: number
}

/** Batches, newest first. `hasMore`: there are others in the direction of the page. */
export interface BatchPage {
  batches: Batch[]
  hasMore: boolean
}

/** One page of the organization's batches. Throws `invalid_request` for a batch that it never had. */
export async function pageOfBatches(
  { organizationId }: Principal,
  query: PageQuery,
  { batches }: { batches: BatchRepository },
): Promise<BatchPage> {
  const placeOf = async (id: BatchId | null, param: string): Promise<BatchPlace | null> =>
    id === null ? null : ((await batches.loadPlace(id, organizationId)) ?? refuse(param))
  const after = await placeOf(query.after, 'after')
  const before = await placeOf(query.before, 'before')
  const found = await batches.list({
    organizationId,
    statuses: null,
    createdAfterMs: null,
    createdBeforeMs: null,
    endpoint: query.endpoint,
    after,
    before,
    limit: query.limit + 1,
  })
  const hasMore = found.length > query.limit
  // The one batch too many lies at the far end of the page.
  if (before === null) return { batches: found.slice(0, query.limit), hasMore }
  return { batches: hasMore ? found.slice(1) : found, hasMore }
}

function parseLimit(text: string | null): number {
  if (text === null) return batchListDefault
  const limit = Number(text)
  if (!/^\d+$/.test(text) || limit < 1 || limit > batchListMax) throw invalid('limit')
  return limit
}

function parseStatuses(texts: readonly string[]): readonly StoredStatus[] | null {
  if (texts.length === 0) return null
  return texts.map((text) => filterable.find((status) => status === text) ?? refuse('status'))
}

/** Parses Unix seconds, or a date or time in ISO 8601; without a zone it is UTC. */
function parseTime(name: string, query: URLSearchParams): number | null {
  const text = query.get(name)
  if (text === null) return null
  if (/^\d{1,11}$/.test(text)) return Number(text) * 1000
  const match = dayPattern.exec(text)
  const isZoneless = match !== null && match[1] !== undefined && match[2] === undefined
  const ms = match === null ? Number.NaN : Date.parse(isZoneless ? `${text}Z` : text)
  return Number.isNaN(ms) ? refuse(name) : ms
}

/**
 * Bounds on the exact creation time that match the whole seconds which callers see. For example, a batch of second 7
 * was not created after 7, although it came some milliseconds later.
 */
function inWholeSeconds(afterMs: number | null, beforeMs: number | null) {
  return {
    createdAfterMs: afterMs === null ? null : Math.floor(afterMs / 1000) * 1000 + 999,
    createdBeforeMs: beforeMs === null ? null : Math.ceil(beforeMs / 1000) * 1000,
  }
}

function refuse(param: string): never {
  throw invalid(param)
}

function invalid(param: string): GatewayError {
  return new GatewayError('invalid_request', 'Invalid batch list query.', { param })
}
