import type { IncomingMessage, ServerResponse } from 'node:http'
import { chatCompletion } from './chat.ts'
import type { Call } from './call.ts'
import { embeddings } from './embeddings.ts'
import { faultyAnswer } from './error-bodies.ts'
import { ApiError, invalidRequest } from './errors.ts'
import { faultNamesIn, type Faults, FaultSpecError, parseFaults } from './faults.ts'
import { isObject, type JsonObject } from './json.ts'
import { faultWaitMsMax } from './limits.ts'
import { modelBody, modelList } from './models.ts'
import type { Mount } from './mounts.ts'
import type { Programs } from './programs.ts'
import { lettersOf } from './random.ts'
import { readBody, type ReadBody } from './read-body.ts'
import { errorReply, jsonReply, type Reply } from './reply.ts'
import { cut, drawnMs, send, type Sending } from './send.ts'
import { speech } from './speech.ts'
import { transcription } from './transcriptions.ts'
import { wait } from './wait.ts'

/** One request to a mount. */
export interface ProviderRequest {
  request: IncomingMessage
  response: ServerResponse
  mount: Mount
  /** The path below the mount, from `/v1` on and without the query. */
  path: string
  programs: Programs
}

/** The operations that take a JSON body. */
type JsonOperation = (call: Call, asked: ProviderRequest) => Reply | Promise<Reply>

const jsonOperations: Record<string, JsonOperation> = {
  '/v1/chat/completions': chatCompletion,
  '/v1/embeddings': embeddings,
  '/v1/audio/speech': (call, { mount, programs }) => speech({ ...call, settings: mount.settings, programs }),
}
const transcriptionPath = '/v1/audio/transcriptions'

/** Serves one request of a simulated provider from its first byte to its last, whatever its caller does meanwhile. */
export async function serveProvider(asked: ProviderRequest): Promise<void> {
  const { request, response, mount, path } = asked
  const method = request.method ?? 'GET'
  const exchange = mount.counters.begin({ method, path, headers: request.headers })
  const departure = new AbortController()
  response.on('close', () => {
    // Also after a complete answer, when nobody waits for the signal any more.
    if (exchange.end('hang_up')) departure.abort()
  })
  const key = `${mount.seed} ${exchange.number}`
  let body: ReadBody | ApiError | null = null
  try {
    body = await readBody(request, mount.settings.uploadBytesMax).catch(apiErrorOnly)
    const faults = drawFaults(asked, body)
    exchange.asked({
      ...subjectOf(body),
      bodyBytes: body instanceof ApiError ? 0 : body.bytes,
      fault: faults.names,
    })
    exchange.phase = 'waiting'
    const sending: Sending = { response, faults: faults.faults, exchange, signal: departure.signal, key }
    await answer(asked, { body, faults, sending })
  } catch (error) {
    // A caller who left in the middle of the upload; anything else is a fault of the simulator and should be seen.
    if (!departure.signal.aborted) throw error
  } finally {
    if (body !== null && !(body instanceof ApiError)) await body.form?.dispose()
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

function drawFaults({ request, mount, path }: ProviderRequest, body: ReadBody | ApiError): DrawnFaults {
  const { model, body: text } = subjectOf(body)
  const ruled = mount.rules.draw({ path, model, body: text })
  const header = request.headers['x-simulator-fault']
  const spec = typeof header === 'string' ? header : ''
  try {
    const faults: Faults = { ...ruled.faults, ...parseFaults(spec) }
    if (!mount.settings.strict) faults.lenient = true
    return { faults, refusal: null, names: faultNamesIn([...ruled.specs, spec]) }
  } catch (error) {
    if (!(error instanceof FaultSpecError)) throw error
    const refusal = invalidRequest(error.message, 'x-simulator-fault', 'invalid_fault')
    return { faults: {}, refusal, names: null }
  }
}

function subjectOf(body: ReadBody | ApiError): { model: string | null; body: string } {
  if (body instanceof ApiError) return { model: null, body: '' }
  if (body.form !== null) {
    return { model: body.form.fields.find((field) => field.name === 'model')?.value ?? null, body: body.text }
  }
  const parsed = parsedBody(body)
  return { model: typeof parsed?.['model'] === 'string' ? parsed['model'] : null, body: body.text }
}

/** Bodies are looked at several times on their way; each is parsed once. */
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
  const reply = drawn.refusal === null ? await replyTo(asked, body, sending) : errorReply(drawn.refusal)
  if (signal.aborted) {
    await reply.dispose?.()
    return
  }
  await send(reply, usualHeaders(asked.mount, sending), sending)
}

async function replyTo(asked: ProviderRequest, body: ReadBody | ApiError, sending: Sending): Promise<Reply> {
  const { faults } = sending
  try {
    const faulty = faultyAnswer(faults)
    if (faulty !== null) return faulty
    authenticate(asked.request.headers.authorization)
    if (body instanceof ApiError) throw body
    return await operate(asked, body, sending)
  } catch (error) {
    if (error instanceof ApiError) return errorReply(error)
    throw error
  }
}

function authenticate(header: string | undefined): void {
  const key = /^Bearer\s+(\S+)\s*$/i.exec(header ?? '')?.[1]
  if (key !== undefined && !key.startsWith('bad-key')) return
  // The real one repeats the beginning and the end of the key; a gateway must not pass that on.
  const shown = key === undefined ? '' : `: ${key.slice(0, 8)}*****${key.slice(-4)}`
  const message = key === undefined ? 'No API key was provided.' : `Incorrect API key provided${shown}.`
  throw new ApiError({
    status: 401,
    message: `${message} Send it as "Authorization: Bearer KEY".`,
    code: 'invalid_api_key',
  })
}

async function operate(asked: ProviderRequest, body: ReadBody, sending: Sending): Promise<Reply> {
  const { path, mount, programs, request } = asked
  const { faults, signal, key } = sending
  const method = request.method ?? 'GET'
  if (path === '/v1/models')
    return allowed(method, 'GET', path) ?? jsonReply(modelList(faults.bareModels === true))
  if (path.startsWith('/v1/models/')) {
    return (
      allowed(method, 'GET', path) ??
      jsonReply(modelBody(path.slice('/v1/models/'.length).replaceAll('%2F', '/')))
    )
  }
  if (path === transcriptionPath) {
    const refused = allowed(method, 'POST', path)
    if (refused !== null) return refused
    if (body.form === null) throw invalidRequest('Send the audio as multipart/form-data.', 'file')
    return transcription({ form: body.form, faults, settings: mount.settings, programs, signal })
  }
  const operation = Object.hasOwn(jsonOperations, path) ? jsonOperations[path] : undefined
  if (operation === undefined) {
    throw new ApiError({ status: 404, message: `Invalid URL (${method} ${path})` })
  }
  const refused = allowed(method, 'POST', path)
  if (refused !== null) return refused
  const parsed = parsedBody(body)
  if (parsed === null) throw invalidRequest('The body of the request could not be parsed as a JSON object.')
  refuseRejected(parsed, faults)
  return operation(
    { body: parsed, faults, key, createdSeconds: Math.floor(Date.now() / 1000), signal },
    asked,
  )
}

function allowed(method: string, wanted: string, path: string): Reply | null {
  if (method === wanted) return null
  const message = `Not allowed to ${method} on ${path}.`
  return errorReply(new ApiError({ status: 405, message, code: 'method_not_supported' }))
}

function refuseRejected(body: JsonObject, faults: Faults): void {
  const name = faults.rejected?.find((member) => body[member] !== undefined)
  if (name === undefined) return
  throw invalidRequest(`Unsupported parameter: '${name}'.`, name, 'unsupported_parameter')
}

const requestsPerMinute = 10_000
const tokensPerMinute = 2_000_000

function usualHeaders(mount: Mount, { faults, exchange, key }: Sending): Record<string, string> {
  const headers: Record<string, string> = {
    'x-request-id': `req_${lettersOf(`request ${key}`, 32)}`,
    'openai-processing-ms': String(Math.round(performance.now() - exchange.startedAtMs)),
    'openai-version': '2020-10-01',
    'openai-organization': `simulator-${mount.name}`,
  }
  if (faults.noRateLimits === true) return headers
  const isLimited = faults.error?.status === 429
  return {
    ...headers,
    'x-ratelimit-limit-requests': String(requestsPerMinute),
    'x-ratelimit-limit-tokens': String(tokensPerMinute),
    'x-ratelimit-remaining-requests': String(isLimited ? 0 : requestsPerMinute - 1),
    'x-ratelimit-remaining-tokens': String(isLimited ? 0 : tokensPerMinute - 1_000),
    'x-ratelimit-reset-requests': isLimited ? `${faults.error?.retryAfterSeconds ?? 1}s` : '6ms',
    'x-ratelimit-reset-tokens': '30ms',
  }
}
