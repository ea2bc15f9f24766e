import type { Principal } from '../canonical/principal.ts'
import { GatewayError } from '../core/errors.ts'
import { batchListDefault, batchListMax } from '../core/limits.ts'
import type { StoredStatus } from './batch.ts'
import type { BatchObject } from './batch-object.ts'
import { toBatchObject } from './batch-object.ts'
import type { BatchRepository } from './batch-repository.ts'

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

/** Lists the organization's batches. Throws `invalid_request` for a query that cannot be meant. */
export async function listBatches(
  principal: Principal,
  query: URLSearchParams,
  batches: BatchRepository,
): Promise<BatchList> {
  const limit = parseLimit(query.get('limit'))
  const createdAfterMs = parseTime(query.get('created_after'))
  const createdBeforeMs = parseTime(query.get('created_before'))
  if (createdAfterMs !== null && createdBeforeMs !== null && createdAfterMs >= createdBeforeMs)
    throw invalid()
  const afterId = query.get('after')
  const after = afterId === null ? null : await batches.loadPlace(afterId, principal.organizationId)
  if (afterId !== null && after === null) throw invalid()
  const found = await batches.list({
    organizationId: principal.organizationId,
    statuses: parseStatuses(query.getAll('status')),
    createdAfterMs,
    createdBeforeMs,
    after,
    limit: limit + 1,
  })
  const data = found.slice(0, limit).map(toBatchObject)
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: found.length > limit,
  }
}

function parseLimit(text: string | null): number {
  if (text === null) return batchListDefault
  const limit = Number(text)
  if (!/^\d+$/.test(text) || limit < 1 || limit > batchListMax) throw invalid()
  return limit
}

function parseStatuses(texts: readonly string[]): readonly StoredStatus[] | null {
  if (texts.length === 0) return null
  return texts.map((text) => filterable.find((status) => status === text) ?? refuse())
}

/** Unix seconds, or a date or time as ISO 8601 writes it; without a zone it is UTC. */
function parseTime(text: string | null): number | null {
  if (text === null) return null
  if (/^\d{1,11}$/.test(text)) return Number(text) * 1000
  const match = dayPattern.exec(text)
  const isZoneless = match !== null && match[1] !== undefined && match[2] === undefined
  const ms = match === null ? Number.NaN : Date.parse(isZoneless ? `${text}Z` : text)
  return Number.isNaN(ms) ? refuse() : ms
}

function refuse(): never {
  throw invalid()
}

function invalid(): GatewayError {
  return new GatewayError('invalid_request', 'Invalid batch list query.')
}
