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
import { failedJob } from '../../formats/transcription/failed-job.ts'
import { jobIdOf } from '../../formats/transcription/job-id.ts'
import { readGladiaTranscript } from './transcript.ts'
import { tidyKeyterms } from '../../formats/transcription/keyterms.ts'
import { encodeForm } from '../../formats/transcription/multipart-body.ts'
import { toldLanguage } from '../../formats/transcription/told-language.ts'
import { countIn, parseTranscript, recordOf, textIn } from '../../formats/transcription/transcript-wire.ts'

/** How far a job is: what the reply that comes next belongs to. */
type JobState = { step: 'upload' } | { step: 'create' } | { step: 'look'; id: string; looks: number }

type Asked = CallAt<TranscriptionCall>
type JobStep = Step<JobState, CanonicalTranscription, never>

/** Waits before the looks at a job; Gladia names about one second. */
const lookWaitsMs = [250, 750, 1_000] as const
const jobsPath = '/v2/pre-recorded'
const uploadKind = 'gladia.upload'
const jobKind = 'gladia.job'

/**
 * Gladia's transcripts of recordings: an upload where there is no address, a job, looks at it. A job can be removed once it has
 * ended, with its recording; before, its removal is refused with 403 (https://docs.gladia.io/api-reference/v2/pre-recorded/delete).
 * Otherwise it stays for twelve months, as an upload does of which no job was made: no call that removes one is named.
 */
export function gladiaTranscription(): TranscriptionAdapter {
  const adapter: Adapter<TranscriptionCall, JobState, CanonicalTranscription> = {
    first(asked) {
      const { audio } = asked.call
      if (isRemoteAudio(audio) && asked.endpoint.audio?.url === true) return create(asked, audio.url)
      return send({ step: 'upload' }, upload(asked))
    },
    next(state, reply, asked) {
      if (state.step === 'upload') return create(asked, textIn(parsed(reply)['audio_url']) ?? refuseReply())
      if (state.step === 'create') return look({ step: 'look', id: idIn(reply) ?? refuseReply(), looks: 0 })
      return readLook(state, reply, asked)
    },
    readError: readUpstreamFailure,
    resources,
  }
  return adapter
}

const resources: Readonly<Record<string, ResourceKind>> = {
  [uploadKind]: {
    readId: (reply) => textIn(recordOf(parsed(reply)['audio_metadata'])?.['id']),
    remove: null,
    listing: null,
  },
  [jobKind]: {
    readId: idIn,
    remove: (id) => ({ method: 'DELETE', path: pathOf(id), headers: {}, body: null }),
    listing: null,
  },
}

function parsed({ bytes }: UpstreamReply) {
  return parseTranscript(bytes)
}

function idIn(reply: UpstreamReply): string | null {
  return jobIdOf(parsed(reply)['id'])
}

function refuseReply(): never {
  throw new GatewayError('provider_failed', 'The provider answered without what its documents promise.')
}

function send(state: JobState, exchange: Exchange): JobStep {
  return { type: 'send', exchange, state }
}

function upload({ call: { audio } }: Asked): Exchange {
  const part = audio.format === 'pcm' ? wavPart(audio) : audioPart(audio)
  const { contentType, body } = encodeForm([], { ...part, name: 'audio' })
  return {
    request: { method: 'POST', path: '/v2/upload', headers: { 'content-type': contentType }, body },
    makes: { kind: uploadKind, marker: null },
  }
}

function create(asked: Asked, audioUrl: string): JobStep {
  const { call, endpoint } = asked
  const body = JSON.stringify({ audio_url: audioUrl, ...fieldsOf(asked) })
  const left = optionsLeftOut(call.preferences, endpoint, isPassable)
  const headers = { 'content-type': 'application/json' }
  return send(
    { step: 'create' },
    {
      request: { method: 'POST', path: jobsPath, headers, body: [body] },
      dropped: call.temperature === null ? left : [...left, 'temperature'],
      makes: { kind: jobKind, marker: null, takesIn: [uploadKind] },
    },
  )
}

/** Speakers, terms and the model are the gateway's to say; callbacks would tell others of the job. */
const reserved = new Set(
  ['audio_url', 'model', 'language_config', 'diarization', 'custom_vocabulary', 'custom_vocabulary_config']
    .concat(['callback', 'callback_config', 'callback_url', 'custom_metadata'])
    .concat(['session_id', 'user', 'trace']),
)

function isPassable(name: string): boolean {
  return !reserved.has(name)
}

function fieldsOf({ call, endpoint }: Asked): Record<string, unknown> {
  const options = Object.entries(optionsFor(call.preferences, endpoint))
  const vocabulary = tidyKeyterms(call.keyterms)
  const { language } = call
  return {
    ...Object.fromEntries(options.filter(([name, value]) => isPassable(name) && value !== null)),
    model: endpoint.upstreamModel,
    ...(language === null ? {} : { language_config: { languages: [toldLanguage(language, endpoint)] } }),
    ...(call.diarize ? { diarization: true } : {}),
    ...(vocabulary.length > 0 ? { custom_vocabulary: true, custom_vocabulary_config: { vocabulary } } : {}),
  }
}

function pathOf(id: string): string {
  return `${jobsPath}/${encodeURIComponent(id)}`
}

function look(state: JobState & { step: 'look' }): JobStep {
  const waitMs = lookWaitsMs[Math.min(state.looks, lookWaitsMs.length - 1)] ?? 0
  const request: UpstreamRequest = { method: 'GET', path: pathOf(state.id), headers: {}, body: null }
  return send(state, { request, waitMs })
}

function readLook(state: JobState & { step: 'look' }, reply: UpstreamReply, asked: Asked): JobStep {
  const job = parsed(reply)
  const { status } = job
  if (status === 'done') return { type: 'answer', answer: readGladiaTranscript(job, asked.call.language) }
  if (status === 'error') throw failedJob(reasonOf(countIn(job['error_code'])), asked)
  if (status !== 'queued' && status !== 'processing') return refuseReply()
  return look({ ...state, looks: state.looks + 1 })
}

/** Gladia says why only by a status: 4xx that are not about the account or the rate are about what was sent. */
function reasonOf(code: number | null): string {
  if (code === null) return ''
  return [400, 404, 413, 415, 422].includes(code) ? `error ${code}: invalid audio` : `error ${code}`
}
