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
import { tidyKeyterms } from '../../formats/transcription/keyterms.ts'
import { encodeForm } from '../../formats/transcription/multipart-body.ts'
import { readSpeechmaticsTranscript } from './transcript.ts'
import { toldLanguage } from '../../formats/transcription/told-language.ts'
import {
  parseTranscript,
  recordOf,
  recordsOf,
  textIn,
  type WireRecord,
} from '../../formats/transcription/transcript-wire.ts'

/** How far a job is: what the reply that comes next belongs to. */
type JobState = { step: 'create' } | { step: 'look'; id: string; looks: number } | { step: 'read' }

type Asked = CallAt<TranscriptionCall>
type JobStep = Step<JobState, CanonicalTranscription, never>

/** Waits before the looks at a job. */
const lookWaitsMs = [250, 750, 2_000, 3_000] as const
/** Entries of one page of its listing, the most that it gives. */
const listedMax = 100
const jobKind = 'speechmatics.job'

/**
 * Speechmatics' batch jobs: made with the sound or its address, looked at, then their transcript is read. A removal ends a job that
 * still runs; without one it is kept for seven days (https://docs.speechmatics.com/api-ref/batch/delete-a-job).
 */
export function speechmaticsTranscription(): TranscriptionAdapter {
  const adapter: Adapter<TranscriptionCall, JobState, CanonicalTranscription> = {
    first: (asked) => ({ type: 'send', exchange: create(asked), state: { step: 'create' } }),
    next(state, reply, asked) {
      if (state.step === 'create') return look({ step: 'look', id: idIn(reply) ?? refuseReply(), looks: 0 })
      if (state.step === 'look') return readLook(state, reply, asked)
      const wire = parseTranscript(reply.bytes)
      return { type: 'answer', answer: readSpeechmaticsTranscript(wire, asked.call.language) }
    },
    readError: readUpstreamFailure,
    resources: { [jobKind]: job },
  }
  return adapter
}

const job: ResourceKind = {
  readId: (reply) => idIn(reply),
  remove: (id) => requestOf('DELETE', `${pathOf(id)}?force=true`),
  listing: {
    request: (older) => {
      const before = older === null ? '' : `&created_before=${encodeURIComponent(older)}`
      return requestOf('GET', `/jobs?limit=${listedMax}${before}`)
    },
    read({ bytes }, marker) {
      const entries = (recordsOf(parseTranscript(bytes)['jobs']) ?? refuseReply()).flatMap(listed)
      const last = entries.at(-1)
      return {
        found: entries
          .filter(({ reference }) => reference === marker)
          .map(({ id, createdAtMs }) => ({ id, createdAtMs })),
        oldestAtMs: last?.createdAtMs ?? null,
        older: entries.length < listedMax || last === undefined ? null : last.created,
      }
    },
  },
}

/** A job of the listing, as it was described when it was made. */
function listed({ id, created_at: created, config }: WireRecord) {
  if (typeof id !== 'string' || typeof created !== 'string') return []
  const atMs = Date.parse(created)
  const { reference } = recordOf(recordOf(config)?.['tracking']) ?? {}
  return [{ id, created, createdAtMs: Number.isNaN(atMs) ? null : atMs, reference }]
}

function requestOf(method: UpstreamRequest['method'], path: string): UpstreamRequest {
  return { method, path, headers: {}, body: null }
}

function pathOf(id: string): string {
  return `/jobs/${encodeURIComponent(id)}`
}

function idIn({ bytes }: UpstreamReply): string | null {
  return jobIdOf(parseTranscript(bytes)['id'])
}

function refuseReply(): never {
  throw new GatewayError('provider_failed', 'The provider answered without what its documents promise.')
}

function create(asked: Asked): Exchange {
  const { call, endpoint, context } = asked
  const { audio } = call
  const isFetched = isRemoteAudio(audio) && endpoint.audio?.url === true
  const config = JSON.stringify({
    type: 'transcription',
    ...(isFetched ? { fetch_data: { url: audio.url } } : {}),
    transcription_config: configOf(asked),
    // Listings show it, so that a job is found whose id never came.
    tracking: { reference: context.generationId },
  })
  const part = audio.format === 'pcm' ? wavPart : audioPart
  const file = isFetched ? null : { ...part(audio), name: 'data_file' }
  const { contentType, body } = encodeForm([['config', config]], file)
  const left = optionsLeftOut(call.preferences, endpoint, isPassable)
  return {
    request: { method: 'POST', path: '/jobs/', headers: { 'content-type': contentType }, body },
    dropped: call.temperature === null ? left : [...left, 'temperature'],
    makes: { kind: jobKind, marker: context.generationId },
  }
}

const reserved = new Set(
  [
    'language',
    'language_hints',
    'model',
    'operating_point',
    'diarization',
    'additional_vocab',
    'fetch_data',
  ].concat(['notification_config', 'session_id', 'user', 'trace']),
)

function isPassable(name: string): boolean {
  return !reserved.has(name)
}

function configOf({ call, endpoint }: Asked): Record<string, unknown> {
  const options = Object.entries(optionsFor(call.preferences, endpoint))
  const terms = tidyKeyterms(call.keyterms)
  return {
    ...Object.fromEntries(options.filter(([name, value]) => isPassable(name) && value !== null)),
    ...languageOf(call.language, endpoint),
    model: endpoint.upstreamModel,
    ...(call.diarize ? { diarization: 'speaker' } : {}),
    ...(terms.length > 0 ? { additional_vocab: terms.map((content) => ({ content })) } : {}),
  }
}

/**
 * Melia hears several languages at once and takes no other word than `multi`: what the caller names is what it listens for
 * first (https://docs.speechmatics.com/speech-to-text/features/mixed-language-transcription).
 */
function languageOf(language: string | null, endpoint: Asked['endpoint']): Record<string, unknown> {
  const told = language === null ? null : toldLanguage(language, endpoint)
  if (!endpoint.upstreamModel.startsWith('melia')) return { language: told ?? 'auto' }
  return { language: 'multi', ...(told === null ? {} : { language_hints: [told] }) }
}

function send(state: JobState, path: string, waitMs: number): JobStep {
  return { type: 'send', exchange: { request: requestOf('GET', path), waitMs }, state }
}

/** Without its own wait: this one can be ended. */
function look(state: JobState & { step: 'look' }): JobStep {
  const waitMs = lookWaitsMs[Math.min(state.looks, lookWaitsMs.length - 1)] ?? 0
  return send(state, `${pathOf(state.id)}?wait=0`, waitMs)
}

function readLook(state: JobState & { step: 'look' }, { bytes }: UpstreamReply, asked: Asked): JobStep {
  const told = recordOf(parseTranscript(bytes)['job'])
  const status = told?.['status']
  if (status === 'running') return look({ ...state, looks: state.looks + 1 })
  if (status === 'done') return send({ step: 'read' }, `${pathOf(state.id)}/transcript?format=json-v2`, 0)
  if (status !== 'rejected' && status !== 'deleted' && status !== 'expired') return refuseReply()
  const reasons = (recordsOf(told?.['errors']) ?? []).flatMap(({ message }) => textIn(message) ?? [])
  throw failedJob(reasons.length > 0 ? reasons.join('; ') : `the job is ${status}`, asked)
}
