import type { BatchJobs, FoundJob, JobLine, JobPage, JobReading } from '../../canonical/batch-jobs.ts'
import type { ResourceKind } from '../../canonical/resource-notes.ts'
import type { UpstreamReply, UpstreamRequest } from '../../canonical/upstream.ts'
import { listedIn, parsedOrNull, parseReply } from '../../formats/jobs/job-wire.ts'
import { createdAtMsOf, idOf, readResponseLine } from '../../formats/jobs/openai-jobs.ts'
import { jobIdOf } from '../../formats/transcription/job-id.ts'
import {
  countOrNull,
  recordOrEmpty,
  recordOrNull,
  recordsOrEmpty,
  textOrEmpty,
  textOrNull,
  type WireRecord,
} from '../../json/values.ts'

const root = '/batches'
const acceptJson = { accept: 'application/json' }
const listedJobsMax = 100

/** The `endpoint` of a batch by the path of the live request. */
const endpoints: Readonly<Record<string, string>> = {
  '/chat/completions': '/v1/chat/completions',
  '/responses': '/v1/responses',
  '/messages': '/v1/messages',
  '/embeddings': '/v1/embeddings',
}

const states: ReadonlyMap<string, JobReading['state']> = new Map([
  ['validating', 'running'],
  ['in_progress', 'running'],
  ['finalizing', 'running'],
  ['cancelling', 'running'],
  ['completed', 'completed'],
  ['failed', 'failed'],
  ['expired', 'expired'],
  ['cancelled', 'cancelled'],
])

/** The status of a live answer with an error of this kind. */
const statusOf: Readonly<Record<string, number>> = {
  invalid_request: 400,
  invalid_request_error: 400,
  authentication: 401,
  payment_required: 402,
  permission_denied: 403,
  not_found: 404,
  payload_too_large: 413,
  unprocessable: 422,
  rate_limit_exceeded: 429,
  server: 500,
  provider_unavailable: 503,
  provider_overloaded: 503,
}

/** A batch is deleted once it has ended, and refuses that with 409 before. */
const jobKind: ResourceKind = {
  readId: (reply) => jobIdOf(parseReply(reply)['id']),
  remove: (jobId) => ({ ...lookRequest(jobId), method: 'DELETE' }),
  listing: {
    request: listRequest,
    read(reply, mark) {
      const { found, ...page } = readSearch(reply, mark)
      return { ...page, found: found.map(({ reading, createdAtMs }) => ({ id: reading.id, createdAtMs })) }
    },
  },
}

/**
 * OpenRouter's batches: the request that creates one carries its lines, its results stand in the batch itself, and it cannot
 * be cancelled. One item that it does not take fails the whole batch, so that only text goes there.
 * https://openrouter.ai/docs/batch-quickstart
 */
export const openRouterBatchJobs: BatchJobs = {
  name: 'openrouter',
  // Newer pages have 5,000 items; a body has 200 MB at most.
  limits: { items: 5_000, bytes: 190_000_000, windowMs: 86_400_000 },
  // No header makes a request safe to repeat, and a batch has no member for a mark.
  uncertainCreate: 'neither',
  operationOf({ path, model, headers, hasMedia }) {
    const endpoint = endpoints[path]
    if (endpoint === undefined || hasMedia || headers['anthropic-beta'] !== undefined) return null
    return `${endpoint} ${model}`
  },
  encodeLine: ({ id, body }) =>
    Buffer.concat([Buffer.from(`{"custom_id":${JSON.stringify(id)},"body":`), body, Buffer.from('},')]),
  upload: null,
  create({ operation, lines }) {
    if (lines === null) throw new TypeError('a batch carries its lines')
    const [endpoint = '', ...model] = operation.split(' ')
    // It reads the body as it comes: what the items need must stand before them.
    const head = JSON.stringify({ endpoint, model: model.join(' '), completion_window: '24h' }).slice(0, -1)
    const headers = { ...acceptJson, 'content-type': 'application/json' }
    return { method: 'POST', path: root, headers, body: listedIn(`${head},"requests":[`, lines) }
  },
  look: lookRequest,
  cancel: null,
  readJob: (reply) => readJob(parseReply(reply)),
  search: { markOf: ({ itemCount }) => String(itemCount), request: listRequest, read: readSearch },
  download: lookRequest,
  resultsIn: { at: ['results'] },
  readLine,
  removesEnded: true,
  resources: { 'openrouter.batch': jobKind },
}

function lookRequest(jobId: string): UpstreamRequest {
  return { method: 'GET', path: `${root}/${encodeURIComponent(jobId)}`, headers: acceptJson, body: null }
}

function listRequest(older: string | null): UpstreamRequest {
  const after = older === null ? '' : `&after=${encodeURIComponent(older)}`
  return { method: 'GET', path: `${root}?limit=${listedJobsMax}${after}`, headers: acceptJson, body: null }
}

function readJob(wire: WireRecord): JobReading {
  const id = idOf(wire)
  const state = states.get(textOrEmpty(wire['status'])) ?? null
  const counts = recordOrEmpty(wire['request_counts'])
  const completed = countOrNull(counts['completed'])
  const message = textOrNull(recordOrEmpty(wire['error'])['message'])
  const isEnded = state !== null && state !== 'running'
  return {
    id,
    state,
    doneCount: completed === null ? null : completed + (countOrNull(counts['failed']) ?? 0),
    outputs: isEnded && state !== 'failed' ? [id] : [],
    problem: message === null ? null : { code: 'failed', message, isFull: false },
  }
}

function readSearch(reply: UpstreamReply, mark: string): JobPage {
  const wire = parseReply(reply)
  const entries = recordsOrEmpty(wire['data'])
  const last = entries.at(-1)
  return {
    found: entries
      .filter((entry) => String(recordOrEmpty(entry['request_counts'])['total']) === mark)
      .map((entry): FoundJob => ({ reading: readJob(entry), createdAtMs: createdAtMsOf(entry) })),
    oldestAtMs: last === undefined ? null : createdAtMsOf(last),
    older: wire['has_more'] === true ? textOrNull(wire['last_id']) : null,
  }
}

/** OpenAI's lines, but for errors, which have a type. */
function readLine(bytes: Uint8Array): JobLine | null {
  const line = recordOrNull(parsedOrNull(bytes))
  const id = textOrNull(line?.['custom_id'])
  if (line === null || id === null) return null
  const error = recordOrNull(line['error'])
  if (error === null) return readResponseLine(bytes)
  const type = textOrEmpty(error['type'])
  if (type === 'batch_expired' || type === 'batch_cancelled')
    return { id, result: { type: 'not run', reason: type } }
  const message = textOrEmpty(error['message'])
  const status = statusOf[textOrEmpty(error['error_type'])] ?? statusOf[type]
  if (status === undefined) return { id, result: { type: 'failed', message } }
  const body = Buffer.from(JSON.stringify({ error: { message, type, code: status } }))
  return { id, result: { type: 'answer', status, body } }
}
