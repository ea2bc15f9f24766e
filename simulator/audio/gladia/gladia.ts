import { ApiError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../json.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import type { UploadedFile } from '../../uploaded-file.ts'
import type { AudioApi, AudioAsked } from '../audio-api.ts'
import { hear } from '../hearing.ts'
import { type AudioJob, faultyWork, type Listened, lookAt } from '../jobs.ts'
import { fetchFile } from '../remote-file.ts'
import { requestIdOf } from '../request-id.ts'
import { type GladiaRequest, resultOf } from './result.ts'
import { whisperLanguages } from '../whisper-languages.ts'
import { gladiaStyle, refusal } from './style.ts'

const slug = 'gladia'
const uploadBytesMax = 1_000_000_000
const fileHost = 'https://api.gladia.io/file/'
const statusOf = { queued: 'queued', running: 'processing', ended: 'done' } as const
/** The status of a failed job; the job reports nothing else. */
const failureCode = 422

const told = (value: unknown, status = 200): Reply => jsonReply(JSON.stringify(value), status)

/** `POST /v2/upload`, a form with the part `audio`. */
async function upload(asked: AudioAsked): Promise<Reply> {
  const { body, mount, key } = asked
  const file = body.form?.files.find(({ name }) => name === 'audio')
  if (file === undefined) throw refusal(400, 'The part "audio" is missing')
  const id = requestIdOf(`upload ${key}`)
  const listened = await listenTo(file, asked)
  mount.audioJobs.keep({ api: slug, name: fileHost + id, listened })
  return told({
    audio_url: fileHost + id,
    audio_metadata: {
      id,
      filename: file.fileName,
      extension: file.fileName.split('.').at(-1),
      size: file.bytes,
      audio_duration: 'heard' in listened ? listened.heard.seconds : 0,
      number_of_channels: 1,
    },
  })
}

const noSound = () => refusal(failureCode)

async function listenTo(file: UploadedFile, asked: AudioAsked): Promise<Listened> {
  const { faults, mount, programs, signal } = asked
  try {
    const listening = { faults, settings: mount.settings, programs, signal }
    return { heard: await hear(file, listening, { unrecognised: noSound, undecodable: noSound }) }
  } catch (error) {
    if (error instanceof ApiError) return { failure: String(error.status) }
    throw error
  }
}

/** `POST /v2/pre-recorded`: the job begins. */
function create(asked: AudioAsked): Reply {
  const { mount, faults, key } = asked
  const request = parseRequest(asked.json)
  const uploaded = mount.audioJobs.uploadOf(slug, request.audioUrl)
  if (uploaded === null && request.audioUrl.startsWith(fileHost)) throw refusal(404)
  const id = requestIdOf(`job ${key}`)
  mount.audioJobs.begin({
    id,
    api: slug,
    request,
    uploadName: uploaded?.name ?? null,
    work:
      faultyWork(faults) ??
      (uploaded ? Promise.resolve(uploaded.listened) : fetched(request.audioUrl, asked)),
    isEndless: faults.jobEndless === true,
  })
  return told({ id, result_url: `https://api.gladia.io/v2/pre-recorded/${id}` }, 201)
}

/** Gladia's own list: without Norwegian Bokmål, and with Whisper's code for Javanese. */
const known = whisperLanguages('jw')
const models = new Set(['solaria-1', 'solaria-3', 'solaria-fusion'])

function parseRequest(json: JsonObject | null): GladiaRequest {
  const audioUrl = json?.['audio_url']
  if (typeof audioUrl !== 'string' || !/^https?:\/\//.test(audioUrl)) throw refusal(400)
  const model = json?.['model'] ?? 'solaria-1'
  if (typeof model !== 'string' || !models.has(model)) throw refusal(400)
  if (json?.['temperature'] !== undefined) throw refusal(400)
  if (json?.['custom_vocabulary'] === true && !isObject(json['custom_vocabulary_config'])) throw refusal(400)
  const config = json?.['language_config']
  const languages = isObject(config) ? config['languages'] : undefined
  const language: unknown = Array.isArray(languages) ? languages[0] : undefined
  if (language !== undefined && !known.has(String(language))) throw refusal(400)
  return {
    audioUrl,
    model,
    language: typeof language === 'string' ? language : null,
    diarization: json?.['diarization'] === true,
    entities: json?.['named_entity_recognition'] === true,
  }
}

async function fetched(url: string, asked: AudioAsked): Promise<Listened> {
  // The job continues after the client has left.
  const signal = new AbortController().signal
  try {
    const remote = await fetchFile(url, { bytesMax: uploadBytesMax, signal, unreachable: () => refusal(400) })
    try {
      return await listenTo(remote.file, { ...asked, signal })
    } finally {
      await remote.dispose()
    }
  } catch (error) {
    if (error instanceof ApiError) return { failure: String(error.status) }
    throw error
  }
}

function jobOf({ mount }: AudioAsked, id: string): AudioJob {
  const job = mount.audioJobs.find(slug, id)
  if (job === null || job.isRemoved) throw refusal(404)
  return job
}

/** `DELETE /v2/pre-recorded/{id}`: 403 while the job runs; afterwards the job and its recording are deleted. */
function remove(asked: AudioAsked, id = ''): Reply {
  const job = jobOf(asked, id)
  if (job.listened === null || job.isEndless) throw refusal(403)
  asked.mount.audioJobs.remove(job)
  return told({}, 202)
}

/** `GET /v2/pre-recorded/{id}`: a failed job has its own status inside an answer of HTTP status 200. */
async function look(asked: AudioAsked, id = ''): Promise<Reply> {
  const { mount, faults } = asked
  const job = jobOf(asked, id)
  const stage = await lookAt(job, mount.settings.jobLooks)
  const request = job.request as GladiaRequest
  const shown = {
    id,
    version: 2,
    kind: 'pre-recorded',
    status: statusOf[stage],
    error_code: null,
    result: null,
  }
  if (stage !== 'ended' || job.listened === null) return told(shown)
  if ('failure' in job.listened) {
    const code = Number(job.listened.failure)
    return told({ ...shown, status: 'error', error_code: Number.isInteger(code) ? code : 500 })
  }
  return told({ ...shown, result: resultOf(request, job.listened.heard, faults) })
}

/** Gladia's API for recordings. */
export const gladia: AudioApi = {
  slug,
  style: gladiaStyle,
  uploadBytesMax,
  modelOf: ({ json }) => (typeof json?.['model'] === 'string' ? json['model'] : null),
  operations: [
    { method: 'POST', path: /^\/v2\/upload$/, answer: upload },
    { method: 'POST', path: /^\/v2\/pre-recorded$/, answer: create },
    { method: 'GET', path: /^\/v2\/pre-recorded\/([^/]+)$/, answer: look },
    { method: 'DELETE', path: /^\/v2\/pre-recorded\/([^/]+)$/, answer: remove },
  ],
}
