import type { BatchJobs, FoundJob, JobLine, JobPage, JobReading } from '../../canonical/batch-jobs.ts'
import type { ResourceKind } from '../../canonical/resource-notes.ts'
import type { UpstreamReply, UpstreamRequest } from '../../canonical/upstream.ts'
import { GatewayError } from '../../core/errors.ts'
import { memberOf, parsedOrNull, parseReply, statusOfRpc } from '../../formats/jobs/job-wire.ts'
import { deleteRequest, fileForm, idOf, inputKindOf } from '../../formats/jobs/openai-jobs.ts'
import { jobIdOf } from '../../formats/transcription/job-id.ts'
import {
  countOrNull,
  numberOrNull,
  recordOrEmpty,
  recordOrNull,
  recordsOrEmpty,
  textOrEmpty,
  textOrNull,
  type WireRecord,
} from '../../json/values.ts'

const operation = '/v1/chat/completions'
const root = '/batches'
const acceptJson = { accept: 'application/json' }
const jsonHeaders = { ...acceptJson, 'content-type': 'application/json' }
/** Entries of a page: its documents have a hundred. */
const pageSize = 100
const cancelledCode = 1

/** A batch that nobody waits for is cancelled; there is no call that removes one. */
const jobKind: ResourceKind = {
  readId: (reply) => jobIdOf(parseReply(reply)['batch_id']),
  remove: cancelRequest,
  // What has ended cannot be cancelled.
  isGone: (status) => status === 400 || status === 409,
  listing: {
    request: listJobs,
    read(reply, marker) {
      const { found, ...page } = readSearch(reply, marker)
      return { ...page, found: found.map(({ reading, createdAtMs }) => ({ id: reading.id, createdAtMs })) }
    },
  },
}

/**
 * xAI's batches of a file of lines. A batch has no state: what it is doing follows from its counts, and its results are read
 * page by page. Answers are chat completions, whatever was asked for. https://docs.x.ai/docs/guides/batch-api
 */
export const xAiBatchJobs: BatchJobs = {
  name: 'xai',
  limits: { items: 50_000, bytes: 200_000_000, windowMs: 86_400_000 },
  uncertainCreate: 'searchable',
  formats: ['chat'],
  operationOf: ({ path }) => (path === '/chat/completions' ? operation : null),
  encodeLine: ({ id, body }) =>
    Buffer.concat([
      Buffer.from(`{"custom_id":${JSON.stringify(id)},"method":"POST","url":"${operation}","body":`),
      body,
      Buffer.from('}\n'),
    ]),
  upload: {
    request: (name, lines) => fileForm(name, lines, []),
    readId: (reply) => idOf(parseReply(reply)),
  },
  create({ nonce, fileId }) {
    const body = JSON.stringify({ name: nonce, input_file_id: fileId })
    return { method: 'POST', path: root, headers: jsonHeaders, body: [body] }
  },
  look: (jobId) => get(`${root}/${encodeURIComponent(jobId)}`),
  cancel: cancelRequest,
  readJob: (reply) => readJob(parseReply(reply)),
  search: { markOf: ({ nonce }) => nonce, request: listJobs, read: readSearch },
  download: (jobId) => resultsRequest(jobId, ''),
  resultsIn: { at: ['results'], pages: { token: 'pagination_token', request: resultsRequest } },
  readLine,
  resources: {
    'xai.batch_input': { ...inputKindOf(listFiles), remove: deleteRequest },
    'xai.batch': jobKind,
  },
}

function get(path: string): UpstreamRequest {
  return { method: 'GET', path, headers: acceptJson, body: null }
}

function pageOf(older: string | null): string {
  const token = older === null || older === '' ? '' : `&pagination_token=${encodeURIComponent(older)}`
  return `?limit=${pageSize}${token}`
}

function listJobs(older: string | null): UpstreamRequest {
  return get(`${root}${pageOf(older)}`)
}

function listFiles(older: string | null): UpstreamRequest {
  return get(`/files${pageOf(older)}`)
}

function resultsRequest(jobId: string, token: string): UpstreamRequest {
  return get(`${root}/${encodeURIComponent(jobId)}/results${pageOf(token)}`)
}

function cancelRequest(jobId: string): UpstreamRequest {
  return {
    method: 'POST',
    path: `${root}/${encodeURIComponent(jobId)}:cancel`,
    headers: acceptJson,
    body: null,
  }
}

function readJob(wire: WireRecord): JobReading {
  const id = jobIdOf(wire['batch_id'])
  if (id === null) throw new GatewayError('provider_failed', 'The provider named no batch.')
  const counts = recordOrEmpty(wire['state'])
  const countOf = (name: string) => countOrNull(counts[name]) ?? 0
  const [total, pending] = [countOf('num_requests'), countOf('num_pending')]
  const stopped = textOrNull(wire['cancel_by_xai_message'])
  // Right after its creation all counts are zero, which is not an end.
  const isEnded = (total > 0 && pending === 0) || stopped !== null
  const isCancelled = countOf('num_cancelled') > 0 && textOrEmpty(wire['cancel_time']) !== ''
  const isFailed = stopped !== null && countOf('num_success') === 0
  const ending = isCancelled || stopped !== null ? 'cancelled' : 'completed'
  const ended = isFailed ? 'failed' : ending
  return {
    id,
    state: isEnded ? ended : 'running',
    doneCount: total === 0 ? null : total - pending,
    outputs: isEnded && total > 0 ? [id] : [],
    problem: stopped === null ? null : { code: 'cancelled_by_provider', message: stopped, isFull: false },
  }
}

function createdAtMsOf(wire: WireRecord): number | null {
  const ms = Date.parse(textOrEmpty(wire['create_time']))
  return Number.isNaN(ms) ? null : ms
}

function readSearch(reply: UpstreamReply, mark: string): JobPage {
  const wire = parseReply(reply)
  const entries = recordsOrEmpty(wire['batches'])
  const found = entries
    .filter(({ name }) => name === mark)
    .map((entry): FoundJob => ({ reading: readJob(entry), createdAtMs: createdAtMsOf(entry) }))
  const token = textOrEmpty(wire['pagination_token'])
  // Its times may be days alone, so no page is the last one by them.
  return { found, oldestAtMs: null, older: token === '' ? null : token }
}

function readLine(bytes: Uint8Array): JobLine | null {
  const line = recordOrNull(parsedOrNull(bytes))
  const id = textOrNull(line?.['batch_request_id'])
  if (line === null || id === null) return null
  const result = recordOrEmpty(line['batch_result'])
  if (recordOrNull(recordOrEmpty(result['response'])['chat_get_completion']) !== null) {
    const body = memberOf(bytes, ['batch_result', 'response', 'chat_get_completion'])
    return { id, result: { type: 'answer', status: 200, body } }
  }
  const error = recordOrEmpty(result['error'])
  const code = numberOrNull(error['code'])
  if (code === cancelledCode) return { id, result: { type: 'not run', reason: 'batch_cancelled' } }
  const message = textOrNull(error['message']) ?? textOrEmpty(line['error_message'])
  const status = statusOfRpc(code)
  if (status === null) return { id, result: { type: 'failed', message } }
  const body = Buffer.from(JSON.stringify({ error: { message, code } }))
  return { id, result: { type: 'answer', status, body } }
}
