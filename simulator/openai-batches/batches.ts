import { ApiError, invalidRequest, unknownParameter } from '../errors.ts'
import type { Faults } from '../faults.ts'
import { isObject, type JsonObject } from '../json.ts'
import { fractionOf, lettersOf } from '../random.ts'
import { jsonReply, type Reply } from '../reply.ts'
import { nowSeconds, pageOf, pretty, writtenFile } from './files.ts'
import { livePathOf, type OpenAiService, parseLine } from './services.ts'
import { endedStatuses, type KeptBatches, type StoredBatch, type StoredFile } from './kept-batches.ts'
import {
  type LineBounds,
  type LineWriter,
  openAiLines,
  type ParseLine,
  readInput,
  runLines,
  type RunLine,
} from './lines.ts'

/** A request about batches. */
export interface BatchesAsked {
  method: string
  path: string
  query: URLSearchParams
  json: JsonObject | null
  kept: KeptBatches
  faults: Faults
  /** Looks before a batch ends, unless a fault says otherwise. */
  usualLooks: number
  runLine: RunLine
  service: OpenAiService
  key: string
}

export const batchesPath = '/v1/batches'
const batchPath = /^\/v1\/batches\/(batch_[a-z0-9]+)(\/cancel)?$/
const usualBounds: LineBounds = { lines: 50_000 }
const windowSeconds = 86_400
const metadataMax = { pairs: 16, key: 64, value: 512 }

/** True for a path of batches. */
export function isBatchesPath(path: string): boolean {
  return path === batchesPath || path.startsWith(`${batchesPath}/`)
}

/** Answers a request about batches. Throws `ApiError`. */
export async function operateBatches(asked: BatchesAsked): Promise<Reply> {
  const { method, path, query, kept, service } = asked
  const shown = (batch: StoredBatch) => service.show(openAiBatch(batch), batch)
  if (path === batchesPath && method === 'POST') return jsonReply(pretty(shown(create(asked))))
  if (path === batchesPath && method === 'GET') {
    const all = [...kept.batches.values()].toReversed()
    return jsonReply(pretty(pageOf(all, query, { shown, limitUsual: 20, limitMax: 100 })))
  }
  const [, id = '', cancel] = batchPath.exec(path) ?? []
  const batch = kept.batches.get(id)
  if (batch === undefined)
    throw new ApiError({ status: 404, message: `No batch found with id '${path.split('/')[3] ?? ''}'.` })
  if (cancel === undefined && method === 'GET') {
    await look(batch, kept)
    return jsonReply(pretty(shown(batch)))
  }
  if (cancel === undefined || method !== 'POST')
    throw new ApiError({ status: 405, message: `Not allowed to ${method} on ${path}.` })
  cancelBatch(batch)
  return jsonReply(pretty(shown(batch)))
}

/** Asks a batch to end. Throws `ApiError` for one that has. */
export function cancelBatch(batch: StoredBatch): void {
  if (endedStatuses.has(batch.status)) {
    const message = `Cannot cancel a batch with status '${batch.status}'.`
    throw new ApiError({ status: 409, message })
  }
  batch.cancelledAtLook ??= batch.looks
  reach(batch, 'cancelling')
}

function create({ json, kept, faults, usualLooks, runLine, service, key }: BatchesAsked): StoredBatch {
  const body = checked(json, service)
  const endpoint = String(body['endpoint'])
  const file = kept.files.get(String(body['input_file_id']))
  if (file?.purpose !== 'batch')
    throw invalidRequest(`Invalid 'input_file_id': no such file.`, 'input_file_id')
  return beginBatch({
    id: `batch_${Buffer.from(lettersOf(`batch ${key}`, 16)).toString('hex')}`,
    file,
    endpoint,
    metadata: isObject(body['metadata']) ? body['metadata'] : null,
    writer: openAiLines,
    kept,
    parse: (text) => parseLine(text, endpoint, service),
    bounds: service.bounds ?? usualBounds,
    faults,
    usualLooks,
    runLine: (path, line, lineKey) => runLine(livePathOf(path), line, lineKey),
    key,
  })
}

/** A batch as a service makes one: its id, its file, and how it reads and writes lines. */
interface NewBatch extends Pick<BatchesAsked, 'kept' | 'faults' | 'usualLooks' | 'runLine' | 'key'> {
  id: string
  file: StoredFile
  endpoint: string
  metadata: JsonObject | null
  writer: LineWriter
  parse: ParseLine
  bounds?: LineBounds
  /** All lines of its results are in one file. */
  hasOneOutput?: boolean
  losesExpired?: boolean
  writesNoFiles?: boolean
}

/** Makes a batch of a file and keeps it. */
export function beginBatch({
  id,
  file,
  endpoint,
  metadata,
  writer,
  parse,
  bounds = usualBounds,
  hasOneOutput = false,
  losesExpired = false,
  writesNoFiles = false,
  kept,
  faults,
  usualLooks,
  runLine,
  key,
}: NewBatch): StoredBatch {
  const input = readInput(file.content, endpoint, { parse, bounds })
  const { min, max } = faults.batchLooks ?? { min: usualLooks, max: usualLooks }
  const { batchFault } = faults
  const batch: StoredBatch = {
    id,
    endpoint,
    inputFileId: file.id,
    metadata,
    createdSeconds: nowSeconds(),
    model: input.model,
    total: input.lines.length,
    faults: batchFault === undefined ? input.faults : [batchFault],
    end: batchFault !== undefined || input.faults.length > 0 ? 'failed' : (faults.batchEnd ?? 'completed'),
    isEndless: faults.jobEndless === true,
    losesExpired,
    writesNoFiles,
    looksMax: min + Math.floor((max - min + 1) * fractionOf(`looks ${key}`)),
    looks: 0,
    cancelledAtLook: null,
    status: 'validating',
    times: {},
    run: async (share, reason) => {
      const ran = await runLines(input.lines, { share, reason, key, faults, kept, runLine, writer })
      return hasOneOutput ? { ...ran, output: (ran.output ?? '') + (ran.errors ?? ''), errors: null } : ran
    },
    ran: null,
    outputFileId: null,
    errorFileId: null,
  }
  kept.keepBatch(batch)
  return batch
}

function checked(body: JsonObject | null, { members, endpoints, windows }: OpenAiService): JsonObject {
  if (body === null) throw invalidRequest('The body of the request could not be parsed as a JSON object.')
  const unknown = Object.keys(body).find((name) => !members.includes(name))
  if (unknown !== undefined) throw unknownParameter(unknown)
  if (typeof body['input_file_id'] !== 'string')
    throw invalidRequest("Missing required parameter: 'input_file_id'.", 'input_file_id')
  if (!endpoints.includes(String(body['endpoint'])))
    throw invalidRequest(`Invalid value: '${String(body['endpoint'])}'.`, 'endpoint')
  const { completion_window: window } = body
  if (window === undefined ? !windows.includes(null) : !windows.includes(String(window)))
    throw invalidRequest("Invalid value: 'completion_window' must be '24h'.", 'completion_window')
  const { metadata = null } = body
  if (metadata !== null) checkMetadata(metadata)
  return body
}

function checkMetadata(metadata: unknown): void {
  const pairs = isObject(metadata) ? Object.entries(metadata) : null
  const isGood = pairs?.every(
    ([name, value]) =>
      typeof value === 'string' && name.length <= metadataMax.key && value.length <= metadataMax.value,
  )
  if (isGood !== true || pairs === null || pairs.length > metadataMax.pairs)
    throw invalidRequest("Invalid 'metadata'.", 'metadata')
}

/** One look brings a batch on: it validates, runs, writes its files and has ended, each for a look at least. */
export async function look(batch: StoredBatch, kept: KeptBatches): Promise<void> {
  batch.looks += 1
  if (endedStatuses.has(batch.status)) return
  if (batch.cancelledAtLook !== null) {
    if (batch.looks > batch.cancelledAtLook + 1) await finish(batch, kept, 'cancelled')
    return
  }
  if (batch.looks === 1) return
  if (batch.end === 'failed') return reach(batch, 'failed')
  if (batch.isEndless || batch.looks <= batch.looksMax) return reach(batch, 'in_progress')
  if (batch.status !== 'finalizing') return reach(batch, 'finalizing')
  await finish(batch, kept, batch.end)
}

async function finish(batch: StoredBatch, kept: KeptBatches, end: string): Promise<void> {
  if (end === 'expired' && batch.losesExpired) return reach(batch, end)
  const isWhole = end === 'completed'
  const ran = await batch.run(
    isWhole ? 1 : 0.5,
    isWhole ? null : `batch_${end === 'expired' ? end : 'cancelled'}`,
  )
  batch.ran = ran
  if (batch.writesNoFiles) return reach(batch, end)
  if (ran.output !== null) {
    const file = writtenFile(`output ${batch.id}`, `${batch.id}_output.jsonl`, ran.output)
    file.late = ran.late
    kept.keepFile(file)
    batch.outputFileId = file.id
  }
  if (ran.errors !== null) {
    const file = writtenFile(`error ${batch.id}`, `${batch.id}_error.jsonl`, ran.errors)
    kept.keepFile(file)
    batch.errorFileId = file.id
  }
  reach(batch, end)
}

function reach(batch: StoredBatch, status: string): void {
  batch.status = status
  batch.times[status] ??= nowSeconds()
}

/** A batch as OpenAI shows it. */
function openAiBatch(batch: StoredBatch): JsonObject {
  const { times, ran, status, faults } = batch
  const isKnown = status !== 'validating' && status !== 'failed'
  const { input = 0, cached = 0, output = 0, reasoning = 0 } = ran?.usage ?? {}
  const data = faults.map(({ code, message, line }) => ({ code, message, param: null, line }))
  return {
    id: batch.id,
    object: 'batch',
    endpoint: batch.endpoint,
    model: isKnown ? batch.model : null,
    errors: status === 'failed' ? { object: 'list', data } : null,
    input_file_id: batch.inputFileId,
    completion_window: '24h',
    status,
    output_file_id: batch.outputFileId,
    error_file_id: batch.errorFileId,
    created_at: batch.createdSeconds,
    in_progress_at: times['in_progress'] ?? null,
    expires_at: batch.createdSeconds + windowSeconds,
    finalizing_at: times['finalizing'] ?? null,
    completed_at: times['completed'] ?? null,
    failed_at: times['failed'] ?? null,
    expired_at: times['expired'] ?? null,
    cancelling_at: times['cancelling'] ?? null,
    cancelled_at: times['cancelled'] ?? null,
    request_counts: {
      total: isKnown ? batch.total : 0,
      completed: ran?.completed ?? 0,
      failed: ran?.failed ?? 0,
    },
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + output,
    },
    metadata: batch.metadata,
  }
}
