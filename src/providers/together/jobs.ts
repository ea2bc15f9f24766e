import type { BatchJobs, FoundJob, JobPage, JobReading } from '../../canonical/batch-jobs.ts'
import type { ResourceKind } from '../../canonical/resource-notes.ts'
import type { UpstreamReply, UpstreamRequest } from '../../canonical/upstream.ts'
import { GatewayError } from '../../core/errors.ts'
import { parsedOrNull, parseReply } from '../../formats/jobs/job-wire.ts'
import {
  contentRequest,
  createdAtMsOf,
  deleteRequest,
  idOf,
  readListing,
  readResponseLine,
} from '../../formats/jobs/openai-jobs.ts'
import { jobIdOf } from '../../formats/transcription/job-id.ts'
import { recordOrNull, recordsOrEmpty, textOrEmpty, textOrNull, type WireRecord } from '../../json/values.ts'

const operation = '/v1/chat/completions'
const root = '/batches'
const acceptJson = { accept: 'application/json' }

const states: ReadonlyMap<string, JobReading['state']> = new Map([
  ['VALIDATING', 'running'],
  ['IN_PROGRESS', 'running'],
  ['COMPLETED', 'completed'],
  ['FAILED', 'failed'],
  ['EXPIRED', 'expired'],
  ['CANCELLED', 'cancelled'],
])

const fileKind: ResourceKind = {
  readId: (reply) => jobIdOf(parseReply(reply)['id']),
  remove: deleteRequest,
  listing: {
    request: () => get('/files'),
    read: (reply, marker) => readListing(reply, (entry) => entry['filename'] === `${marker}.jsonl`),
  },
}

/** A batch that nobody waits for is cancelled; what it has run by then is a file. */
const jobKind: ResourceKind = {
  readId: (reply) => jobIdOf(jobOf(reply)['id']),
  remove: cancelRequest,
  // What has ended cannot be cancelled.
  isGone: (status) => status === 400 || status === 409,
  listing: {
    request: () => get(root),
    read(reply, marker) {
      const { found, ...page } = readSearch(reply, marker)
      return { ...page, found: found.map(({ reading, createdAtMs }) => ({ id: reading.id, createdAtMs })) }
    },
  },
  remains: {
    look: lookRequest,
    read(reply) {
      const { state, outputs } = readJob(jobOf(reply))
      return state === null || state === 'running' ? null : outputs.map(deleteRequest)
    },
  },
}

/**
 * Together's batches of chat. A file is announced first; the answer redirects to the address of a storage, where its bytes
 * go without a key, and then it is taken in. A batch is found by its file.
 * Calls by its SDK (npm together-ai 0.52.0); https://docs.together.ai/docs/inference/batch/overview
 */
export const togetherBatchJobs: BatchJobs = {
  name: 'together',
  limits: { items: 50_000, bytes: 100_000_000, windowMs: 86_400_000 },
  uncertainCreate: 'searchable',
  formats: ['chat'],
  operationOf: ({ path }) => (path === '/chat/completions' ? operation : null),
  encodeLine: ({ id, body }) =>
    Buffer.concat([Buffer.from(`{"custom_id":${JSON.stringify(id)},"body":`), body, Buffer.from('}\n')]),
  upload: {
    begin(name) {
      const members = { file_name: `${name}.jsonl`, file_type: 'jsonl', purpose: 'batch-api' }
      const form = new URLSearchParams(members).toString()
      return {
        method: 'POST',
        path: `/files?${form}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: [form],
        answersRedirect: true,
      }
    },
    request(_, lines, begun) {
      const at = begun?.headers.get('location') ?? ''
      if (!URL.canParse(at))
        throw new GatewayError('provider_failed', 'The provider named no place for the file.')
      const headers = { 'content-type': 'application/octet-stream' }
      return { method: 'PUT', path: '', at, headers, body: lines }
    },
    readId(_, begun) {
      const id = jobIdOf(begun?.headers.get('x-together-file-id'))
      if (id === null) throw new GatewayError('provider_failed', 'The provider named no file.')
      return id
    },
    finish: (fileId) => ({
      method: 'POST',
      path: `/files/${encodeURIComponent(fileId)}/preprocess`,
      headers: acceptJson,
      body: null,
    }),
  },
  create({ fileId }) {
    const body = JSON.stringify({ input_file_id: fileId, endpoint: operation, completion_window: '24h' })
    return {
      method: 'POST',
      path: root,
      headers: { ...acceptJson, 'content-type': 'application/json' },
      body: [body],
    }
  },
  look: lookRequest,
  cancel: cancelRequest,
  readJob: (reply) => readJob(jobOf(reply)),
  search: { markOf: ({ fileId }) => fileId ?? '', request: () => get(root), read: readSearch },
  download: contentRequest,
  readLine: readResponseLine,
  resources: {
    'together.batch_input': fileKind,
    'together.batch_output': { ...fileKind, listing: null },
    'together.batch': jobKind,
  },
}

function get(path: string): UpstreamRequest {
  return { method: 'GET', path, headers: acceptJson, body: null }
}

function lookRequest(jobId: string): UpstreamRequest {
  return get(`${root}/${encodeURIComponent(jobId)}`)
}

function cancelRequest(jobId: string): UpstreamRequest {
  return { ...lookRequest(jobId), path: `${root}/${encodeURIComponent(jobId)}/cancel`, method: 'POST' }
}

/** The answer to a creation has the batch inside, every other one is the batch. */
function jobOf(reply: UpstreamReply): WireRecord {
  const wire = parseReply(reply)
  return recordOrNull(wire['job']) ?? wire
}

function readJob(wire: WireRecord): JobReading {
  const state = states.get(textOrEmpty(wire['status'])) ?? null
  const error = textOrEmpty(wire['error'])
  return {
    id: idOf(wire),
    state,
    doneCount: null,
    outputs: [wire['output_file_id'], wire['error_file_id']].flatMap((id) => jobIdOf(id) ?? []),
    problem: state === 'failed' && error !== '' ? { code: 'failed', message: error, isFull: false } : null,
  }
}

/** Everything at once, as a bare list. */
function readSearch({ bytes }: UpstreamReply, mark: string): JobPage {
  const list = parsedOrNull(bytes)
  if (!Array.isArray(list)) throw new GatewayError('provider_failed', 'The provider answered with no list.')
  const found = recordsOrEmpty(list)
    .filter((entry) => textOrNull(entry['input_file_id']) === mark)
    .map((entry): FoundJob => ({ reading: readJob(entry), createdAtMs: createdAtMsOf(entry) }))
  return { found, oldestAtMs: null, older: null }
}
