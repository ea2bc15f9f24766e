import { ApiError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../json.ts'
import { lettersOf } from '../../random.ts'
import type { ReadBody } from '../../read-body.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import type { UploadedFile } from '../../uploaded-file.ts'
import { type AudioApi, type AudioAsked, fieldOf } from '../audio-api.ts'
import { hear } from '../hearing.ts'
import { type AudioJob, faultyWork, type Listened, lookAt } from '../jobs.ts'
import { fetchFile } from '../remote-file.ts'
import { refusal, speechmaticsStyle } from './style.ts'
import { type SpeechmaticsRequest, transcriptOf } from './transcript.ts'

const slug = 'speechmatics'
const uploadBytesMax = 1_000_000_000
const listedMax = 100
const models = new Set(['standard', 'enhanced', 'melia-1'])
const members = new Set(
  [
    'language',
    'model',
    'operating_point',
    'diarization',
    'speaker_diarization_config',
    'language_hints',
    'additional_vocab',
  ].concat(['enable_entities', 'output_locale', 'punctuation_overrides', 'domain']),
)

const told = (value: unknown, status = 200): Reply => jsonReply(JSON.stringify(value), status)

/** `POST /v2/jobs/`, a form: `config`, and `data_file` when the configuration has no address. */
async function create(asked: AudioAsked): Promise<Reply> {
  const { body, mount, faults, key } = asked
  const request = parseRequest(configIn(body), faults.lenient === true)
  const file = body.form?.files.find(({ name }) => name === 'data_file')
  if ((file === undefined) === (request.url === null)) throw refusal(400, 'Send data_file or fetch_data')
  const work = file ? Promise.resolve(await listenTo(file, asked)) : fetched(request.url ?? '', asked)
  const id = lettersOf(`job ${key}`, 10)
  mount.audioJobs.begin({
    id,
    api: slug,
    request,
    uploadName: null,
    work: faultyWork(faults) ?? work,
    isEndless: faults.jobEndless === true,
  })
  return told({ id }, 201)
}

function configIn(body: ReadBody): JsonObject {
  try {
    const config: unknown = JSON.parse(fieldOf(body, 'config') ?? '')
    if (isObject(config)) return config
  } catch {
    throw refusal(400, 'config is no JSON')
  }
  throw refusal(400, 'config is no object')
}

const isTerm = (term: unknown) => isObject(term) && typeof term['content'] === 'string'

function parseRequest(config: JsonObject, isLenient: boolean): SpeechmaticsRequest {
  const inner = config['transcription_config']
  if (config['type'] !== 'transcription' || !isObject(inner)) throw refusal(400, 'no transcription_config')
  const unknown = Object.keys(inner).find((name) => !members.has(name))
  if (unknown !== undefined && !isLenient) throw refusal(400, `${unknown} is not known`)
  const { language, model, diarization, additional_vocab: terms } = inner
  if (typeof language !== 'string') throw refusal(400, 'language is required')
  if (model !== undefined && !models.has(String(model))) throw refusal(400, 'model is not known')
  checkLanguage(inner)
  if (terms !== undefined && !(Array.isArray(terms) && terms.every(isTerm)))
    throw refusal(400, 'additional_vocab is a list of objects with content')
  const address = config['fetch_data']
  return {
    url: isObject(address) && typeof address['url'] === 'string' ? address['url'] : null,
    language: language === 'auto' || language === 'multi' ? null : language,
    diarize: diarization === 'speaker',
    isMixed: language === 'multi',
    tracking: isObject(config['tracking']) ? config['tracking'] : null,
  }
}

/**
 * The codes of Speechmatics' language page: Mandarin is `cmn`, and `zh` is unknown. Packs of two languages are
 * not simulated.
 */
const languages = new Set(
  (
    'ar ba eu be bn bg yue ca hr cs da nl en eo et fi fr gl de el he hi hu id ia ga it ja ko lv lt ms mt cmn mr mn no ' +
    'fa pl pt ro ru sk sl es sw sv tl ta th tr uk ur ug vi cy'
  ).split(' '),
)

/**
 * Melia hears all languages at once (`multi`) and has no dictionary yet; the other models hear one language, or
 * detect it.
 */
function checkLanguage({
  language,
  model,
  language_hints: hints,
  additional_vocab: terms,
}: JsonObject): void {
  if (model !== 'melia-1') {
    if (language !== 'auto' && !languages.has(String(language)))
      throw refusal(400, `language ${String(language)} is not supported`)
    if (hints !== undefined) throw refusal(400, 'language_hints need melia-1')
    return
  }
  if (language !== 'multi') throw refusal(400, 'melia-1 needs the language multi')
  if (terms !== undefined) throw refusal(400, 'melia-1 has no additional_vocab')
  if (hints !== undefined && !(Array.isArray(hints) && hints.every((hint) => languages.has(String(hint)))))
    throw refusal(400, 'language_hints are languages')
}

const noSound = () => refusal(400, 'unsupported audio format')

async function listenTo(file: UploadedFile, asked: AudioAsked): Promise<Listened> {
  const { faults, mount, programs, signal } = asked
  try {
    const listening = { faults, settings: mount.settings, programs, signal }
    return { heard: await hear(file, listening, { unrecognised: noSound, undecodable: noSound }) }
  } catch (error) {
    if (error instanceof ApiError) return { failure: error.code ?? error.message }
    throw error
  }
}

const unreachable = () => refusal(400, 'the file could not be fetched')

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
    if (error instanceof ApiError) return { failure: error.code ?? error.message }
    throw error
  }
}

function jobOf({ mount }: AudioAsked, id: string): AudioJob {
  const job = mount.audioJobs.find(slug, id)
  if (job === null || job.isRemoved) throw refusal(404)
  return job
}

function described({ id, createdAtMs, listened }: AudioJob): JsonObject {
  const duration = listened !== null && 'heard' in listened ? listened.heard.seconds : null
  const created = new Date(createdAtMs).toISOString()
  return { id, created_at: created, data_name: 'audio', ...(duration === null ? {} : { duration }) }
}

/** `GET /v2/jobs`: the newest first, a hundred at most, each with the configuration of its request. */
function list({ mount, query }: AudioAsked): Reply {
  const limit = Number(query.get('limit') ?? listedMax)
  if (!Number.isInteger(limit) || limit < 1 || limit > listedMax) throw refusal(422)
  const before = Date.parse(query.get('created_before') ?? '9999-01-01T00:00:00Z')
  const jobs = mount.audioJobs.list(slug).filter((job) => !job.isRemoved && job.createdAtMs < before)
  return told({
    jobs: jobs.slice(0, limit).map((job) => {
      const { tracking } = job.request as SpeechmaticsRequest
      const config = { type: 'transcription', ...(tracking === null ? {} : { tracking }) }
      return { ...described(job), status: job.listened === null ? 'running' : 'done', config }
    }),
  })
}

/** `GET /v2/jobs/{id}` */
async function look(asked: AudioAsked, id = ''): Promise<Reply> {
  const job = jobOf(asked, id)
  const stage = await lookAt(job, asked.mount.settings.jobLooks)
  if (stage !== 'ended' || job.listened === null)
    return told({ job: { ...described(job), status: 'running' } })
  if ('heard' in job.listened) return told({ job: { ...described(job), status: 'done' } })
  const errors = [{ timestamp: new Date().toISOString(), message: job.listened.failure }]
  return told({ job: { ...described(job), status: 'rejected', errors } })
}

/** `GET /v2/jobs/{id}/transcript`: 404 until the job is done. */
function read(asked: AudioAsked, id = ''): Reply {
  const job = jobOf(asked, id)
  if (asked.query.get('format') !== 'json-v2') throw refusal(400, 'only json-v2 is played')
  if (job.listened === null || !('heard' in job.listened)) throw refusal(404)
  const transcript = transcriptOf(job.request as SpeechmaticsRequest, job.listened.heard, asked.faults)
  return told({ ...transcript, job: described(job) })
}

/** `DELETE /v2/jobs/{id}`: refused for a running job, unless the request has `force=true`. */
function remove(asked: AudioAsked, id = ''): Reply {
  const job = jobOf(asked, id)
  const runs = job.listened === null || job.isEndless
  if (runs && asked.query.get('force') !== 'true') throw refusal(423)
  asked.mount.audioJobs.remove(job)
  return told({ job: { ...described(job), status: 'deleted' } })
}

/** Speechmatics' batch API. Its waiting answers and its other formats are not simulated. */
export const speechmatics: AudioApi = {
  slug,
  style: speechmaticsStyle,
  uploadBytesMax,
  modelOf: () => null,
  operations: [
    { method: 'POST', path: /^\/v2\/jobs\/?$/, answer: create },
    { method: 'GET', path: /^\/v2\/jobs$/, answer: list },
    { method: 'GET', path: /^\/v2\/jobs\/([^/]+)$/, answer: look },
    { method: 'DELETE', path: /^\/v2\/jobs\/([^/]+)$/, answer: remove },
    { method: 'GET', path: /^\/v2\/jobs\/([^/]+)\/transcript$/, answer: read },
  ],
}
