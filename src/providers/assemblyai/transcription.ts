import { createHash } from 'node:crypto'
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
import { readAssemblyAiTranscript } from './transcript.ts'
import { failedJob } from '../../formats/transcription/failed-job.ts'
import { jobIdOf } from '../../formats/transcription/job-id.ts'
import { tidyKeyterms } from '../../formats/transcription/keyterms.ts'
import { soundBody } from '../../formats/transcription/sound-body.ts'
import { toldLanguage } from '../../formats/transcription/told-language.ts'
import { parseTranscript, recordsOf, textIn } from '../../formats/transcription/transcript-wire.ts'

/** How far a job is: what the reply that comes next belongs to. */
type JobState = { step: 'upload' } | { step: 'create' } | { step: 'look'; id: string; looks: number }

type Asked = CallAt<TranscriptionCall>
type JobStep = Step<JobState, CanonicalTranscription, never>

/** Waits before the looks at a job. AssemblyAI names three seconds; a short recording is done sooner. */
const lookWaitsMs = [250, 750, 2_000, 3_000] as const
/** Entries of one page of its listing, the most that it gives. */
const listedMax = 200

/**
 * AssemblyAI's transcripts of recordings: an upload where there is no address, a job, looks at it. A transcript that was
 * deleted takes its upload along; an upload without one has no call that removes it, and AssemblyAI keeps it for two days
 * (https://assemblyai.com/docs/faq/does-assemblyai-offer-zero-data-retention).
 */
export function assemblyAiTranscription(): TranscriptionAdapter {
  const adapter: Adapter<TranscriptionCall, JobState, CanonicalTranscription> = {
    first(asked) {
      const { audio } = asked.call
      if (isRemoteAudio(audio) && asked.endpoint.audio?.url === true) return create(asked, audio.url)
      return send({ step: 'upload' }, { ...upload(asked), makes: { kind: uploadKind, marker: null } })
    },
    next(state, reply, asked) {
      if (state.step === 'upload') return create(asked, uploadUrlIn(reply) ?? refuseReply())
      if (state.step === 'create') return look({ step: 'look', id: idIn(reply) ?? refuseReply(), looks: 0 })
      return readLook(state, reply, asked)
    },
    readError: readUpstreamFailure,
    resources,
  }
  return adapter
}

function send(state: JobState, exchange: Exchange): JobStep {
  return { type: 'send', exchange, state }
}

function refuseReply(): never {
  throw new GatewayError('provider_failed', 'The provider answered without what its documents promise.')
}

function upload({ call }: Asked): Exchange {
  const headers = { 'content-type': 'application/octet-stream' }
  return { request: { method: 'POST', path: '/v2/upload', headers, body: soundBody(call.audio) } }
}

function create(asked: Asked, audioUrl: string): JobStep {
  const { call, endpoint } = asked
  const body = JSON.stringify({ audio_url: audioUrl, ...fieldsOf(asked) })
  const drops = call.temperature !== null && !takesTemperature(endpoint.upstreamModel)
  const left = optionsLeftOut(call.preferences, endpoint, isPassable)
  return send(
    { step: 'create' },
    {
      request: {
        method: 'POST',
        path: transcriptsPath,
        headers: { 'content-type': 'application/json' },
        body: [body],
      },
      dropped: drops ? [...left, 'temperature'] : left,
      makes: { kind: transcriptKind, marker: markerOf(audioUrl), takesIn: [uploadKind] },
    },
  )
}

/** Speakers, terms and the model are the gateway's to say; webhooks would tell others of the job. */
const reserved = new Set(
  ['audio_url', 'speech_models', 'speech_model', 'language_code', 'language_detection', 'speaker_labels']
    .concat(['keyterms_prompt', 'temperature', 'webhook_url', 'webhook_auth_header_name'])
    .concat(['webhook_auth_header_value', 'session_id', 'user', 'trace']),
)

function isPassable(name: string): boolean {
  return !reserved.has(name)
}

function takesTemperature(model: string): boolean {
  return model.startsWith('universal-3')
}

function fieldsOf({ call, endpoint }: Asked): Record<string, unknown> {
  const options = Object.entries(optionsFor(call.preferences, endpoint))
  const { language, temperature } = call
  const keyterms = tidyKeyterms(call.keyterms)
  return {
    ...Object.fromEntries(options.filter(([name, value]) => isPassable(name) && value !== null)),
    speech_models: [endpoint.upstreamModel],
    // Without either AssemblyAI takes every recording for English.
    ...(language === null
      ? { language_detection: true }
      : { language_code: toldLanguage(language, endpoint) }),
    ...(call.diarize ? { speaker_labels: true } : {}),
    ...(keyterms.length > 0 ? { keyterms_prompt: keyterms } : {}),
    ...(temperature !== null && takesTemperature(endpoint.upstreamModel) ? { temperature } : {}),
  }
}

function look(state: JobState & { step: 'look' }): JobStep {
  const waitMs = lookWaitsMs[Math.min(state.looks, lookWaitsMs.length - 1)] ?? 0
  return send(state, {
    request: requestOf('GET', `${transcriptsPath}/${encodeURIComponent(state.id)}`),
    waitMs,
  })
}

function readLook(state: JobState & { step: 'look' }, reply: UpstreamReply, asked: Asked): JobStep {
  const wire = parseTranscript(reply.bytes)
  const { status } = wire
  if (status === 'completed')
    return { type: 'answer', answer: readAssemblyAiTranscript(wire, asked.call.language) }
  if (status === 'error') throw failedJob(textIn(wire['error']) ?? '', asked)
  if (status !== 'queued' && status !== 'processing') return refuseReply()
  return look({ ...state, looks: state.looks + 1 })
}

const transcriptsPath = '/v2/transcript'
const uploadKind = 'assemblyai.upload'
const transcriptKind = 'assemblyai.transcript'

function requestOf(method: UpstreamRequest['method'], path: string): UpstreamRequest {
  return { method, path, headers: {}, body: null }
}

function idIn({ bytes }: UpstreamReply): string | null {
  return jobIdOf(parseTranscript(bytes)['id'])
}

function uploadUrlIn({ bytes }: UpstreamReply): string | null {
  return textIn(parseTranscript(bytes)['upload_url'])
}

/** An address may be a secret of the caller's, so its digest is what is stored and compared. */
function markerOf(audioUrl: string): string {
  return createHash('sha256').update(audioUrl).digest('hex')
}

const resources: Readonly<Record<string, ResourceKind>> = {
  [uploadKind]: {
    readId: (reply) => uploadUrlIn(reply)?.split('/').at(-1) ?? null,
    remove: null,
    listing: null,
  },
  [transcriptKind]: {
    readId: idIn,
    remove: (id) => requestOf('DELETE', `${transcriptsPath}/${encodeURIComponent(id)}`),
    // The addresses of deleted ones are blanked there, so that only what is left bears its marker.
    listing: {
      request: (older) =>
        requestOf(
          'GET',
          `${transcriptsPath}?limit=${listedMax}${older === null ? '' : `&before_id=${encodeURIComponent(older)}`}`,
        ),
      read({ bytes }, marker) {
        const entries = (recordsOf(parseTranscript(bytes)['transcripts']) ?? refuseReply()).flatMap(
          ({ id, audio_url: url, created }) =>
            typeof id === 'string' ? [{ id, url, createdAtMs: timeOf(created) }] : [],
        )
        const last = entries.at(-1)
        const found = entries.filter(({ url }) => typeof url === 'string' && markerOf(url) === marker)
        return {
          found: found.map(({ id, createdAtMs }) => ({ id, createdAtMs })),
          oldestAtMs: last?.createdAtMs ?? null,
          older: entries.length < listedMax || last === undefined ? null : last.id,
        }
      },
    },
  },
}

function timeOf(created: unknown): number | null {
  const atMs = typeof created === 'string' ? Date.parse(zoned(created)) : Number.NaN
  return Number.isNaN(atMs) ? null : atMs
}

/** Some of its times come without a zone; they are UTC. */
function zoned(time: string): string {
  return /(?:Z|[+-]\d\d:?\d\d)$/.test(time) ? time : `${time}Z`
}
