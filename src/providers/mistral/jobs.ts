import type { BatchJobs, FoundJob, JobPage, JobReading } from '../../canonical/batch-jobs.ts'
import type { ResourceKind } from '../../canonical/resource-notes.ts'
import type { UpstreamReply, UpstreamRequest } from '../../canonical/upstream.ts'
import { jobIdOf } from '../../formats/transcription/job-id.ts'
import { parseReply } from '../../formats/jobs/job-wire.ts'
import {
  contentRequest,
  createdAtMsOf,
  deleteRequest,
  fileUpload,
  idOf,
  inputKindOf,
  readListing,
  readResponseLine,
} from '../../formats/jobs/openai-jobs.ts'
import {
  countOrNull,
  recordOrEmpty,
  recordsOrEmpty,
  textOrEmpty,
  textOrNull,
  type WireRecord,
} from '../../json/values.ts'

/** The `endpoint` of a job by the path of the live request. */
const endpoints: Readonly<Record<string, string>> = {
  '/chat/completions': '/v1/chat/completions',
  '/embeddings': '/v1/embeddings',
}
/** The metadata member in which a job carries its nonce. */
const nonceMember = 'headrace_job'
const root = '/batch/jobs'
const acceptJson = { accept: 'application/json' }
const jsonHeaders = { ...acceptJson, 'content-type': 'application/json' }

const states: ReadonlyMap<string, JobReading['state']> = new Map([
  ['QUEUED', 'running'],
  ['RUNNING', 'running'],
  ['CANCELLATION_REQUESTED', 'running'],
  ['SUCCESS', 'completed'],
  ['FAILED', 'failed'],
  ['TIMEOUT_EXCEEDED', 'expired'],
  ['CANCELLED', 'cancelled'],
])

/**
 * A job that nobody waits for: it is cancelled, and deleted when that has ended it. A listing's page is the newest hundred
 * jobs, and says nothing of where the next one begins.
 */
const jobKind: ResourceKind = {
  readId: (reply) => jobIdOf(parseReply(reply)['id']),
  remove: cancelRequest,
  // What has ended cannot be cancelled.
  isGone: (status) => status === 400 || status === 409 || status === 422,
  listing: {
    request: listJobs,
    read: (reply, marker) => readListing(reply, (entry) => nonceOf(entry) === marker),
  },
  remains: {
    look: lookRequest,
    read(reply) {
      const { id, state, outputs } = readJob(parseReply(reply))
      if (state === null || state === 'running') return null
      return [...outputs.map(deleteRequest), removeRequest(id)]
    },
  },
}

/**
 * Mistral's batch jobs: a file of lines, a job of one model, and up to two files of results with lines in OpenAI's form.
 * https://docs.mistral.ai/studio-api/batch-processing; calls and states by its SDK (npm @mistralai/mistralai 2.7.0)
 */
export const mistralBatchJobs: BatchJobs = {
  name: 'mistral',
  // One page has a million items, another 100,000 and 512 MB.
  limits: { items: 100_000, bytes: 512_000_000, windowMs: 86_400_000 },
  uncertainCreate: 'searchable',
  operationOf({ path, model }) {
    const endpoint = endpoints[path]
    return endpoint === undefined ? null : `${endpoint} ${model}`
  },
  encodeLine: ({ id, body }) =>
    Buffer.concat([Buffer.from(`{"custom_id":${JSON.stringify(id)},"body":`), body, Buffer.from('}\n')]),
  upload: fileUpload,
  create({ nonce, operation, fileId }) {
    const [endpoint, model] = operation.split(' ')
    const metadata = { [nonceMember]: nonce }
    const body = { input_files: [fileId], endpoint, model, metadata, timeout_hours: 24 }
    return { method: 'POST', path: root, headers: jsonHeaders, body: [JSON.stringify(body)] }
  },
  look: lookRequest,
  cancel: cancelRequest,
  readJob: (reply) => readJob(parseReply(reply)),
  search: { markOf: ({ nonce }) => nonce, request: listJobs, read: readSearch },
  download: contentRequest,
  readLine: readResponseLine,
  removesEnded: true,
  resources: {
    'mistral.batch_input': inputKindOf(() => get('/files?page_size=100&purpose=batch')),
    'mistral.batch_output': { ...inputKindOf(() => get('/files')), listing: null },
    'mistral.batch': jobKind,
  },
}

function get(path: string): UpstreamRequest {
  return { method: 'GET', path, headers: acceptJson, body: null }
}

function listJobs(): UpstreamRequest {
  return get(`${root}?page_size=100&order_by=-created`)
}

function lookRequest(jobId: string): UpstreamRequest {
  return get(`${root}/${encodeURIComponent(jobId)}`)
}

function cancelRequest(jobId: string): UpstreamRequest {
  const path = `${root}/${encodeURIComponent(jobId)}/cancel`
  return { method: 'POST', path, headers: acceptJson, body: null }
}

function removeRequest(jobId: string): UpstreamRequest {
  return { ...lookRequest(jobId), method: 'DELETE' }
}

function readJob(wire: WireRecord): JobReading {
  const state = states.get(textOrEmpty(wire['status'])) ?? null
  const [first] = recordsOrEmpty(wire['errors'])
  const isFailed = state === 'failed' && first !== undefined
  return {
    id: idOf(wire),
    state,
    doneCount: countOrNull(wire['completed_requests']),
    outputs: [wire['output_file'], wire['error_file']].flatMap((id) => jobIdOf(id) ?? []),
    problem: isFailed ? { code: 'failed', message: textOrEmpty(first['message']), isFull: false } : null,
  }
}

function readSearch(reply: UpstreamReply, nonce: string): JobPage {
  const entries = recordsOrEmpty(parseReply(reply)['data'])
  const found = entries
    .filter((entry) => nonceOf(entry) === nonce)
    .map((entry): FoundJob => ({ reading: readJob(entry), createdAtMs: createdAtMsOf(entry) }))
  return { found, oldestAtMs: null, older: null }
}

function nonceOf(entry: WireRecord): string | null {
  return textOrNull(recordOrEmpty(entry['metadata'])[nonceMember])
}
