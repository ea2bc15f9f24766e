import type {
  BatchJobs,
  JobLimits,
  JobLine,
  JobPage,
  JobReading,
  JobUpload,
} from '../../canonical/batch-jobs.ts'
import type { FoundResource, ResourceKind } from '../../canonical/resource-notes.ts'
import type { StreamedBody, UpstreamReply, UpstreamRequest } from '../../canonical/upstream.ts'
import { GatewayError } from '../../core/errors.ts'
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
import { encodeForm } from '../transcription/multipart-body.ts'
import { jobIdOf } from '../transcription/job-id.ts'
import { memberOf, parsedOrNull, parseReply } from './job-wire.ts'

/** What differs between providers with OpenAI's files and batches. */
export interface OpenAiJobsOptions {
  /** Stored with the notes of what is left there, such as `openai`. */
  name: string
  limits: JobLimits
  /** The `endpoint` of a batch by the path of the live request below the base URL, or how it follows from the request. */
  operations: Readonly<Record<string, string>> | BatchJobs['operationOf']
  /** As `BatchJobs.formats`. */
  formats?: BatchJobs['formats']
  /** Where its lines have no method and no address. */
  hasBareLines?: boolean
  /** What the listing shows of a job: the gateway's metadata, or its file alone. Metadata when left out. */
  foundBy?: 'metadata' | 'file'
  /** `completion_window` of a job; null where it has none. `24h` when left out. */
  window?: string | null
  /** Further members of the request that creates a job. */
  members?: Readonly<Record<string, unknown>>
  /** As in its requests. */
  rebase?: UpstreamRequest['rebase']
  lookWaitMs?: number
  /** Its listings take no parameters and show everything at once. */
  isListedWhole?: boolean
  /** Jobs on one page of its listing; OpenAI's maximum when left out. */
  listedJobs?: number
}

/** The metadata member in which a batch carries its nonce, by which the listing finds it. */
const nonceMember = 'headrace_job'
/** Jobs and files on one page of a listing: the provider's maximum for jobs, and enough files. */
const listedJobsMax = 100
const listedFilesMax = 1_000
/** What a batch has too much queued for is said by one of these codes. */
const fullCodes: ReadonlySet<string> = new Set(['token_limit_exceeded', 'rate_limit_exceeded'])
const jsonHeaders = { 'content-type': 'application/json', accept: 'application/json' }
const acceptJson = { accept: 'application/json' }

/** Some write them in capitals, and Novita has a word of its own for the second. */
const states: ReadonlyMap<string, JobReading['state']> = new Map([
  ['validating', 'running'],
  ['in_progress', 'running'],
  ['progress', 'running'],
  ['finalizing', 'running'],
  ['cancelling', 'running'],
  ['completed', 'completed'],
  ['failed', 'failed'],
  ['expired', 'expired'],
  ['cancelled', 'cancelled'],
])

/**
 * OpenAI's batch service: a file of lines is uploaded, a batch is made of it, and its results are two further files.
 * https://platform.openai.com/docs/guides/batch
 */
export function openAiJobs(options: OpenAiJobsOptions): BatchJobs {
  const {
    name,
    limits,
    operations,
    formats,
    hasBareLines = false,
    foundBy = 'metadata',
    lookWaitMs,
  } = options
  const { isListedWhole = false, listedJobs = listedJobsMax, window = '24h', members = {}, rebase } = options
  const at = (request: UpstreamRequest): UpstreamRequest =>
    rebase === undefined ? request : { ...request, rebase }
  const listJobs = (older: string | null) =>
    at(get(isListedWhole ? '/batches' : `/batches?limit=${listedJobs}${afterOf(older)}`))
  const listFiles = (older: string | null) =>
    at(
      get(
        isListedWhole ? '/files' : `/files?purpose=batch&limit=${listedFilesMax}&order=desc${afterOf(older)}`,
      ),
    )
  const markIn: MarkOf = foundBy === 'metadata' ? nonceOf : fileOf
  const inputKind = inputKindOf(listFiles, at)
  return {
    name,
    limits,
    // No idempotency header is documented; the listing shows the metadata or at least the file of each batch.
    uncertainCreate: 'searchable',
    ...(formats === undefined ? {} : { formats }),
    ...(lookWaitMs === undefined ? {} : { lookWaitMs }),
    operationOf: typeof operations === 'function' ? operations : ({ path }) => operations[path] ?? null,
    encodeLine({ id, operation, body }) {
      const address = hasBareLines ? '' : `"method":"POST","url":${JSON.stringify(operation)},`
      const head = `{"custom_id":${JSON.stringify(id)},${address}"body":`
      return Buffer.concat([Buffer.from(head), body, Buffer.from('}\n')])
    },
    upload: { ...fileUpload, request: (...asked) => at(fileUpload.request(...asked)) },
    create({ nonce, operation, fileId }) {
      const body = {
        input_file_id: fileId,
        endpoint: operation,
        ...(window === null ? {} : { completion_window: window }),
        ...(foundBy === 'metadata' ? { metadata: { [nonceMember]: nonce } } : {}),
        ...members,
      }
      return at({ method: 'POST', path: '/batches', headers: jsonHeaders, body: [JSON.stringify(body)] })
    },
    look: (jobId) => at(lookRequest(jobId)),
    cancel: (jobId) => at(cancelRequest(jobId)),
    readJob: (reply) => readJob(parseReply(reply)),
    search: {
      markOf: ({ nonce, fileId }) => (foundBy === 'metadata' ? nonce : (fileId ?? '')),
      request: listJobs,
      read: (reply, mark) => readSearch(reply, mark, markIn),
    },
    download: (fileId) => at(contentRequest(fileId)),
    readLine: readResponseLine,
    resources: {
      [`${name}.batch_input`]: inputKind,
      [`${name}.batch_output`]: { ...inputKind, listing: null },
      [`${name}.batch`]: jobKindOf(listJobs, markIn, at),
    },
  }
}

/** What a listing shows of a job that it can be found by. */
type MarkOf = (entry: WireRecord) => string | null

/** A file of lines, in one form. */
export const fileUpload: JobUpload = {
  request: (fileName, lines) => fileForm(fileName, lines, [['purpose', 'batch']]),
  readId: (reply) => idOf(parseReply(reply)),
}

/** The request that uploads lines as a file, with these fields beside it. */
export function fileForm(
  fileName: string,
  lines: StreamedBody,
  fields: readonly (readonly [string, string])[],
): UpstreamRequest {
  const file = {
    name: 'file',
    fileName: `${fileName}.jsonl`,
    contentType: 'application/jsonl',
    prefix: new Uint8Array(0),
    sizeBytes: lines.contentLength,
    open: () => lines.open(),
  }
  const form = encodeForm(fields, file)
  const headers = { ...acceptJson, 'content-type': form.contentType }
  return { method: 'POST', path: '/files', headers, body: form.body }
}

/** The request for the lines of a file. */
export function contentRequest(fileId: string): UpstreamRequest {
  const path = `/files/${encodeURIComponent(fileId)}/content`
  return { method: 'GET', path, headers: { accept: 'application/binary' }, body: null }
}

type List = (older: string | null) => UpstreamRequest
type Located = (request: UpstreamRequest) => UpstreamRequest

const asItIs: Located = (request) => request

/** A file of lines, which is found by its name. */
export function inputKindOf(request: List, at: Located = asItIs): ResourceKind {
  return {
    readId: (reply) => idOf(parseReply(reply)),
    remove: (fileId) => at(deleteRequest(fileId)),
    listing: {
      request,
      read: (reply, marker) => readListing(reply, (entry) => entry['filename'] === `${marker}.jsonl`),
    },
  }
}

/** A batch, which cannot be removed: one that nobody waits for is cancelled, and runs no further lines. */
function jobKindOf(request: List, markIn: MarkOf, at: Located): ResourceKind {
  return {
    readId: (reply) => idOf(parseReply(reply)),
    remove: (jobId) => at(cancelRequest(jobId)),
    // What has ended cannot be cancelled.
    isGone: (status) => status === 400 || status === 409,
    listing: {
      request,
      read: (reply, marker) => readListing(reply, (entry) => markIn(entry) === marker),
    },
    // A cancelled batch has files with the lines that were run before.
    remains: {
      look: (jobId) => at(lookRequest(jobId)),
      read(reply) {
        const { state, outputs } = readJob(parseReply(reply))
        return state === null || state === 'running' ? null : outputs.map((id) => at(deleteRequest(id)))
      },
    },
  }
}

/** The request that deletes a file. */
export function deleteRequest(fileId: string): UpstreamRequest {
  return { method: 'DELETE', path: `/files/${encodeURIComponent(fileId)}`, headers: acceptJson, body: null }
}

function lookRequest(jobId: string): UpstreamRequest {
  return get(`/batches/${encodeURIComponent(jobId)}`)
}

function cancelRequest(jobId: string): UpstreamRequest {
  return {
    method: 'POST',
    path: `/batches/${encodeURIComponent(jobId)}/cancel`,
    headers: acceptJson,
    body: null,
  }
}

function get(path: string): UpstreamRequest {
  return { method: 'GET', path, headers: acceptJson, body: null }
}

function afterOf(older: string | null): string {
  return older === null ? '' : `&after=${encodeURIComponent(older)}`
}

function readJob(wire: WireRecord): JobReading {
  const counts = recordOrEmpty(wire['request_counts'])
  const [completed, failed] = [countOrNull(counts['completed']), countOrNull(counts['failed'])]
  const outputs = [wire['output_file_id'], wire['error_file_id']].flatMap((id) => jobIdOf(id) ?? [])
  const state = states.get(textOrEmpty(wire['status']).toLowerCase()) ?? null
  const [first] = recordsOrEmpty(recordOrEmpty(wire['errors'])['data'])
  const code = textOrEmpty(first?.['code'])
  return {
    id: idOf(wire),
    state,
    doneCount: completed === null ? null : completed + (failed ?? 0),
    outputs,
    problem:
      first === undefined
        ? null
        : { code, message: textOrEmpty(first['message']), isFull: fullCodes.has(code) },
  }
}

function readSearch(reply: UpstreamReply, mark: string, markIn: MarkOf): JobPage {
  const wire = parseReply(reply)
  const entries = recordsOrEmpty(wire['data'])
  const last = entries.at(-1)
  return {
    found: entries
      .filter((entry) => markIn(entry) === mark)
      .map((entry) => ({ reading: readJob(entry), createdAtMs: createdAtMsOf(entry) })),
    oldestAtMs: last === undefined ? null : createdAtMsOf(last),
    older: olderOf(wire, entries),
  }
}

/** The entries of a listing that are looked for, by times in seconds. */
export function readListing(reply: UpstreamReply, isFound: (entry: WireRecord) => boolean) {
  const wire = parseReply(reply)
  const entries = recordsOrEmpty(wire['data'])
  const found: FoundResource[] = []
  for (const entry of entries) {
    const id = jobIdOf(entry['id'])
    if (id !== null && isFound(entry)) found.push({ id, createdAtMs: createdAtMsOf(entry) })
  }
  const last = entries.at(-1)
  return {
    found,
    oldestAtMs: last === undefined ? null : createdAtMsOf(last),
    older: olderOf(wire, entries),
  }
}

/** Its creation time, which stands in seconds or as a date; null where it does not tell. */
export function createdAtMsOf(entry: WireRecord): number | null {
  const seconds = numberOrNull(entry['created_at'])
  if (seconds !== null) return seconds * 1000
  const ms = Date.parse(textOrEmpty(entry['created_at']))
  return Number.isNaN(ms) ? null : ms
}

/** The id of a page's last entry; null on the last page. */
function olderOf(wire: WireRecord, entries: readonly WireRecord[]): string | null {
  return wire['has_more'] === true ? jobIdOf(entries.at(-1)?.['id']) : null
}

function nonceOf(entry: WireRecord): string | null {
  return textOrNull(recordOrEmpty(entry['metadata'])[nonceMember])
}

function fileOf(entry: WireRecord): string | null {
  return textOrNull(entry['input_file_id'])
}

/** A line of results: the status and the body of a live answer, or why there is none. */
export function readResponseLine(bytes: Uint8Array): JobLine | null {
  const line = recordOrNull(parsedOrNull(bytes))
  const id = textOrNull(line?.['custom_id'])
  if (line === null || id === null) return null
  const response = recordOrNull(line['response'])
  const status = numberOrNull(response?.['status_code'])
  if (response !== null && status !== null && recordOrNull(response['body']) !== null) {
    const body = memberOf(bytes, ['response', 'body'])
    return { id, result: { type: 'answer', status, body } }
  }
  const error = recordOrEmpty(line['error'])
  const code = textOrEmpty(error['code'])
  if (code === 'batch_expired' || code === 'batch_cancelled')
    return { id, result: { type: 'not run', reason: code } }
  return { id, result: { type: 'failed', message: textOrEmpty(error['message']) } }
}

/** The id of what a reply describes. Throws `provider_failed`. */
export function idOf(wire: WireRecord): string {
  const id = jobIdOf(wire['id'])
  if (id === null) throw new GatewayError('provider_failed', 'The provider named no id.')
  return id
}
