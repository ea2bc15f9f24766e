import {
  isRemoteAudio,
  type CanonicalTranscription,
  type TranscriptionAdapter,
} from '../../canonical/audio.ts'
import type { TranscriptionCall } from '../../canonical/call.ts'
import type { Adapter, CallAt, Exchange, Step } from '../../canonical/steps.ts'
import type { ResourceKind } from '../../canonical/resource-notes.ts'
import type { UpstreamReply, UpstreamRequest } from '../../canonical/upstream.ts'
import { GatewayError } from '../../core/errors.ts'
import { optionsFor, optionsLeftOut } from '../../formats/provider-options.ts'
import { readUpstreamFailure } from '../../formats/upstream-errors.ts'
import { audioPart, wavPart } from '../../formats/transcription/audio-part.ts'
import { failedJob, type JobFault } from '../../formats/transcription/failed-job.ts'
import { jobIdOf } from '../../formats/transcription/job-id.ts'
import { tidyKeyterms } from '../../formats/transcription/keyterms.ts'
import { encodeForm } from '../../formats/transcription/multipart-body.ts'
import { readRevAiTranscript, type RevAiJob } from './transcript.ts'
import {
  durationIn,
  parseEntries,
  parseTranscript,
  textIn,
  type WireRecord,
} from '../../formats/transcription/transcript-wire.ts'

/** How far a job is: what the reply that comes next belongs to. */
type JobState =
  | { step: 'create' }
  | { step: 'look'; id: string; looks: number }
  | { step: 'read'; job: RevAiJob }

type Asked = CallAt<TranscriptionCall>
type JobStep = Step<JobState, CanonicalTranscription, never>

/** Waits before the looks at a job. */
const lookWaitsMs = [500, 1_000, 2_000, 3_000] as const
/** Entries of one page of its listing, the most that it gives. */
const listedMax = 1_000
const jobKind = 'revai.job'
const jobsPath = '/jobs'
const transcriptType = 'application/vnd.rev.transcript.v1.0+json'

/**
 * Rev AI's asynchronous jobs: made with the sound or its address, looked at, then their transcript is read. A job can be
 * removed as soon as it has ended, with all that belongs to it; before, its removal is refused with 409
 * (https://docs.rev.ai/api/asynchronous/reference).
 */
export function revAiTranscription(): TranscriptionAdapter {
  const adapter: Adapter<TranscriptionCall, JobState, CanonicalTranscription> = {
    first: (asked) => ({ type: 'send', exchange: create(asked), state: { step: 'create' } }),
    next(state, reply, asked) {
      if (state.step === 'create') return look({ step: 'look', id: idIn(reply) ?? refuseReply(), looks: 0 })
      if (state.step === 'look') return readLook(state, reply, asked)
      return { type: 'answer', answer: readRevAiTranscript(parseTranscript(reply.bytes), state.job) }
    },
    readError: readUpstreamFailure,
    resources: { [jobKind]: jobResource },
  }
  return adapter
}

function idIn({ bytes }: UpstreamReply): string | null {
  return jobIdOf(parseTranscript(bytes)['id'])
}

function refuseReply(): never {
  throw new GatewayError('provider_failed', 'The provider answered without what its documents promise.')
}

function create(asked: Asked): Exchange {
  const { call, endpoint, context } = asked
  const left = optionsLeftOut(call.preferences, endpoint, isPassable)
  return {
    request: { method: 'POST', path: jobsPath, ...bodyOf(asked) },
    dropped: call.temperature === null ? left : [...left, 'temperature'],
    makes: { kind: jobKind, marker: context.generationId },
  }
}

/** One object of options: with the address among them, or beside the sound in a form. */
function bodyOf(asked: Asked): Pick<UpstreamRequest, 'headers' | 'body'> {
  const { audio } = asked.call
  const options = optionsOf(asked)
  if (isRemoteAudio(audio) && asked.endpoint.audio?.url === true) {
    const body = JSON.stringify({ source_config: { url: audio.url }, ...options })
    return { headers: { 'content-type': 'application/json' }, body: [body] }
  }
  const part = audio.format === 'pcm' ? wavPart : audioPart
  const file = { ...part(audio), name: 'media' }
  const { contentType, body } = encodeForm([['options', JSON.stringify(options)]], file)
  return { headers: { 'content-type': contentType }, body }
}

/**
 * The sound, speakers, terms, language and transcriber are the gateway's to say. A callback would tell others of the job, a
 * time of its deletion could come before it is read, and channels, summaries and translations cost more and are not read.
 */
const reserved = new Set(
  ['source_config', 'media_url', 'media', 'transcriber', 'language', 'skip_diarization']
    .concat(['custom_vocabularies', 'metadata', 'notification_config', 'callback_url'])
    .concat(['delete_after_seconds', 'speaker_channels_count', 'summarization_config'])
    .concat(['translation_config', 'session_id', 'user', 'trace']),
)

function isPassable(name: string): boolean {
  return !reserved.has(name)
}

function optionsOf({ call, endpoint, context }: Asked): Record<string, unknown> {
  const options = Object.entries(optionsFor(call.preferences, endpoint))
  const phrases = tidyKeyterms(call.keyterms)
  return {
    ...Object.fromEntries(options.filter(([name, value]) => isPassable(name) && value !== null)),
    transcriber: endpoint.upstreamModel,
    language: languageOf(call.language, endpoint.audio?.languages ?? null),
    // Rev AI tells speakers apart unless it is told not to.
    skip_diarization: !call.diarize,
    ...(phrases.length > 0 ? { custom_vocabularies: [{ phrases }] } : {}),
    // Listings show it, so that a job is found whose id never came.
    metadata: context.generationId,
  }
}

/** Without a language Rev AI takes every recording for English; the code for Mandarin is the longer one. */
function languageOf(language: string | null, known: readonly string[] | null): string {
  if (language === null) return known?.length === 1 && known[0] !== undefined ? known[0] : 'auto'
  return language === 'zh' ? 'cmn' : language
}

function look(state: JobState & { step: 'look' }): JobStep {
  const waitMs = lookWaitsMs[Math.min(state.looks, lookWaitsMs.length - 1)] ?? 0
  return { type: 'send', exchange: { request: requestOf('GET', pathOf(state.id)), waitMs }, state }
}

function pathOf(id: string): string {
  return `${jobsPath}/${encodeURIComponent(id)}`
}

function requestOf(method: UpstreamRequest['method'], path: string): UpstreamRequest {
  return { method, path, headers: {}, body: null }
}

function readLook(state: JobState & { step: 'look' }, { bytes }: UpstreamReply, asked: Asked): JobStep {
  const told = parseTranscript(bytes)
  const { status } = told
  if (status === 'in_progress') return look({ ...state, looks: state.looks + 1 })
  if (status === 'failed') throw failureOf(told, asked)
  if (status !== 'transcribed') return refuseReply()
  const job: RevAiJob = {
    id: state.id,
    language: textIn(told['language']) ?? asked.call.language,
    durationSeconds: durationIn(told['duration_seconds']),
    diarize: asked.call.diarize,
  }
  const request = {
    ...requestOf('GET', `${pathOf(state.id)}/transcript`),
    headers: { accept: transcriptType },
  }
  return { type: 'send', exchange: { request }, state: { step: 'read', job } }
}

/** Whose fault each of Rev AI's words for a failure says it is; the words beside it are for people. */
const faults: Readonly<Record<string, JobFault>> = {
  download_failure: 'sound',
  duration_exceeded: 'sound',
  duration_too_short: 'sound',
  invalid_media: 'sound',
  empty_media: 'sound',
  insufficient_balance: 'account',
  invoicing_limit_exceeded: 'account',
}

function failureOf(job: WireRecord, asked: Asked): Error {
  const failure = textIn(job['failure']) ?? ''
  const fault = Object.hasOwn(faults, failure) ? faults[failure] : undefined
  return failedJob(textIn(job['failure_detail']) ?? failure, asked, fault ?? 'provider')
}

const jobResource: ResourceKind = {
  readId: idIn,
  remove: (id) => requestOf('DELETE', pathOf(id)),
  listing: {
    request: (older) =>
      requestOf(
        'GET',
        `${jobsPath}?limit=${listedMax}${older === null ? '' : `&starting_after=${encodeURIComponent(older)}`}`,
      ),
    read({ bytes }, marker) {
      const entries = parseEntries(bytes).flatMap(({ id, metadata, created_on: created }) => {
        const atMs = typeof created === 'string' ? Date.parse(created) : Number.NaN
        const createdAtMs = Number.isNaN(atMs) ? null : atMs
        return typeof id === 'string' ? [{ id, metadata, createdAtMs }] : []
      })
      const last = entries.at(-1)
      return {
        found: entries
          .filter(({ metadata }) => metadata === marker)
          .map(({ id, createdAtMs }) => ({ id, createdAtMs })),
        oldestAtMs: last?.createdAtMs ?? null,
        older: entries.length < listedMax || last === undefined ? null : last.id,
      }
    },
  },
}
