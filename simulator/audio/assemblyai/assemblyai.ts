import { ApiError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import type { UploadedFile } from '../../uploaded-file.ts'
import type { AudioApi, AudioAsked } from '../audio-api.ts'
import { hear } from '../hearing.ts'
import { type AudioJob, faultyWork, type JobStage, type Listened, lookAt } from '../jobs.ts'
import { fetchFile } from '../remote-file.ts'
import { requestIdOf } from '../request-id.ts'
import { modelNamed, parseTranscriptRequest, type TranscriptRequest } from './request.ts'
import { assemblyAiStyle, refusal } from './style.ts'
import { completed, deleted, deletedAddress, failed, unheard } from './transcript.ts'

const slug = 'assemblyai'
const uploadBytesMax = 2_200_000_000
const uploadHost = 'https://cdn.assemblyai.com/upload/'
const listedMax = 200
const transcriptsUrl = 'https://api.assemblyai.com/v2/transcript'

const told = (value: unknown): Reply => jsonReply(JSON.stringify(value))

/** `POST /v2/upload`: takes any bytes; only a job finds out whether they are sound. */
async function upload(asked: AudioAsked): Promise<Reply> {
  const { body, mount, key } = asked
  if (body.file === null || body.file.bytes === 0) throw refusal(422, 'The upload has no content')
  const name = `${uploadHost}${requestIdOf(`upload ${key}`)}`
  mount.audioJobs.keep({ api: slug, name, listened: await listenTo(body.file, asked) })
  return told({ upload_url: name })
}

async function listenTo(file: UploadedFile, asked: AudioAsked): Promise<Listened> {
  const { faults, mount, programs, signal } = asked
  const noSound = () =>
    refusal(
      400,
      `Transcoding failed. File does not appear to contain audio. File type is ${file.contentType}.`,
    )
  try {
    const listening = { faults, settings: mount.settings, programs, signal }
    return { heard: await hear(file, listening, { unrecognised: noSound, undecodable: noSound }) }
  } catch (error) {
    if (error instanceof ApiError) return { failure: error.message }
    throw error
  }
}

/** `POST /v2/transcript`: the job begins. */
function create(asked: AudioAsked): Reply {
  const { json, mount, faults, key } = asked
  const request = parseTranscriptRequest(json, faults.lenient === true)
  const isUpload = request.audioUrl.startsWith(uploadHost)
  const uploaded = mount.audioJobs.uploadOf(slug, request.audioUrl)
  if (isUpload && uploaded === null) throw refusal(403)
  const work = uploaded === null ? fetched(request.audioUrl, asked) : Promise.resolve(uploaded.listened)
  const job = mount.audioJobs.begin({
    id: requestIdOf(`transcript ${key}`),
    api: slug,
    request,
    uploadName: uploaded?.name ?? null,
    work: faultyWork(faults) ?? work,
    isEndless: faults.jobEndless === true,
  })
  return told(unheard(job, 'queued'))
}

async function fetched(url: string, asked: AudioAsked): Promise<Listened> {
  const message = `Download error, unable to download ${url}. Please make sure the file exists and is accessible from the internet.`
  const unreachable = () => refusal(400, message)
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
  if (job === null) throw refusal(404, 'Transcript lookup error, transcript id not found')
  return job
}

/** `GET /v2/transcript/{id}` */
async function look(asked: AudioAsked, id = ''): Promise<Reply> {
  const job = jobOf(asked, id)
  return told(shown(job, await lookAt(job, asked.mount.settings.jobLooks), asked))
}

function shown(job: AudioJob, stage: JobStage, { faults }: Pick<AudioAsked, 'faults'>): unknown {
  if (job.isRemoved) return deleted(job, stage)
  if (stage !== 'ended' || job.listened === null) return unheard(job, stage)
  return 'failure' in job.listened
    ? failed(job, job.listened.failure)
    : completed(job, job.listened.heard, faults)
}

/** `DELETE /v2/transcript/{id}`: the record stays; its content and its upload are deleted. */
function remove(asked: AudioAsked, id = ''): Reply {
  const job = jobOf(asked, id)
  asked.mount.audioJobs.remove(job)
  return told(deleted(job, 'ended'))
}

/** `GET /v2/transcript`: the newest first, limited; a further page has the transcripts before an id. */
function list({ mount, query }: AudioAsked): Reply {
  const limit = Number(query.get('limit') ?? 10)
  if (!Number.isInteger(limit) || limit < 1 || limit > listedMax)
    throw refusal(400, `limit must be between 1 and ${listedMax}`)
  const all = mount.audioJobs.list(slug)
  const before = query.get('before_id')
  const start = before === null ? 0 : all.findIndex(({ id }) => id === before) + 1
  const page = all.slice(start, start + limit)
  const last = page.at(-1)
  const isLastPage = start + limit >= all.length
  return told({
    page_details: {
      limit,
      result_count: page.length,
      current_url: `${transcriptsUrl}?limit=${limit}`,
      prev_url:
        isLastPage || last === undefined ? null : `${transcriptsUrl}?limit=${limit}&before_id=${last.id}`,
      next_url: null,
    },
    transcripts: page.map(listed),
  })
}

function listed(job: AudioJob): JsonObject {
  const { id, listened, createdAtMs, isRemoved } = job
  const { audioUrl } = job.request as TranscriptRequest
  const ended = listened !== null && 'failure' in listened ? 'error' : 'completed'
  return {
    id,
    resource_url: `${transcriptsUrl}/${id}`,
    status: listened === null ? 'processing' : ended,
    created: new Date(createdAtMs).toISOString(),
    completed: listened === null ? null : new Date().toISOString(),
    audio_url: isRemoved ? deletedAddress : audioUrl,
    error: null,
  }
}

/**
 * AssemblyAI's API for recorded audio, whose jobs are polled until they end. Webhooks and its other APIs are not
 * simulated.
 */
export const assemblyAi: AudioApi = {
  slug,
  style: assemblyAiStyle,
  uploadBytesMax,
  modelOf: ({ json }) => modelNamed(json),
  operations: [
    { method: 'POST', path: /^\/v2\/upload$/, answer: upload },
    { method: 'POST', path: /^\/v2\/transcript$/, answer: create },
    { method: 'GET', path: /^\/v2\/transcript$/, answer: list },
    { method: 'GET', path: /^\/v2\/transcript\/([^/]+)$/, answer: look },
    { method: 'DELETE', path: /^\/v2\/transcript\/([^/]+)$/, answer: remove },
  ],
}
