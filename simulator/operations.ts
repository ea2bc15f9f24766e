import type { IncomingMessage } from 'node:http'
import { type ApiStyle, openAiStyle, responsesStyle } from './api-style.ts'
import { operateAudio } from './audio/audio-api.ts'
import { audioApiAt } from './audio/index.ts'
import { azureAddressOf, isAzurePath, withDeployment } from './azure/addresses.ts'
import { azureStyle } from './azure/style.ts'
import type { Call } from './call.ts'
import { converse, conversePath } from './bedrock/converse.ts'
import { invoke, invokePath } from './bedrock/invoke.ts'
import { bedrockStyle } from './bedrock/style.ts'
import { chatCompletion } from './chat.ts'
import { completion } from './completions.ts'
import { embeddings } from './embeddings.ts'
import { ApiError, invalidRequest } from './errors.ts'
import { lineMethod } from './fault-rules.ts'
import type { Faults } from './faults.ts'
import { isGoogleBatchesPath, operateGoogleBatches } from './gemini/batches.ts'
import { googleStyle } from './gemini/errors.ts'
import { isFilesPath, operateFiles } from './gemini/files.ts'
import { googlePath, operateGoogle } from './gemini/operations.ts'
import type { JsonObject } from './json.ts'
import { googleRequestBytesMax } from './limits.ts'
import { isMessageBatchesPath, operateMessageBatches } from './message-batches/message-batches.ts'
import { anthropicStyle, versioned, versionOf } from './messages/errors.ts'
import { countTokens, messages } from './messages/messages.ts'
import { claudeModelBody, claudeModelList } from './messages/models.ts'
import { modelBody, modelList } from './models.ts'
import type { Mount } from './mounts.ts'
import { isBatchesPath, operateBatches } from './openai-batches/batches.ts'
import { isStoredFilesPath, nowSeconds, operateStoredFiles } from './openai-batches/files.ts'
import type { RunLine } from './openai-batches/lines.ts'
import { operateOpenRouter } from './openai-batches/openrouter-jobs.ts'
import {
  isStoragePath,
  operateTogether,
  storageStyle,
  type TogetherAsked,
} from './openai-batches/together-jobs.ts'
import { operateXAi } from './openai-batches/xai-jobs.ts'
import { type BatchServiceName, openAiServiceOf } from './openai-batches/services.ts'
import { isMistralJobsPath, operateMistralJobs } from './openai-batches/mistral-jobs.ts'
import type { Programs } from './programs.ts'
import type { ReadBody } from './read-body.ts'
import { jsonReply, type Reply } from './reply.ts'
import { rerank } from './rerank/apis.ts'
import { countInputTokens, responses } from './responses/responses.ts'
import { storedResponse } from './responses/stored.ts'
import { speech } from './speech.ts'
import { transcription } from './transcriptions.ts'
import { atPublisher, isVertexPath, vertexStyleOf } from './vertex/addresses.ts'

/** A request to an operation, whose body has been read and whose key is valid. */
export interface Asked {
  request: IncomingMessage
  mount: Mount
  /** The path below the mount, without the query: from `/v1` on, or as another API has it. */
  path: string
  programs: Programs
  body: ReadBody
  /** The body as JSON; null when it is no object. */
  json: JsonObject | null
  faults: Faults
  key: string
  signal: AbortSignal
  /** The batch service that the path belongs to; that of the mount when left out. */
  batchService?: BatchServiceName
}

/** What an operation with a JSON body knows besides it. */
type JsonAsked = Pick<Asked, 'request' | 'mount' | 'programs'>

/** The operations that take a JSON body. */
type JsonOperation = (call: Call, asked: JsonAsked) => Reply | Promise<Reply>

const jsonOperations: Record<string, JsonOperation> = {
  '/v1/chat/completions': (call, { mount }) => chatCompletion(call, mount.scripts),
  '/v1/completions': (call, { mount }) => completion(call, mount.scripts),
  '/v1/responses': (call, { mount }) => responses(call, mount),
  '/v1/responses/input_tokens': (call, { mount }) => countInputTokens(call, mount),
  '/v1/messages': (call, { mount, request }) => messages({ call, mount, headers: request.headers }),
  '/v1/messages/count_tokens': (call, { mount, request }) =>
    countTokens({ call, mount, headers: request.headers }),
  '/v1/embeddings': embeddings,
  '/v1/rerank': rerank,
  '/v1/audio/speech': (call, { mount, programs }) => speech({ ...call, settings: mount.settings, programs }),
}
const transcriptionPath = '/v1/audio/transcriptions'
const storedPath = /^\/v1\/responses\/(resp_[A-Za-z0-9]+)$/

/** The API that a request speaks: Anthropic's by its path, or by its version header where the paths are the same. */
export function styleOf(path: string, headers: IncomingMessage['headers']): ApiStyle {
  const audio = audioApiAt(path)
  if (audio !== null) return audio.api.style
  if (path.startsWith(googlePath) || isFilesPath(path)) return googleStyle
  if (isStoragePath(path)) return storageStyle
  if (isAzurePath(path)) return azureStyle
  if (isVertexPath(path)) return vertexStyleOf(path)
  if (conversePath.test(path) || invokePath.test(path)) return bedrockStyle
  if (path.startsWith('/v1/messages')) return anthropicStyle
  if (path.startsWith('/v1/models') && headers['anthropic-version'] !== undefined) return anthropicStyle
  return path.startsWith('/v1/responses') ? responsesStyle : openAiStyle
}

/** The query of a URL. */
export function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  const at = url.indexOf('?')
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1))
}

/** Answers a request. Throws `ApiError` for requests that the provider refuses. */
export async function operate(asked: Asked): Promise<Reply> {
  const { path, mount, programs, request, faults, signal } = asked
  const method = request.method ?? 'GET'
  const query = queryOf(request)
  const audio = audioApiAt(path)
  if (audio !== null) return operateAudio(audio.api, { ...asked, method, query, path: audio.below })
  if (isAzurePath(path)) {
    const address = azureAddressOf(path, query)
    return operate({ ...withDeployment(asked, address), path: address.path, batchService: 'azure' })
  }
  if (isVertexPath(path)) return operate(atPublisher(asked))
  if (isFilesPath(path)) {
    const { body, json, key } = asked
    const listening = { faults, settings: mount.settings, programs, signal }
    const origin = originOf(asked)
    const kept = mount.googleFiles
    return operateFiles({
      method,
      path,
      query,
      origin,
      headers: request.headers,
      body,
      json,
      kept,
      lines: mount.batches,
      listening,
      key,
    })
  }
  if (isGoogleBatchesPath(path) || isMistralJobsPath(path)) return operateBatchService(asked, method, query)
  if (path.startsWith(googlePath)) {
    if (asked.body.bytes > googleRequestBytesMax)
      throw invalidRequest(`Request payload size exceeds the limit: ${googleRequestBytesMax} bytes.`)
    const call = asked.json === null ? null : callOf(asked, asked.json)
    return operateGoogle({ method, path, query, mount, programs, call })
  }
  if (path === '/v1/models' || path.startsWith('/v1/models/')) {
    allow(method, ['GET'], path)
    return jsonReply(modelsBody(asked))
  }
  if (isMessageBatchesPath(path)) return operateMessageService(asked, method, query)
  if (isStoredFilesPath(path) || isBatchesPath(path) || isStoragePath(path))
    return operateBatchService(asked, method, query)
  const stored = storedPath.exec(path)?.[1]
  if (stored !== undefined) {
    allow(method, ['GET', 'DELETE'], path)
    return storedResponse(stored, method, mount.responses)
  }
  if (path === transcriptionPath) {
    allow(method, ['POST'], path)
    if (asked.body.form === null) throw invalidRequest('Send the audio as multipart/form-data.', 'file')
    return transcription({ form: asked.body.form, faults, settings: mount.settings, programs, signal })
  }
  const operation = jsonOperationAt(path)
  if (operation === undefined) {
    throw new ApiError({ status: 404, message: `Invalid URL (${method} ${path})` })
  }
  allow(method, ['POST'], path)
  const { json } = asked
  if (json === null) throw invalidRequest('The body of the request could not be parsed as a JSON object.')
  return operation(callOf(asked, json), asked)
}

/** Services of which only some calls are OpenAI's. */
const ownOperations: ReadonlyMap<BatchServiceName, (asked: TogetherAsked) => Promise<Reply | null>> = new Map(
  [
    ['together', operateTogether],
    ['xai', operateXAi],
  ],
)

async function operateBatchService(asked: Asked, method: string, query: URLSearchParams): Promise<Reply> {
  const { path, body, json, faults, mount, key } = asked
  const service = asked.batchService ?? mount.settings.batchService
  const common = { method, path, query, kept: mount.batches, key }
  const usualLooks = mount.settings.jobLooks
  const rules = { service: openAiServiceOf(service), runLine: lineRunner(asked) }
  const request = { ...common, ...rules, json, faults, usualLooks }
  if (isGoogleBatchesPath(path)) return operateGoogleBatches(request)
  if (isMistralJobsPath(path)) return operateMistralJobs(request)
  if (service === 'openrouter') return operateOpenRouter(request)
  const own = ownOperations.get(service)
  const reply = (await own?.({ ...request, body, origin: originOf(asked) })) ?? null
  if (reply !== null) return reply
  if (isStoredFilesPath(path)) return operateStoredFiles({ ...common, form: body.form })
  return operateBatches(request)
}

async function operateMessageService(asked: Asked, method: string, query: URLSearchParams): Promise<Reply> {
  const { path, json, faults, mount, key, request } = asked
  versionOf(request.headers)
  return operateMessageBatches({
    method,
    path,
    query,
    json,
    faults,
    key,
    kept: mount.messageBatches,
    usualLooks: mount.settings.jobLooks,
    runLine: lineRunner(asked),
    origin: originOf(asked),
  })
}

/** Runs lines of a batch as the live operations do, without the faults of the request that created the batch. */
function lineRunner(asked: Asked): RunLine {
  const { mount } = asked
  const faults: Faults = mount.settings.anyModel ? { anyModel: true } : {}
  // The batch runs after the request that created it has been answered, also when its caller has hung up.
  const { signal } = new AbortController()
  return async (path, body, key) => {
    try {
      const operation = operationAt(path)
      if (operation === undefined) throw new ApiError({ status: 404, message: `Invalid URL (POST ${path})` })
      const ruled = mount.rules.draw({ method: lineMethod, path, model: null, body: JSON.stringify(body) })
      const call = { body, faults: { ...faults, ...ruled.faults }, key, createdSeconds: nowSeconds(), signal }
      const reply = await operation(call, { ...asked, request: versioned(asked.request) })
      return { status: reply.status, body: String(reply.body) }
    } catch (error) {
      if (error instanceof ApiError)
        return { status: error.status, body: styleOf(path, {}).errorBody(error, key) }
      throw error
    }
  }
}

/** Bedrock's paths have the model in them. */
function jsonOperationAt(path: string): JsonOperation | undefined {
  if (conversePath.test(path)) return (call, { mount }) => converse(path, call, mount)
  if (invokePath.test(path)) return (call, { mount }) => invoke(path, call, mount)
  return Object.hasOwn(jsonOperations, path) ? jsonOperations[path] : undefined
}

/** The operation with a JSON body at a path. */
function operationAt(path: string): JsonOperation | undefined {
  if (path.startsWith(googlePath))
    return (call, { mount, programs }) =>
      operateGoogle({ method: 'POST', path, query: new URLSearchParams(), mount, programs, call })
  return Object.hasOwn(jsonOperations, path) ? jsonOperations[path] : undefined
}

/** The address of a request's mount. */
function originOf({ request, path }: Asked): string {
  const whole = (request.url ?? '').split('?')[0] ?? ''
  return `http://${request.headers.host}${whole.slice(0, whole.length - path.length)}`
}

/** Throws `ApiError` for a member that a fault has refused. */
function callOf({ faults, key, signal }: Asked, body: JsonObject): Call {
  refuseRejected(body, faults)
  return { body, faults, key, createdSeconds: Math.floor(Date.now() / 1000), signal }
}

function allow(method: string, wanted: readonly string[], path: string): void {
  if (wanted.includes(method)) return
  const message = `Not allowed to ${method} on ${path}.`
  throw new ApiError({ status: 405, message, code: 'method_not_supported' })
}

function modelsBody({ path, request, faults }: Asked): string {
  const isAnthropic = styleOf(path, request.headers) === anthropicStyle
  if (path === '/v1/models') return isAnthropic ? claudeModelList() : modelList(faults.bareModels === true)
  const id = path.slice('/v1/models/'.length).replaceAll('%2F', '/')
  return isAnthropic ? claudeModelBody(id) : modelBody(id)
}

function refuseRejected(body: JsonObject, faults: Faults): void {
  const name = faults.rejected?.find((member) => body[member] !== undefined)
  if (name === undefined) return
  throw invalidRequest(`Unsupported parameter: '${name}'.`, name, 'unsupported_parameter')
}
