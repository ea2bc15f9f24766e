import { ApiError, invalidRequest } from '../errors.ts'
import type { Faults } from '../faults.ts'
import { isObject, type JsonObject } from '../json.ts'
import { readOutput } from '../openai-batches/kept-batches.ts'
import { type InputLine, type LineWriter, runLines, type RunLine } from '../openai-batches/lines.ts'
import { fractionOf, lettersOf } from '../random.ts'
import { jsonReply, type Reply } from '../reply.ts'
import type { KeptMessageBatches, MessageBatch } from './kept-message-batches.ts'

/** A request about batches of messages. */
export interface MessageBatchesAsked {
  method: string
  path: string
  query: URLSearchParams
  json: JsonObject | null
  kept: KeptMessageBatches
  faults: Faults
  /** Looks before a batch ends, unless a fault says otherwise. */
  usualLooks: number
  runLine: RunLine
  key: string
  /** The address of the mount, for `results_url`. */
  origin: string
}

const root = '/v1/messages/batches'
const batchPath = /^\/v1\/messages\/batches\/(msgbatch_[A-Za-z0-9]+)(\/cancel|\/results)?$/
const customIdPattern = /^[A-Za-z0-9_-]{1,64}$/
const requestsMax = 100_000
const windowMs = 86_400_000
const pageUsual = 20
const pageMax = 1_000
/** What a look at a running batch says of the next one, in seconds. */
const lookAgainSeconds = '10'

/** True for a path of batches of messages. */
export function isMessageBatchesPath(path: string): boolean {
  return path === root || path.startsWith(`${root}/`)
}

/** Answers a request about batches of messages. Throws `ApiError`. */
export async function operateMessageBatches(asked: MessageBatchesAsked): Promise<Reply> {
  const { method, path, kept } = asked
  if (path === root && method === 'POST') return show(create(asked), asked)
  if (path === root && method === 'GET') return jsonReply(JSON.stringify(pageOf(asked)))
  const [, id = '', below] = batchPath.exec(path) ?? []
  const batch = kept.batches.get(id)
  if (batch === undefined) throw new ApiError({ status: 404, message: 'Batch not found.' })
  const action = `${method} ${below ?? ''}`
  if (action === 'GET ') {
    await look(batch)
    return show(batch, asked)
  }
  if (action === 'GET /results') return resultsOf(batch)
  if (action === 'POST /cancel') {
    if (batch.endedAtMs !== null) throw invalidRequest('The batch has ended and cannot be canceled.')
    batch.cancelledAtMs ??= Date.now()
    return show(batch, asked)
  }
  if (action !== 'DELETE ') throw new ApiError({ status: 405, message: 'Method Not Allowed' })
  if (batch.endedAtMs === null)
    throw invalidRequest('The batch is in progress: cancel it before you delete it.')
  kept.batches.delete(id)
  return jsonReply(JSON.stringify({ id, type: 'message_batch_deleted' }))
}

function create({ json, kept, faults, usualLooks, runLine, key }: MessageBatchesAsked): MessageBatch {
  const lines = linesIn(json)
  const { min, max } = faults.batchLooks ?? { min: usualLooks, max: usualLooks }
  const batch: MessageBatch = {
    id: `msgbatch_01${lettersOf(`batch ${key}`, 22)}`,
    createdAtMs: Date.now(),
    total: lines.length,
    end: faults.batchEnd ?? 'completed',
    isEndless: faults.jobEndless === true,
    looksMax: min + Math.floor((max - min + 1) * fractionOf(`looks ${key}`)),
    looks: 0,
    cancelledAtMs: null,
    endedAtMs: null,
    run: (share, reason) => runLines(lines, { share, reason, key, faults, kept, runLine, writer }),
    ran: null,
  }
  kept.keep(batch)
  return batch
}

function linesIn(json: JsonObject | null): InputLine[] {
  const requests = json?.['requests']
  if (!Array.isArray(requests)) throw invalidRequest('Field required', 'requests')
  const unknown = Object.keys(json ?? {}).find((name) => name !== 'requests')
  if (unknown !== undefined) throw invalidRequest('Extra inputs are not permitted', unknown)
  if (requests.length === 0 || requests.length > requestsMax)
    throw invalidRequest(`must have 1 to ${requestsMax} entries.`, 'requests')
  const seen = new Set<string>()
  return requests.map((request: unknown, index) => {
    const place = `requests[${index}]`
    if (!isObject(request) || !isObject(request['params']))
      throw invalidRequest('Field required', `${place}.params`)
    const customId = String(request['custom_id'])
    if (!customIdPattern.test(customId)) throw invalidRequest('must match the pattern.', `${place}.custom_id`)
    if (seen.has(customId)) throw invalidRequest('must be unique.', `${place}.custom_id`)
    seen.add(customId)
    if (request['params']['stream'] === true)
      throw invalidRequest('streaming is not supported in batches.', `${place}.params.stream`)
    return { customId, url: '/v1/messages', body: request['params'] }
  })
}

async function look(batch: MessageBatch): Promise<void> {
  batch.looks += 1
  if (batch.endedAtMs !== null) return
  const isOver = batch.cancelledAtMs !== null || (!batch.isEndless && batch.looks > batch.looksMax)
  if (!isOver) return
  const end = batch.cancelledAtMs === null ? batch.end : 'cancelled'
  const isWhole = end === 'completed'
  const reason = end === 'expired' ? 'batch_expired' : 'batch_cancelled'
  batch.ran = await batch.run(isWhole ? 1 : 0.5, isWhole ? null : reason)
  batch.endedAtMs = Date.now()
}

const writer: LineWriter = {
  answered({ customId }, status, body) {
    const parsed = JSON.parse(body) as JsonObject
    if (status >= 400) return lineOf(customId, { type: 'errored', error: parsed })
    const usage = isObject(parsed['usage']) ? parsed['usage'] : {}
    return lineOf(customId, {
      type: 'succeeded',
      message: { ...parsed, usage: { ...usage, service_tier: 'batch' } },
    })
  },
  refused({ customId }) {
    const error = { type: 'invalid_request_error', message: 'The request of this line is invalid.' }
    return lineOf(customId, { type: 'errored', error: { type: 'error', error, request_id: null } })
  },
  notRun: ({ customId }, reason) =>
    lineOf(customId, { type: reason === 'batch_expired' ? 'expired' : 'canceled' }),
}

function lineOf(customId: string, result: JsonObject): string {
  return JSON.stringify({ custom_id: customId, result })
}

function resultsOf({ id, ran }: MessageBatch): Reply {
  if (ran === null) throw new ApiError({ status: 404, message: 'The batch has no results yet.' })
  return {
    status: 200,
    contentType: 'application/x-jsonl',
    headers: { 'content-disposition': `attachment; filename="${id}_results.jsonl"` },
    body: readOutput(ran) + (ran.errors ?? ''),
  }
}

function show(batch: MessageBatch, { method, origin }: MessageBatchesAsked): Reply {
  const reply = jsonReply(JSON.stringify(shown(batch, origin)))
  if (method !== 'GET' || batch.endedAtMs !== null) return reply
  return { ...reply, headers: { ...reply.headers, 'retry-after': lookAgainSeconds } }
}

function shown(batch: MessageBatch, origin: string): JsonObject {
  const { id, total, ran, endedAtMs, cancelledAtMs, createdAtMs } = batch
  const left = total - (ran?.completed ?? 0) - (ran?.failed ?? 0)
  const notRun = ran?.notRun ?? 0
  const isExpired = cancelledAtMs === null && batch.end === 'expired'
  const ended = cancelledAtMs === null ? 'in_progress' : 'canceling'
  return {
    id,
    type: 'message_batch',
    processing_status: endedAtMs === null ? ended : 'ended',
    request_counts: {
      processing: endedAtMs === null ? total : Math.max(0, left),
      succeeded: ran?.completed ?? 0,
      errored: (ran?.failed ?? 0) - notRun,
      canceled: isExpired ? 0 : notRun,
      expired: isExpired ? notRun : 0,
    },
    ended_at: timeOf(endedAtMs),
    created_at: timeOf(createdAtMs),
    expires_at: timeOf(createdAtMs + windowMs),
    archived_at: null,
    cancel_initiated_at: timeOf(cancelledAtMs),
    results_url: endedAtMs === null ? null : `${origin}${root}/${id}/results`,
  }
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString().replace('Z', '000+00:00')
}

/** The newest first. */
function pageOf({ kept, query, origin }: MessageBatchesAsked): JsonObject {
  const limit = Number(query.get('limit') ?? pageUsual)
  if (!Number.isInteger(limit) || limit < 1 || limit > pageMax)
    throw invalidRequest(`must be from 1 to ${pageMax}.`, 'limit')
  const all = [...kept.batches.values()].toReversed()
  const after = query.get('after_id')
  const at = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1
  if (after !== null && at === 0) throw new ApiError({ status: 404, message: 'Batch not found.' })
  const page = all.slice(at, at + limit)
  return {
    data: page.map((batch) => shown(batch, origin)),
    has_more: at + page.length < all.length,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  }
}
