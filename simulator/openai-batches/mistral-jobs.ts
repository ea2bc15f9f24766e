import { ApiError, invalidRequest } from '../errors.ts'
import { isObject, type JsonObject } from '../json.ts'
import { lettersOf } from '../random.ts'
import { jsonReply, type Reply } from '../reply.ts'
import { type BatchesAsked, beginBatch, cancelBatch, look } from './batches.ts'
import { endedStatuses, type StoredBatch } from './kept-batches.ts'
import { type InputLine, openAiLines } from './lines.ts'

// Mistral's batch jobs on OpenAI's files: a job of one model, that is deleted once it has ended.

const root = '/v1/batch/jobs'
const jobPath = /^\/v1\/batch\/jobs\/([a-z0-9-]+)(\/cancel)?$/
const endpoints = new Set(['/v1/chat/completions', '/v1/embeddings'])
const createMembers: ReadonlySet<string> = new Set([
  'input_files',
  'endpoint',
  'model',
  'metadata',
  'timeout_hours',
])
const pageUsual = 100

const wordOf: Readonly<Record<string, string>> = {
  validating: 'QUEUED',
  in_progress: 'RUNNING',
  finalizing: 'RUNNING',
  cancelling: 'CANCELLATION_REQUESTED',
  completed: 'SUCCESS',
  failed: 'FAILED',
  expired: 'TIMEOUT_EXCEEDED',
  cancelled: 'CANCELLED',
}

/** True for a path of Mistral's jobs. */
export function isMistralJobsPath(path: string): boolean {
  return path === root || path.startsWith(`${root}/`)
}

/** Answers a request about Mistral's jobs. Throws `ApiError`. */
export async function operateMistralJobs(asked: BatchesAsked): Promise<Reply> {
  const { method, path, query, kept } = asked
  if (path === root && method === 'POST') return show(create(asked))
  if (path === root && method === 'GET') return jsonReply(JSON.stringify(listOf(asked, query)))
  const [, id = '', cancel] = jobPath.exec(path) ?? []
  const job = kept.batches.get(id)
  if (job === undefined) throw new ApiError({ status: 404, message: 'Batch job not found.' })
  if (cancel !== undefined && method === 'POST') {
    cancelBatch(job)
    return show(job)
  }
  if (cancel === undefined && method === 'GET') {
    await look(job, kept)
    return show(job)
  }
  if (cancel !== undefined || method !== 'DELETE')
    throw new ApiError({ status: 405, message: `Not allowed to ${method} on ${path}.` })
  if (!endedStatuses.has(job.status)) throw invalidRequest('The job runs: cancel it first.')
  kept.batches.delete(id)
  return jsonReply(JSON.stringify({ id, object: 'batch', deleted: true }))
}

function create(asked: BatchesAsked): StoredBatch {
  const { json, kept, key } = asked
  if (json === null) throw invalidRequest('The body of the request is no JSON object.')
  const unknown = Object.keys(json).find((name) => !createMembers.has(name))
  if (unknown !== undefined) throw invalidRequest('Extra inputs are not permitted', unknown)
  const { endpoint, model, input_files: files } = json
  if (typeof endpoint !== 'string' || !endpoints.has(endpoint))
    throw invalidRequest('Invalid endpoint.', 'endpoint')
  if (typeof model !== 'string') throw invalidRequest('A model is required.', 'model')
  const file = Array.isArray(files) && files.length === 1 ? kept.files.get(String(files[0])) : undefined
  if (file?.purpose !== 'batch') throw invalidRequest('No such file.', 'input_files')
  const letters = Buffer.from(lettersOf(`job ${key}`, 16)).toString('hex')
  const parts = [8, 12, 16, 20, 32].map((end, index, ends) => letters.slice(ends[index - 1] ?? 0, end))
  return beginBatch({
    ...asked,
    id: parts.join('-'),
    file,
    endpoint,
    metadata: isObject(json['metadata']) ? json['metadata'] : null,
    writer: openAiLines,
    parse: (text) => parsedLine(text, { endpoint, model }),
  })
}

function parsedLine(
  text: string,
  { endpoint, model }: { endpoint: string; model: string },
): InputLine | null {
  try {
    const value: unknown = JSON.parse(text)
    if (!isObject(value) || !isObject(value['body'])) return null
    const unknown = Object.keys(value).find((name) => name !== 'custom_id' && name !== 'body')
    if (unknown !== undefined || typeof value['custom_id'] !== 'string') return null
    return { customId: value['custom_id'], url: endpoint, body: { model, ...value['body'] } }
  } catch {
    return null
  }
}

function show(job: StoredBatch): Reply {
  return jsonReply(JSON.stringify(shown(job)))
}

function shown(job: StoredBatch): JsonObject {
  const { ran, times, faults, status } = job
  const isQueued = status === 'validating'
  const ended = (times['completed'] ?? times['failed'] ?? times['expired'] ?? times['cancelled']) || null
  return {
    id: job.id,
    object: 'batch',
    input_files: [job.inputFileId],
    metadata: job.metadata,
    endpoint: job.endpoint,
    model: job.model,
    agent_id: null,
    output_file: job.outputFileId,
    error_file: job.errorFileId,
    errors: status === 'failed' ? faults.map(({ message }) => ({ message, count: 1 })) : [],
    outputs: null,
    status: wordOf[status] ?? status,
    created_at: job.createdSeconds,
    started_at: times['in_progress'] ?? null,
    completed_at: ended,
    total_requests: isQueued ? 0 : job.total,
    completed_requests: (ran?.completed ?? 0) + (ran?.failed ?? 0),
    succeeded_requests: ran?.completed ?? 0,
    failed_requests: ran?.failed ?? 0,
  }
}

/** The newest first where that is asked for. */
function listOf({ kept }: BatchesAsked, query: URLSearchParams): JsonObject {
  const all = [...kept.batches.values()]
  const ordered = query.get('order_by') === 'created' ? all : all.toReversed()
  const size = Number(query.get('page_size') ?? pageUsual)
  const start = Number(query.get('page') ?? 0) * size
  return { object: 'list', data: ordered.slice(start, start + size).map(shown), total: all.length }
}
