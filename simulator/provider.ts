import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ApiStyle } from './api-style.ts'
import { fieldOf } from './audio/audio-api.ts'
import { audioApiAt } from './audio/index.ts'
import { azureDeploymentOf } from './azure/addresses.ts'
import { faultyAnswer } from './error-bodies.ts'
import { ApiError, invalidRequest } from './errors.ts'
import { faultNamesIn, type Faults, FaultSpecError, parseFaults } from './faults.ts'
import { asksFlex, flexRefusal, isFlexRefused } from './flex-tier.ts'
import { uploadPath as googleUploadPath } from './gemini/files.ts'
import { bedrockModelOf } from './bedrock/converse.ts'
import { invokedModelOf } from './bedrock/invoke.ts'
import { googleModelOf } from './gemini/operations.ts'
import { isObject, type JsonObject } from './json.ts'
import {
  batchFileBytesMax,
  faultWaitMsMax,
  googleFileBytesMax,
  uploadBytesMax as usualUploadBytesMax,
} from './limits.ts'
import type { Mount } from './mounts.ts'
import { isStoragePath } from './openai-batches/together-jobs.ts'
import { isStoredFilesPath } from './openai-batches/files.ts'
import { operate, queryOf, styleOf } from './operations.ts'
import type { Programs } from './programs.ts'
import { type BodyRules, readBody, type ReadBody } from './read-body.ts'
import { jsonReply, type Reply } from './reply.ts'
import { usualSealer } from './seals.ts'
import { cut, drawnMs, send, type Sending } from './send.ts'
import { vertexModelOf } from './vertex/addresses.ts'
import { wait } from './wait.ts'

/** One request to a mount. */
export interface ProviderRequest {
  request: IncomingMessage
  response: ServerResponse
  mount: Mount
  /** The path below the mount, without the query: from `/v1` on, or as another API has it. */
  path: string
  programs: Programs
}

/** Serves one request of a simulated provider from its first byte to its last, whatever its caller does meanwhile. */
export async function serveProvider(asked: ProviderRequest): Promise<void> {
  const { request, response, mount, path } = asked
  const method = request.method ?? 'GET'
  const exchange = mount.counters.begin({
    method,
    path,
    query: (request.url ?? '').split('?')[1] ?? '',
    headers: request.headers,
  })
  const departure = new AbortController()
  response.on('close', () => {
    // This also runs after a complete answer, when no code waits for the signal any more.
    if (exchange.end('hang_up')) departure.abort()
  })
  const key = `${mount.seed} ${exchange.number}`
  let body: ReadBody | ApiError | null = null
  try {
    body = await readBody(request, bodyRulesOf(asked)).catch(apiErrorOnly)
    const faults = drawFaults(asked, body, key)
    exchange.asked({
      ...subjectOf(body, asked),
      bodyBytes: body instanceof ApiError ? 0 : body.bytes,
      bodyKept: mount.settings.recordedBodyBytes,
      fault: faults.names,
    })
    exchange.phase = 'waiting'
    const sending: Sending = { response, faults: faults.faults, exchange, signal: departure.signal, key }
    await answer(asked, { body, faults, sending })
  } catch (error) {
    // A caller who left in the middle of the upload; anything else is a fault of the simulator and should be seen.
    if (!departure.signal.aborted) throw error
  } finally {
    if (body !== null && !(body instanceof ApiError)) await body.dispose()
  }
}

function apiErrorOnly(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  throw error
}

/** The faults of one request, the refusal of a specification that cannot be read, and the names it is counted under. */
interface DrawnFaults {
  faults: Faults
  refusal: ApiError | null
  names: string | null
}

function drawFaults(asked: ProviderRequest, body: ReadBody | ApiError, key: string): DrawnFaults {
  const { request, mount, path } = asked
  const { model, body: text } = subjectOf(body, asked)
  const ruled = mount.rules.draw({ method: request.method ?? 'GET', path, model, body: text })
  const header = request.headers['x-simulator-fault']
  const spec = typeof header === 'string' ? header : ''
  try {
    const faults: Faults = { ...ruled.faults, ...parseFaults(spec) }
    if (isFlexFull(asked, body, key)) faults.error ??= flexRefusal(googleModelOf(path) !== null)
    if (!mount.settings.strict) faults.lenient = true
    if (mount.settings.anyModel) faults.anyModel = true
    if (mount.settings.sealer !== usualSealer) faults.sealer = mount.settings.sealer
    return { faults, refusal: null, names: faultNamesIn([...ruled.specs, spec]) }
  } catch (error) {
    if (!(error instanceof FaultSpecError)) throw error
    const refusal = invalidRequest(error.message, 'x-simulator-fault', 'invalid_fault')
    return { faults: {}, refusal, names: null }
  }
}

function isFlexFull({ mount }: ProviderRequest, body: ReadBody | ApiError, key: string): boolean {
  const share = mount.settings.flexRefused
  if (share === 0 || body instanceof ApiError || body.form !== null) return false
  return asksFlex(parsedBody(body)) && isFlexRefused(share, key)
}

function bodyRulesOf({ path, mount }: ProviderRequest): BodyRules {
  const { uploadBytesMax } = mount.settings
  const audio = audioApiAt(path)
  if (path === googleUploadPath)
    return { uploadBytesMax: uploadBytesMax ?? googleFileBytesMax, takesFiles: true }
  if (isStoragePath(path)) return { uploadBytesMax: uploadBytesMax ?? batchFileBytesMax, takesFiles: true }
  if (isStoredFilesPath(path))
    return { uploadBytesMax: uploadBytesMax ?? batchFileBytesMax, takesFiles: false }
  if (audio === null) return { uploadBytesMax: uploadBytesMax ?? usualUploadBytesMax, takesFiles: false }
  return { uploadBytesMax: uploadBytesMax ?? audio.api.uploadBytesMax, takesFiles: true }
}

/** The model of the request, which some APIs name in the URL, and its text. */
function subjectOf(
  body: ReadBody | ApiError,
  { request, path }: ProviderRequest,
): { model: string | null; body: string } {
  if (body instanceof ApiError) return { model: null, body: '' }
  const { text } = body
  const audio = audioApiAt(path)
  if (audio !== null) {
    const json = body.form === null && body.file === null ? parsedBody(body) : null
    return {
      model: audio.api.modelOf({ path: audio.below, query: queryOf(request), body, json }),
      body: text,
    }
  }
  if (body.form !== null) return { model: azureDeploymentOf(path) ?? fieldOf(body, 'model'), body: text }
  const parsed = parsedBody(body)
  const inPath =
    googleModelOf(path) ??
    azureDeploymentOf(path) ??
    bedrockModelOf(path) ??
    invokedModelOf(path) ??
    vertexModelOf(path)
  const named = inPath ?? parsed?.['model']
  return { model: typeof named === 'string' ? named : null, body: text }
}

/** Several steps read a body as JSON; it is parsed once. */
const parsedBodies = new WeakMap<ReadBody, JsonObject | null>()

function parsedBody(body: ReadBody): JsonObject | null {
  const known = parsedBodies.get(body)
  if (known !== undefined) return known
  const parsed = parseObject(body.text)
  parsedBodies.set(body, parsed)
  return parsed
}

function parseObject(text: string): JsonObject | null {
  if (text === '') return null
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

interface Answering {
  body: ReadBody | ApiError
  faults: DrawnFaults
  sending: Sending
}

async function answer(asked: ProviderRequest, { body, faults: drawn, sending }: Answering): Promise<void> {
  const { faults, signal, key } = sending
  if (faults.reset === true) {
    cut(sending)
    return
  }
  if (faults.hang === true) {
    await wait(faultWaitMsMax, signal)
    cut(sending)
    return
  }
  if (faults.latency !== undefined) await wait(drawnMs(faults.latency, `latency ${key}`), signal)
  const style = styleOf(asked.path, asked.request.headers)
  const reply =
    drawn.refusal === null ? await replyTo(asked, body, sending) : errorReply(drawn.refusal, style, key)
  if (signal.aborted) {
    await reply.dispose?.()
    return
  }
  const elapsedMs = performance.now() - sending.exchange.startedAtMs
  await send(reply, style.headers({ mountName: asked.mount.name, key, elapsedMs, faults }), sending)
}

async function replyTo(asked: ProviderRequest, body: ReadBody | ApiError, sending: Sending): Promise<Reply> {
  const { request, mount, path, programs } = asked
  const { faults, signal, key } = sending
  const style = styleOf(path, request.headers)
  try {
    const faulty = faultyAnswer(faults, style, key)
    if (faulty !== null) return faulty
    style.authenticate(request.headers)
    if (body instanceof ApiError) throw body
    const json = body.form === null && body.file === null ? parsedBody(body) : null
    return await operate({ request, mount, path, programs, body, json, faults, key, signal })
  } catch (error) {
    if (error instanceof ApiError) return errorReply(error, style, key)
    throw error
  }
}

function errorReply(error: ApiError, style: ApiStyle, key: string): Reply {
  const headers = style.errorHeaders?.(error)
  const reply = {
    ...jsonReply(style.errorBody(error, key), error.status),
    ...(headers === undefined ? {} : { headers }),
  }
  return style.isPlain?.(error) === true ? { ...reply, contentType: 'text/plain; charset=utf-8' } : reply
}
