import type { IncomingMessage, ServerResponse } from 'node:http'
import { ApiError, errorBody, invalidRequest } from './errors.ts'
import { faultNames, FaultSpecError } from './faults.ts'
import { isObject, type JsonObject } from './json.ts'
import { type BatchServiceName, batchServiceNames } from './openai-batches/services.ts'
import { jobLooksMax, recordedBodyBytesMax } from './limits.ts'
import type { MountSettings } from './mount-settings.ts'
import { defaultMount, type Mount, type Mounts } from './mounts.ts'
import type { Programs } from './programs.ts'
import { readBody } from './read-body.ts'
import { scriptsIn } from './scripts.ts'

/** One request to the admin endpoint. */
export interface AdminRequest {
  request: IncomingMessage
  response: ServerResponse
  mounts: Mounts
  programs: Programs
}

/** An admin request with its query read. */
interface ParsedRequest extends AdminRequest {
  query: URLSearchParams
}

type AdminHandler = (asked: ParsedRequest, body: unknown) => unknown

const handlers: Record<string, AdminHandler> = {
  'GET /admin/health': health,
  'GET /admin/counters': counters,
  'GET /admin/faults': (asked) => ({ rules: mountOf(asked, null).rules.list(), known_faults: faultNames }),
  'POST /admin/faults': setFaults,
  'DELETE /admin/faults': (asked) => setFaults(asked, []),
  'GET /admin/scripts': (asked) => shownScripts(mountOf(asked, null)),
  'POST /admin/scripts': setScripts,
  'DELETE /admin/scripts': (asked) => setScripts(asked, []),
  'GET /admin/settings': (asked) => shownSettings(mountOf(asked, null)),
  'POST /admin/settings': changeSettings,
  'POST /admin/reset': reset,
}

/** Serves the admin endpoint; every answer is JSON. */
export async function serveAdmin(asked: AdminRequest): Promise<void> {
  const { request, response } = asked
  const url = new URL(request.url ?? '/', 'http://simulator')
  const headers = { 'content-type': 'application/json' }
  try {
    const handler = handlers[`${request.method} ${url.pathname}`]
    if (handler === undefined) {
      const known = Object.keys(handlers).join(', ')
      throw new ApiError({ status: 404, message: `No such admin route. There are: ${known}.` })
    }
    const { text } = await readBody(request, { uploadBytesMax: 0, takesFiles: false })
    const answer = handler({ ...asked, query: url.searchParams }, text === '' ? null : parsed(text))
    response.writeHead(200, headers).end(JSON.stringify(answer))
  } catch (error) {
    const refusal = error instanceof FaultSpecError ? invalidRequest(error.message) : error
    if (!(refusal instanceof ApiError)) throw error
    response.writeHead(refusal.status, headers).end(errorBody(refusal))
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidRequest('The body is not JSON.')
  }
}

/** The mount that the query or the body names, `default` when neither does. */
function mountOf({ query, mounts }: ParsedRequest, body: unknown): Mount {
  const inBody = isObject(body) && typeof body['mount'] === 'string' ? body['mount'] : null
  const mount = mounts.get(query.get('mount') ?? inBody ?? defaultMount)
  if (mount === undefined)
    throw invalidRequest('There are too many mounts; POST /admin/reset forgets them.', 'mount')
  return mount
}

function health({ mounts, programs }: ParsedRequest) {
  const hasConverter = programs.ffmpeg !== null || programs.sox !== null
  return {
    status: 'ok',
    speech: programs.espeak !== null && hasConverter ? 'espeak-ng' : 'tone',
    transcription: programs.recogniser !== null && hasConverter ? 'pocketsphinx' : 'scripted',
    mounts: mounts.all().map((mount) => mount.name),
  }
}

function counters(asked: ParsedRequest) {
  const withRequests = asked.query.get('requests') !== '0'
  if (asked.query.get('mount') !== '*') {
    const mount = mountOf(asked, null)
    return shownCounters(mount, withRequests)
  }
  return {
    mounts: asked.mounts.all().map((mount) => shownCounters(mount, withRequests)),
  }
}

function shownCounters(mount: Mount, withRequests: boolean): JsonObject {
  return {
    mount: mount.name,
    ...mount.counters.read(withRequests),
    audio_jobs: mount.audioJobs.counts(),
    batches: mount.batches.counts(),
    message_batches: mount.messageBatches.counts(),
  }
}

function setFaults(asked: ParsedRequest, body: unknown) {
  const mount = mountOf(asked, body)
  mount.rules.set(isObject(body) ? body['rules'] : body)
  return { mount: mount.name, rules: mount.rules.list() }
}

function shownScripts({ name, scripts }: Mount) {
  return { mount: name, scripts: scripts.list() }
}

function setScripts(asked: ParsedRequest, body: unknown) {
  const mount = mountOf(asked, body)
  mount.scripts.set(scriptsIn(body))
  return shownScripts(mount)
}

function shownSettings({ name, settings }: Mount) {
  const { strict, anyModel, sealer, transcription, speech } = settings
  const { uploadBytesMax, recordedBodyBytes, jobLooks, batchService, flexRefused } = settings
  return {
    mount: name,
    strict,
    any_model: anyModel,
    sealer,
    transcription,
    speech,
    upload_bytes_max: uploadBytesMax,
    recorded_body_bytes: recordedBodyBytes,
    job_looks: jobLooks,
    batch_service: batchService,
    flex_refused: flexRefused,
  }
}

function changeSettings(asked: ParsedRequest, body: unknown) {
  if (!isObject(body)) throw invalidRequest('Send an object with the settings to change.')
  const mount = mountOf(asked, body)
  mount.settings = { ...mount.settings, ...parseSettings(body) }
  return shownSettings(mount)
}

function parseSettings(body: JsonObject): Partial<MountSettings> {
  const changes: Partial<MountSettings> = {}
  for (const [name, value] of Object.entries(body)) {
    if (name === 'mount') continue
    if (name === 'strict' && typeof value === 'boolean') changes.strict = value
    else if (name === 'any_model' && typeof value === 'boolean') changes.anyModel = value
    else if (name === 'sealer' && typeof value === 'string') changes.sealer = value
    else if (name === 'transcription' && (value === 'auto' || value === 'scripted'))
      changes.transcription = value
    else if (name === 'speech' && (value === 'auto' || value === 'tone')) changes.speech = value
    else if (name === 'upload_bytes_max' && Number.isSafeInteger(value))
      changes.uploadBytesMax = Number(value)
    else if (name === 'recorded_body_bytes' && isCountUpTo(recordedBodyBytesMax, value))
      changes.recordedBodyBytes = Number(value)
    else if (name === 'batch_service' && isBatchService(value)) changes.batchService = value
    else if (name === 'flex_refused' && isShare(value)) changes.flexRefused = Number(value)
    else if (name === 'job_looks' && isCountUpTo(jobLooksMax, value)) changes.jobLooks = Number(value)
    else throw invalidRequest(`No such setting, or not such a value: '${name}'.`, name)
  }
  return changes
}

function isCountUpTo(most: number, value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= most
}

/** Forgets counters, faults, scripts and settings: of the named mount, or of all. */
function reset(asked: ParsedRequest, body: unknown) {
  const isNamed = asked.query.has('mount') || (isObject(body) && body['mount'] !== undefined)
  if (!isNamed) {
    asked.mounts.clear()
    return { status: 'ok' }
  }
  const mount = mountOf(asked, body)
  asked.mounts.remove(mount.name)
  return { status: 'ok', mount: mount.name }
}

function isBatchService(value: unknown): value is BatchServiceName {
  return batchServiceNames.some((name) => name === value)
}

function isShare(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1
}
