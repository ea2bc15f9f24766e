import type { BatchJobs, FoundJob, JobLine, JobPage, JobReading } from '../../canonical/batch-jobs.ts'
import type { ResourceKind } from '../../canonical/resource-notes.ts'
import type { UpstreamReply, UpstreamRequest } from '../../canonical/upstream.ts'
import { GatewayError } from '../../core/errors.ts'
import { memberOf, parsedOrNull, parseReply, statusOfRpc } from '../../formats/jobs/job-wire.ts'
import {
  numberOrNull,
  recordOrEmpty,
  recordOrNull,
  recordsOrEmpty,
  textOrEmpty,
  textOrNull,
  type WireRecord,
} from '../../json/values.ts'
import { geminiFiles, isFileName } from './files.ts'

/** The version in the base URL: uploads have it behind a beginning of their own. */
const version = '/v1beta'
const fileType = 'application/jsonl'
const jsonHeaders = { 'content-type': 'application/json' }

/** The states by their last word: the SDKs have another beginning before it. */
const states: ReadonlyMap<string, JobReading['state']> = new Map([
  ['PENDING', 'running'],
  ['RUNNING', 'running'],
  ['SUCCEEDED', 'completed'],
  ['FAILED', 'failed'],
  ['CANCELLED', 'cancelled'],
  ['EXPIRED', 'expired'],
])

const cancelledCode = 1

/** A batch that nobody waits for: it is cancelled, and deleted when that has ended it. */
const jobKind: ResourceKind = {
  readId: (reply) => nameOrNull(parseReply(reply)['name']),
  remove: cancelRequest,
  // What has ended cannot be cancelled.
  isGone: (status) => status === 400 || status === 409,
  listing: {
    request: listRequest,
    read(reply, marker) {
      const { found, ...page } = readSearch(reply, marker)
      return { ...page, found: found.map(({ reading, createdAtMs }) => ({ id: reading.id, createdAtMs })) }
    },
  },
  remains: {
    look: get,
    read(reply) {
      const { id, state, outputs } = readJob(parseReply(reply))
      if (state === null || state === 'running') return null
      return [...outputs, id].map((name) => ({ ...get(name), method: 'DELETE' }))
    },
    // Of a file that is not there any more Google says that it may not be read.
    isGone: (status) => status === 403,
  },
}

const fileKind = geminiFiles['gemini.file']

/**
 * Gemini's batches of a file of lines: the file is announced and sent, a batch of one model is made of it, and its results
 * are another file. Calls and members by its SDK (npm @google/genai 2.32.0); https://ai.google.dev/gemini-api/docs/batch-api.
 * Embeddings are not run. Their service has one text a line; its SDK (there `batches.createEmbeddings`) warns that it is
 * experimental and may change without notice, writes `taskType` and `outputDimensionality` beside the content, where another
 * client nests them, and Google's page for files spells them in snake case. A member that is misread makes vectors of another
 * length or kind, with status 200. The form whose creating request carries the lines is not used either: it takes at most
 * 20 MB in all and returns the results inside the batch, and saves one request of the file form, which has no such bounds.
 */
export const geminiBatchJobs: BatchJobs = {
  name: 'gemini',
  // A file may have 2 GB, and no number of lines is stated.
  limits: { items: 100_000, bytes: 1_000_000_000, windowMs: 86_400_000 },
  uncertainCreate: 'searchable',
  operationOf({ path }) {
    const model = /^\/models\/([^/:]+):generateContent$/.exec(path)?.[1]
    return model === undefined ? null : `/models/${model}:batchGenerateContent`
  },
  encodeLine: ({ id, body }) =>
    Buffer.concat([Buffer.from(`{"key":${JSON.stringify(id)},"request":`), body, Buffer.from('}\n')]),
  upload: {
    begin: (displayName, { contentLength }) => ({
      method: 'POST',
      path: `/upload${version}/files`,
      inPlaceOf: version,
      headers: {
        ...jsonHeaders,
        'x-goog-upload-protocol': 'resumable',
        'x-goog-upload-command': 'start',
        'x-goog-upload-header-content-length': String(contentLength),
        'x-goog-upload-header-content-type': fileType,
      },
      body: [JSON.stringify({ file: { displayName } })],
    }),
    request(_, body, begun) {
      const place = begun?.headers.get('x-goog-upload-url') ?? ''
      if (!URL.canParse(place))
        throw new GatewayError('provider_failed', 'The provider named no place for the file.')
      return {
        method: 'POST',
        // To the deployment's own host: the key must not go to a host that a reply names.
        path: `/upload${version}/files${new URL(place).search}`,
        inPlaceOf: version,
        headers: {
          'content-type': fileType,
          'x-goog-upload-command': 'upload, finalize',
          'x-goog-upload-offset': '0',
        },
        body,
      }
    },
    readId(reply) {
      const id = fileKind?.readId(reply) ?? null
      if (id === null) throw new GatewayError('provider_failed', 'The provider named no file.')
      return id
    },
  },
  create({ nonce, operation, fileId }) {
    const batch = { displayName: nonce, inputConfig: { fileName: fileId } }
    return { method: 'POST', path: operation, headers: jsonHeaders, body: [JSON.stringify({ batch })] }
  },
  look: get,
  cancel: cancelRequest,
  readJob: (reply) => readJob(parseReply(reply)),
  search: { markOf: ({ nonce }) => nonce, request: listRequest, read: readSearch },
  download: (file) => get(`${file}:download?alt=media`),
  readLine,
  removesEnded: true,
  resources: {
    ...(fileKind === undefined
      ? {}
      : { 'gemini.batch_input': fileKind, 'gemini.batch_output': { ...fileKind, listing: null } }),
    'gemini.batch': jobKind,
  },
}

/** What a name stands for: `batches/…` or `files/…`. */
function get(name: string): UpstreamRequest {
  return { method: 'GET', path: `/${name}`, headers: {}, body: null }
}

function cancelRequest(name: string): UpstreamRequest {
  return { method: 'POST', path: `/${name}:cancel`, headers: jsonHeaders, body: ['{}'] }
}

function listRequest(older: string | null): UpstreamRequest {
  return get(`batches?pageSize=100${older === null ? '' : `&pageToken=${encodeURIComponent(older)}`}`)
}

function nameOrNull(value: unknown): string | null {
  return typeof value === 'string' && /^batches\/[\w-]{1,128}$/.test(value) ? value : null
}

function readJob(wire: WireRecord): JobReading {
  const id = nameOrNull(wire['name'])
  if (id === null) throw new GatewayError('provider_failed', 'The provider named no batch.')
  const metadata = recordOrEmpty(wire['metadata'])
  const state = states.get(textOrEmpty(metadata['state']).split('_').at(-1) ?? '') ?? null
  const stats = recordOrEmpty(metadata['batchStats'])
  const total = countOf(stats, 'requestCount')
  const error = recordOrNull(wire['error'])
  const output = recordOrNull(wire['response']) ?? recordOrEmpty(metadata['output'])
  const file = textOrNull(output['responsesFile'])
  return {
    id,
    state,
    doneCount: total === 0 ? null : total - countOf(stats, 'pendingRequestCount'),
    outputs: file !== null && isFileName(file) ? [file] : [],
    problem: error === null ? null : problemOf(error),
  }
}

function problemOf(error: WireRecord) {
  const code = numberOrNull(error['code'])
  // A quota of queued tokens, or of batches at once.
  return { code: String(code ?? ''), message: textOrEmpty(error['message']), isFull: code === 8 }
}

/** Counts are written as text, and none where they are zero. */
function countOf(stats: WireRecord, name: string): number {
  const count = Number(stats[name] ?? 0)
  return Number.isSafeInteger(count) && count > 0 ? count : 0
}

function readSearch(reply: UpstreamReply, nonce: string): JobPage {
  const wire = parseReply(reply)
  const entries = recordsOrEmpty(wire['operations']).filter(({ name }) => nameOrNull(name) !== null)
  const last = entries.at(-1)
  const found = entries
    .filter(({ metadata }) => recordOrEmpty(metadata)['displayName'] === nonce)
    .map((entry): FoundJob => ({ reading: readJob(entry), createdAtMs: createdAtMsOf(entry) }))
  return {
    found,
    oldestAtMs: last === undefined ? null : createdAtMsOf(last),
    older: textOrNull(wire['nextPageToken']),
  }
}

function createdAtMsOf({ metadata }: WireRecord): number | null {
  const ms = Date.parse(textOrEmpty(recordOrEmpty(metadata)['createTime']))
  return Number.isNaN(ms) ? null : ms
}

function readLine(bytes: Uint8Array): JobLine | null {
  const line = recordOrNull(parsedOrNull(bytes))
  const id = textOrNull(line?.['key'])
  if (line === null || id === null) return null
  if (recordOrNull(line['response']) !== null)
    return { id, result: { type: 'answer', status: 200, body: memberOf(bytes, ['response']) } }
  const error = recordOrEmpty(line['error'])
  const code = numberOrNull(error['code'])
  if (code === cancelledCode) return { id, result: { type: 'not run', reason: 'batch_cancelled' } }
  const status = statusOfRpc(code)
  if (status === null) return { id, result: { type: 'failed', message: textOrEmpty(error['message']) } }
  return { id, result: { type: 'answer', status, body: Buffer.from(JSON.stringify({ error })) } }
}
