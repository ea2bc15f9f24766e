import type { BatchJobs, FoundJob, JobLine, JobPage, JobReading } from '../../canonical/batch-jobs.ts'
import type { ResourceKind } from '../../canonical/resource-notes.ts'
import type { UpstreamReply, UpstreamRequest } from '../../canonical/upstream.ts'
import { GatewayError } from '../../core/errors.ts'
import {
  countOrNull,
  recordOrEmpty,
  recordOrNull,
  recordsOrEmpty,
  textOrEmpty,
  textOrNull,
  type WireRecord,
} from '../../json/values.ts'
import { jobIdOf } from '../transcription/job-id.ts'
import { listedIn, memberOf, parsedOrNull, parseReply } from './job-wire.ts'

const operation = '/messages'
/** Jobs on one page of a listing: the provider's maximum. */
const listedJobsMax = 1_000
const root = '/messages/batches'
const acceptJson = { accept: 'application/json' }
const counted = ['processing', 'succeeded', 'errored', 'canceled', 'expired'] as const

/** The words for a batch that has not ended. */
const runningStates: ReadonlyMap<string, JobReading['state']> = new Map([
  ['in_progress', 'running'],
  ['canceling', 'running'],
])

/** The status of a live answer with an error of this type. */
const statusOf: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  timeout_error: 504,
  overloaded_error: 529,
}

/** A batch that nobody waits for: it is cancelled, and deleted when that has ended it. */
const jobKind: ResourceKind = {
  readId: (reply) => jobIdOf(parseReply(reply)['id']),
  remove: cancelRequest,
  // What has ended cannot be cancelled.
  isGone: (status) => status === 400 || status === 409,
  listing: {
    request: listRequest,
    read(reply, mark) {
      const { found, ...page } = readSearch(reply, mark)
      return { ...page, found: found.map(({ reading, createdAtMs }) => ({ id: reading.id, createdAtMs })) }
    },
  },
  remains: {
    look: (jobId) => ({ method: 'GET', path: pathOf(jobId), headers: acceptJson, body: null }),
    read(reply) {
      const { id, state } = readJob(parseReply(reply))
      return state === null || state === 'running' ? null : [deleteRequest(id)]
    },
  },
}

/** The same batch with its results, once it has ended. */
const outputKind: ResourceKind = { readId: jobKind.readId, remove: deleteRequest, listing: null }

/**
 * Anthropic's batches of messages: the request that creates one carries its lines, the listing has no member for the
 * gateway's mark, and a batch is deleted once it has ended. https://platform.claude.com/docs/en/build-with-claude/batch-processing
 */
export const messageJobs: BatchJobs = {
  name: 'anthropic',
  limits: { items: 100_000, bytes: 200_000_000, windowMs: 86_400_000 },
  // A request that is sent twice makes two batches, and a batch has no member for a mark.
  uncertainCreate: 'neither',
  // A beta holds for a whole batch, and its items may ask for different ones.
  operationOf: ({ path, headers }) =>
    path === operation && headers['anthropic-beta'] === undefined ? operation : null,
  encodeLine: ({ id, body }) =>
    Buffer.concat([Buffer.from(`{"custom_id":${JSON.stringify(id)},"params":`), body, Buffer.from('},')]),
  upload: null,
  create({ lines }) {
    if (lines === null) throw new TypeError('a batch of messages carries its lines')
    const headers = { ...acceptJson, 'content-type': 'application/json' }
    return { method: 'POST', path: root, headers, body: listedIn('{"requests":[', lines) }
  },
  look: (jobId) => ({ method: 'GET', path: pathOf(jobId), headers: acceptJson, body: null }),
  cancel: cancelRequest,
  readJob: (reply) => readJob(parseReply(reply)),
  search: {
    markOf: ({ itemCount }) => String(itemCount),
    request: listRequest,
    read: readSearch,
  },
  download: (jobId) => ({
    method: 'GET',
    path: `${pathOf(jobId)}/results`,
    headers: { accept: 'application/binary' },
    body: null,
  }),
  readLine,
  resources: { 'anthropic.batch': jobKind, 'anthropic.batch_output': outputKind },
}

function pathOf(jobId: string): string {
  return `${root}/${encodeURIComponent(jobId)}`
}

function cancelRequest(jobId: string): UpstreamRequest {
  return { method: 'POST', path: `${pathOf(jobId)}/cancel`, headers: acceptJson, body: null }
}

function deleteRequest(jobId: string): UpstreamRequest {
  return { method: 'DELETE', path: pathOf(jobId), headers: acceptJson, body: null }
}

function listRequest(older: string | null): UpstreamRequest {
  const after = older === null ? '' : `&after_id=${encodeURIComponent(older)}`
  return { method: 'GET', path: `${root}?limit=${listedJobsMax}${after}`, headers: acceptJson, body: null }
}

function readJob(wire: WireRecord): JobReading {
  const id = jobIdOf(wire['id'])
  if (id === null) throw new GatewayError('provider_failed', 'The provider named no id.')
  const counts = recordOrEmpty(wire['request_counts'])
  const countOf = (name: string) => countOrNull(counts[name]) ?? 0
  const status = textOrEmpty(wire['processing_status'])
  const total = countsOf(wire)
  return {
    id,
    state: status === 'ended' ? endingOf(wire, countOf('expired')) : (runningStates.get(status) ?? null),
    doneCount: total === null ? null : total - countOf('processing'),
    outputs: status === 'ended' && textOrNull(wire['results_url']) !== null ? [id] : [],
    problem: null,
  }
}

/** A batch ends in one way; its counts tell of what became of its lines. */
function endingOf(wire: WireRecord, expired: number): 'completed' | 'cancelled' | 'expired' {
  if (textOrNull(wire['cancel_initiated_at']) !== null) return 'cancelled'
  return expired > 0 ? 'expired' : 'completed'
}

/** How many lines a batch has; null when it does not tell. */
function countsOf(wire: WireRecord): number | null {
  const counts = recordOrNull(wire['request_counts'])
  if (counts === null) return null
  return counted.reduce((sum, name) => sum + (countOrNull(counts[name]) ?? 0), 0)
}

function readSearch(reply: UpstreamReply, mark: string): JobPage {
  const wire = parseReply(reply)
  const entries = recordsOrEmpty(wire['data'])
  const last = entries.at(-1)
  const found = entries
    .filter((entry) => String(countsOf(entry)) === mark)
    .map((entry): FoundJob => ({ reading: readJob(entry), createdAtMs: createdAtMsOf(entry) }))
  return {
    found,
    oldestAtMs: last === undefined ? null : createdAtMsOf(last),
    older: wire['has_more'] === true ? jobIdOf(last?.['id']) : null,
  }
}

function createdAtMsOf(wire: WireRecord): number | null {
  const ms = Date.parse(textOrEmpty(wire['created_at']))
  return Number.isNaN(ms) ? null : ms
}

function readLine(bytes: Uint8Array): JobLine | null {
  const line = recordOrNull(parsedOrNull(bytes))
  const id = textOrNull(line?.['custom_id'])
  const result = recordOrNull(line?.['result'])
  if (id === null || result === null) return null
  const type = textOrEmpty(result['type'])
  if (type === 'expired') return { id, result: { type: 'not run', reason: 'batch_expired' } }
  if (type === 'canceled') return { id, result: { type: 'not run', reason: 'batch_cancelled' } }
  if (type === 'succeeded' && recordOrNull(result['message']) !== null)
    return { id, result: { type: 'answer', status: 200, body: memberOf(bytes, ['result', 'message']) } }
  const error = recordOrEmpty(recordOrEmpty(result['error'])['error'])
  const errorType = textOrEmpty(error['type'])
  if (type !== 'errored' || errorType === '')
    return { id, result: { type: 'failed', message: textOrEmpty(error['message']) } }
  const status = statusOf[errorType] ?? 500
  return { id, result: { type: 'answer', status, body: memberOf(bytes, ['result', 'error']) } }
}
