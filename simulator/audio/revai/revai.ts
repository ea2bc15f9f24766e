import { ApiError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { lettersOf } from '../../random.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import type { UploadedFile } from '../../uploaded-file.ts'
import type { AudioApi, AudioAsked } from '../audio-api.ts'
import { hear } from '../hearing.ts'
import { type AudioJob, faultyWork, type Listened, lookAt } from '../jobs.ts'
import { fetchFile } from '../remote-file.ts'
import { optionsIn, parseRequest, type RevAiRequest } from './request.ts'
import { refusal, revAiStyle, wrongOption } from './style.ts'
import { transcriptOf } from './transcript.ts'

const slug = 'revai'
const uploadBytesMax = 2_000_000_000
const listedUsual = 100
const listedMax = 1000
const transcriptType = 'application/vnd.rev.transcript.v1.0+json'

const told = (value: unknown): Reply => jsonReply(JSON.stringify(value))

/** Rev AI's failure types with their texts. Any other failure that a test asks for is `internal_processing`. */
const failures: Readonly<Record<string, string>> = {
  internal_processing: 'Internal server error.',
  download_failure: 'Failed to download media file. Please check your url and file type',
  duration_exceeded: 'Media file is longer than allowed',
  duration_too_short: 'Media file is shorter than allowed',
  invalid_media: 'The file is not a supported media file',
  empty_media: 'No speech was found in the media',
  transcription: 'The transcription did not succeed',
  insufficient_balance: 'The account balance does not cover this job',
  invoicing_limit_exceeded: 'The invoicing limit of the account is reached',
  custom_vocabulary: 'The custom vocabulary could not be compiled',
}

/** `POST /speechtotext/v1/jobs`: options with the address of a file, or a form with `media` and `options`. */
async function create(asked: AudioAsked): Promise<Reply> {
  const { body, json, mount, faults, key } = asked
  const request = parseRequest(optionsIn(body, json), faults.lenient === true)
  const file = body.form?.files.find(({ name }) => name === 'media')
  if (body.form !== null && file === undefined) throw wrongOption('media', 'The form has no media.')
  if (body.form === null && request.url === null) throw wrongOption('source_config', 'It is required.')
  const work = file ? Promise.resolve(await listenTo(file, asked)) : fetched(request.url ?? '', asked)
  const job = mount.audioJobs.begin({
    id: lettersOf(`job ${key}`, 12),
    api: slug,
    request,
    uploadName: null,
    work: faultyWork(faults) ?? work,
    isEndless: faults.jobEndless === true,
  })
  return told(described(job, false))
}

const invalid = () => refusal(400, 'invalid_media')

async function listenTo(file: UploadedFile, asked: AudioAsked): Promise<Listened> {
  const { faults, mount, programs, signal } = asked
  try {
    const listening = { faults, settings: mount.settings, programs, signal }
    return { heard: await hear(file, listening, { unrecognised: invalid, undecodable: invalid }) }
  } catch (error) {
    if (error instanceof ApiError) return { failure: error.message }
    throw error
  }
}

const unreachable = () => refusal(400, 'download_failure')

async function fetched(url: string, asked: AudioAsked): Promise<Listened> {
  // The job continues after the client has left.
  const signal = new AbortController().signal
  try {
    const remote = await fetchFile(url, { bytesMax: uploadBytesMax, signal, unreachable })
    try {
      return await listenTo(remote.file, { ...asked, signal })
    } finally {
      await remote.dispose()
    }
  } catch (error) {
    if (error instanceof ApiError) return { failure: error.message }
    throw error
  }
}

function jobOf({ mount }: AudioAsked, id: string): AudioJob {
  const job = mount.audioJobs.find(slug, id)
  if (job === null || job.isRemoved) throw refusal(404)
  return job
}

/** A job as responses show it, without empty members. */
function described(job: AudioJob, isOver: boolean): JsonObject {
  const { id, createdAtMs, listened } = job
  const { transcriber, language, metadata, skipDiarization } = job.request as RevAiRequest
  return {
    id,
    created_on: new Date(createdAtMs).toISOString(),
    ...(isOver ? { completed_on: new Date().toISOString() } : {}),
    ...(metadata === null ? {} : { metadata }),
    ...outcomeOf(isOver ? listened : null),
    type: 'async',
    transcriber,
    language: language ?? (isOver ? 'en' : 'auto'),
    ...(skipDiarization ? { skip_diarization: true } : {}),
  }
}

function outcomeOf(listened: Listened | null): JsonObject {
  if (listened === null) return { status: 'in_progress' }
  if ('heard' in listened) {
    return { status: 'transcribed', duration_seconds: Math.round(listened.heard.seconds * 100) / 100 }
  }
  const known = Object.hasOwn(failures, listened.failure) ? failures[listened.failure] : undefined
  return {
    status: 'failed',
    failure: known === undefined ? 'internal_processing' : listened.failure,
    failure_detail: known ?? listened.failure,
  }
}

/** True when the job has ended. Each look counts as a poll, which advances the job. */
async function hasEnded(asked: AudioAsked, job: AudioJob): Promise<boolean> {
  return (await lookAt(job, asked.mount.settings.jobLooks)) === 'ended' && job.listened !== null
}

/** `GET /speechtotext/v1/jobs/{id}` */
async function look(asked: AudioAsked, id = ''): Promise<Reply> {
  const job = jobOf(asked, id)
  return told(described(job, await hasEnded(asked, job)))
}

/** `GET /speechtotext/v1/jobs/{id}/transcript`: 409 until the job is transcribed, and always for a failed job. */
function read(asked: AudioAsked, id = ''): Reply {
  const job = jobOf(asked, id)
  const { accept = transcriptType } = asked.request.headers
  if (accept !== transcriptType && accept !== '*/*') throw refusal(406, 'Not Acceptable')
  const { listened } = job
  if (listened === null || !('heard' in listened)) throw refusal(409)
  const transcript = transcriptOf(job.request as RevAiRequest, listened.heard, asked.faults)
  return { status: 200, contentType: transcriptType, body: JSON.stringify(transcript) }
}

/**
 * `DELETE /speechtotext/v1/jobs/{id}`: 409 until the job has ended; then the job is deleted with all its data.
 */
async function remove(asked: AudioAsked, id = ''): Promise<Reply> {
  const job = jobOf(asked, id)
  if (!(await hasEnded(asked, job))) throw refusal(409)
  asked.mount.audioJobs.remove(job)
  return { status: 204, contentType: 'application/json', body: '' }
}

/**
 * `GET /speechtotext/v1/jobs`: the newest first, limited; a further page has the jobs created before a given
 * job.
 */
function list({ mount, query }: AudioAsked): Reply {
  const limit = Number(query.get('limit') ?? listedUsual)
  if (!Number.isInteger(limit) || limit < 0 || limit > listedMax)
    throw wrongOption('limit', `From 0 to ${listedMax}.`)
  const all = mount.audioJobs.list(slug).filter(({ isRemoved }) => !isRemoved)
  const after = query.get('starting_after')
  const start = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1
  return told(all.slice(start, start + limit).map((job) => described(job, job.listened !== null)))
}

/**
 * Rev AI's asynchronous API. Callbacks, captions, summaries, translations and human transcribers are not
 * simulated.
 */
export const revAi: AudioApi = {
  slug,
  style: revAiStyle,
  uploadBytesMax,
  modelOf: () => null,
  operations: [
    { method: 'POST', path: /^\/speechtotext\/v1\/jobs$/, answer: create },
    { method: 'GET', path: /^\/speechtotext\/v1\/jobs$/, answer: list },
    { method: 'GET', path: /^\/speechtotext\/v1\/jobs\/([^/]+)$/, answer: look },
    { method: 'DELETE', path: /^\/speechtotext\/v1\/jobs\/([^/]+)$/, answer: remove },
    { method: 'GET', path: /^\/speechtotext\/v1\/jobs\/([^/]+)\/transcript$/, answer: read },
  ],
}
