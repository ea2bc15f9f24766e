import type {
  BatchJobs,
  JobLimits,
  JobLine,
  JobPage,
  JobReading,
  JobUpload,
} from '../../canonical/batch-jobs.ts'
import type { FoundResource, ResourceKind } from '../../canonical/resource-notes.ts'
import type { UpstreamReply, UpstreamRequest } from '../../canonical/upstream.ts'
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
  /** The `endpoint` of a batch by the path of the live request below the base URL. */
  operations: Readonly<Record<string, string>>
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

/**
 * OpenAI's batch service: a file of lines is uploaded, a batch is made of it, and its results are two further files.
 * https://platform.openai.com/docs/guides/batch
 */
export function openAiJobs({
  name,
  limits,
  operations,
  isListedWhole = false,
  listedJobs = listedJobsMax,
}: OpenAiJobsOptions): BatchJobs {
  const listJobs = (older: string | null) =>
    get(isListedWhole ? '/batches' : `/batches?limit=${listedJobs}${afterOf(older)}`)
  const listFiles = (older: string | null) =>
    get(isListedWhole ? '/files' : `/files?purpose=batch&limit=${listedFilesMax}&order=desc${afterOf(older)}`)
  const inputKind = inputKindOf(listFiles)
  return {
    name,
    limits,
    // No idempotency header is documented; the listing shows the metadata of each batch.
    uncertainCreate: 'searchable',
    operationOf: ({ path }) => operations[path] ?? null,
    encodeLine: ({ id, operation, body }) =>
      Buffer.concat([
        Buffer.from(`{"custom_id":${JSON.stringify(id)},"method":"POST","url":"${operation}","body":`),
        body,
        Buffer.from('}\n'),
      ]),
    upload: fileUpload,
    create({ nonce, operation, fileId }) {
      const body = {
        input_file_id: fileId,
        endpoint: operation,
        completion_window: '24h',
        metadata: { [nonceMember]: nonce },
      }
      return { method: 'POST', path: '/batches', headers: jsonHeaders, body: [JSON.stringify(body)] }
    },
    look: (jobId) => get(`/batches/${encodeURIComponent(jobId)}`),
    cancel: cancelRequest,
    readJob: (reply) => readJob(parseReply(reply)),
    search: {
      markOf: ({ nonce }) => nonce,
      request: listJobs,
      read: readSearch,
    },
    download: contentRequest,
    readLine: readResponseLine,
    resources: {
      [`${name}.batch_input`]: inputKind,
      [`${name}.batch_output`]: { ...inputKind, listing: null },
      [`${name}.batch`]: jobKindOf(listJobs),
    },
  }
}

/** A file of lines, in one form. */
export const fileUpload: JobUpload = {
  request(fileName, lines) {
    const file = {
      name: 'file',
      fileName: `${fileName}.jsonl`,
      contentType: 'application/jsonl',
      prefix: new Uint8Array(0),
      sizeBytes: lines.contentLength,
      open: () => lines.open(),
    }
    const form = encodeForm([['purpose', 'batch']], file)
    const headers = { ...acceptJson, 'content-type': form.contentType }
    return { method: 'POST', path: '/files', headers, body: form.body }
  },
  readId: (reply) => idOf(parseReply(reply)),
}

/** The request for the lines of a file. */
export function contentRequest(fileId: string): UpstreamRequest {
  const path = `/files/${encodeURIComponent(fileId)}/content`
  return { method: 'GET', path, headers: { accept: 'application/binary' }, body: null }
}

type List = (older: string | null) => UpstreamRequest

/** A file of lines, which is found by its name. */
export function inputKindOf(request: List): ResourceKind {
  return {
    readId: (reply) => idOf(parseReply(reply)),
    remove: deleteRequest,
    listing: {
      request,
      read: (reply, marker) => readListing(reply, (entry) => entry['filename'] === `${marker}.jsonl`),
    },
  }
}

/** A batch, which cannot be removed: one that nobody waits for is cancelled, and runs no further lines. */
function jobKindOf(request: List): ResourceKind {
  return {
    readId: (reply) => idOf(parseReply(reply)),
    remove: cancelRequest,
    // What has ended cannot be cancelled.
    isGone: (status) => status === 400 || status === 409,
    listing: {
      request,
      read: (reply, marker) => readListing(reply, (entry) => nonceOf(entry) === marker),
    },
    // A cancelled batch has files with the lines that were run before.
    remains: {
      look: (jobId) => get(`/batches/${encodeURIComponent(jobId)}`),
      read(reply) {
        const { state, outputs } = readJob(parseReply(reply))
        return state === null || state === 'running' ? null : outputs.map(deleteRequest)
      },
    },
  }
}

/** The request that deletes a file. */
export function deleteRequest(fileId: string): UpstreamRequest {
  return { method: 'DELETE', path: `/files/${encodeURIComponent(fileId)}`, headers: acceptJson, body: null }
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

function readSearch(reply: UpstreamReply, nonce: string): JobPage {
  const wire = parseReply(reply)
  const entries = recordsOrEmpty(wire['data'])
  const last = entries.at(-1)
  return {
    found: entries
      .filter((entry) => nonceOf(entry) === nonce)
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

/** Its creation time, which stands in seconds; null where it does not tell. */
export function createdAtMsOf(entry: WireRecord): number | null {
  const seconds = numberOrNull(entry['created_at'])
  return seconds === null ? null : seconds * 1000
}

/** The id of a page's last entry; null on the last page. */
function olderOf(wire: WireRecord, entries: readonly WireRecord[]): string | null {
  return wire['has_more'] === true ? jobIdOf(entries.at(-1)?.['id']) : null
}

function nonceOf(entry: WireRecord): string | null {
  return textOrNull(recordOrEmpty(entry['metadata'])[nonceMember])
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
