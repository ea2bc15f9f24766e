import {
  isRemoteAudio,
  type CanonicalTranscription,
  type TranscriptionAdapter,
} from '../../canonical/audio.ts'
import type { TranscriptionCall } from '../../canonical/call.ts'
import type { Adapter, CallAt, Exchange, Step } from '../../canonical/steps.ts'
import type { ResourceKind, ResourceListing } from '../../canonical/resource-notes.ts'
import type { UpstreamReply, UpstreamRequest } from '../../canonical/upstream.ts'
import { GatewayError } from '../../core/errors.ts'
import { optionsFor, optionsLeftOut } from '../provider-options.ts'
import { readUpstreamFailure } from '../upstream-errors.ts'
import { failedJob, type JobFault } from './failed-job.ts'
import { jobIdOf } from './job-id.ts'
import { parseTranscript } from './transcript-wire.ts'
import type { WireRecord } from '../../json/values.ts'

/** A transcription at one endpoint. */
export type AskedTranscription = CallAt<TranscriptionCall>

/**
 * A provider whose transcripts are jobs: the sound is sent ahead where the job is not made with it, the job is made, looked at
 * until it has ended, its transcript is read, and what is left at the provider can be removed.
 */
export interface PolledJob {
  /** What a job is called in the notes of what is left at providers, such as `gladia.job`. */
  kind: string
  /** Where jobs are made and listed; each is below it, by its id. */
  path: string
  /** How the sound is sent ahead; absent where the request that makes the job carries it. */
  upload?: JobUpload
  /** Members of `provider.options` that the gateway sets itself, or that would tell others of the job. */
  reserved: readonly string[]
  /** Whether a model takes a temperature; absent where none does. */
  takesTemperature?(upstreamModel: string): boolean
  /** The request that makes the job. */
  create(asked: AskedTranscription, given: JobInput): UpstreamRequest
  /** What a listing shows of the job; null where there is no listing. */
  listing: JobListing | null
  /** Waits before the looks at a job; the last one repeats. */
  lookWaitsMs: readonly [number, ...number[]]
  /** Behind the address of a look. */
  lookQuery?: string
  /** What a look says; null for what the provider's documents do not name. */
  stateOf(job: WireRecord): 'running' | 'done' | JobFailure | null
  /** Below the job: where its transcript is; absent where the last look has it. */
  transcript?: { path: string; headers?: UpstreamRequest['headers'] }
  read(transcript: WireRecord, job: EndedJob, asked: AskedTranscription): CanonicalTranscription
  /** Behind the address of a removal. */
  removeQuery?: string
}

interface JobUpload {
  /** What an upload is called in the notes. No provider has a call that removes one. */
  kind: string
  request(asked: AskedTranscription): UpstreamRequest
  /** The address by which the job names the sound. */
  addressIn(reply: WireRecord): string | null
  idIn(reply: WireRecord): string | null
}

/** What the request that makes a job is given beside the call. */
interface JobInput {
  /** Of the sound: the caller's own, or the upload's. Null where the request carries the sound. */
  address: string | null
  /** The members of `provider.options` that are passed on. */
  options: Readonly<Record<string, unknown>>
}

interface JobFailure {
  reason: string
  /** What is to blame; absent where only the words of the reason say it. */
  fault?: JobFault
}

/** A job as its last look told it. Plain data. */
interface EndedJob {
  id: string
  wire: WireRecord
}

interface JobListing {
  /** By what an entry is known as this call's; it is stored. */
  markerOf(asked: AskedTranscription, address: string | null): string
  /** Entries of one page, the most that the provider gives. */
  max: number
  /** The query member that asks for entries older than a cursor. */
  olderThan: string
  entriesIn(reply: UpstreamReply): readonly WireRecord[] | null
  /** Null for an entry that is none. The cursor of the page behind it is its id where it names no other. */
  read(entry: WireRecord): { marker: unknown; created: unknown; cursor?: string } | null
}

/** Which reply comes next. */
type JobState =
  | { step: 'upload' | 'create' }
  | { step: 'look'; id: string; looks: number }
  | { step: 'read'; job: EndedJob }

type JobStep = Step<JobState, CanonicalTranscription, never>

/** The adapter of such a provider: each step is one request, and what is left there is noted by kind. */
export function polledJob(row: PolledJob): TranscriptionAdapter {
  const adapter: Adapter<TranscriptionCall, JobState, CanonicalTranscription> = {
    first(asked) {
      const { audio } = asked.call
      if (isRemoteAudio(audio) && asked.endpoint.audio?.url === true) return create(row, asked, audio.url)
      if (row.upload === undefined) return create(row, asked, null)
      const { kind, request } = row.upload
      return send({ step: 'upload' }, { request: request(asked), makes: { kind, marker: null } })
    },
    next(state, reply, asked) {
      const wire = parseTranscript(reply.bytes)
      switch (state.step) {
        case 'upload':
          return create(row, asked, row.upload?.addressIn(wire) ?? refuseReply())
        case 'create':
          return look(row, jobIdOf(wire['id']) ?? refuseReply(), 0)
        case 'look':
          return readLook(row, wire, { state, asked })
        case 'read':
          return { type: 'answer', answer: row.read(wire, state.job, asked) }
      }
    },
    readError: readUpstreamFailure,
    resources: resourcesOf(row),
  }
  return adapter
}

function refuseReply(): never {
  throw new GatewayError('provider_failed', 'The provider answered without what its documents promise.')
}

function send(state: JobState, exchange: Exchange): JobStep {
  return { type: 'send', exchange, state }
}

/** Members of `provider.options` that providers of text take and that say who the caller is. */
const aboutCallers: ReadonlySet<string> = new Set(['session_id', 'user', 'trace'])

function create(row: PolledJob, asked: AskedTranscription, address: string | null): JobStep {
  const { call, endpoint } = asked
  const isPassed = (name: string) => !row.reserved.includes(name) && !aboutCallers.has(name)
  const options = Object.entries(optionsFor(call.preferences, endpoint)).filter(
    ([name, value]) => isPassed(name) && value !== null,
  )
  const left = optionsLeftOut(call.preferences, endpoint, isPassed)
  const keepsTemperature =
    call.temperature === null || row.takesTemperature?.(endpoint.upstreamModel) === true
  const marker = row.listing?.markerOf(asked, address) ?? null
  return send(
    { step: 'create' },
    {
      request: row.create(asked, { address, options: Object.fromEntries(options) }),
      dropped: keepsTemperature ? left : [...left, 'temperature'],
      makes: {
        kind: row.kind,
        marker,
        ...(row.upload === undefined ? {} : { takesIn: [row.upload.kind] }),
      },
    },
  )
}

function look(row: PolledJob, id: string, looks: number): JobStep {
  const { lookWaitsMs: waits, lookQuery = '' } = row
  const request = bodiless('GET', `${pathOf(row, id)}${lookQuery}`)
  return send(
    { step: 'look', id, looks },
    { request, waitMs: waits[Math.min(looks, waits.length - 1)] ?? waits[0] },
  )
}

function readLook(
  row: PolledJob,
  wire: WireRecord,
  { state: { id, looks }, asked }: { state: JobState & { step: 'look' }; asked: AskedTranscription },
): JobStep {
  const told = row.stateOf(wire) ?? refuseReply()
  if (told === 'running') return look(row, id, looks + 1)
  if (told !== 'done') throw failedJob(told.reason, asked, told.fault)
  const job: EndedJob = { id, wire }
  if (row.transcript === undefined) return { type: 'answer', answer: row.read(wire, job, asked) }
  const { path, headers = {} } = row.transcript
  return send(
    { step: 'read', job },
    { request: { ...bodiless('GET', `${pathOf(row, id)}${path}`), headers } },
  )
}

function pathOf({ path }: PolledJob, id: string): string {
  return `${path}/${encodeURIComponent(id)}`
}

function bodiless(method: UpstreamRequest['method'], path: string): UpstreamRequest {
  return { method, path, headers: {}, body: null }
}

function resourcesOf(row: PolledJob): Readonly<Record<string, ResourceKind>> {
  const { kind, upload, listing, removeQuery = '' } = row
  const job: ResourceKind = {
    readId: ({ bytes }) => jobIdOf(parseTranscript(bytes)['id']),
    remove: (id) => bodiless('DELETE', `${pathOf(row, id)}${removeQuery}`),
    listing: listing === null ? null : listingOf(row.path, listing),
  }
  if (upload === undefined) return { [kind]: job }
  const readId: ResourceKind['readId'] = ({ bytes }) => upload.idIn(parseTranscript(bytes))
  return { [kind]: job, [upload.kind]: { readId, remove: null, listing: null } }
}

function listingOf(path: string, { max, olderThan, entriesIn, read }: JobListing): ResourceListing {
  return {
    request: (older) =>
      bodiless(
        'GET',
        `${path}?limit=${max}${older === null ? '' : `&${olderThan}=${encodeURIComponent(older)}`}`,
      ),
    read(reply, marker) {
      const entries = (entriesIn(reply) ?? refuseReply()).flatMap((entry) => {
        const { id } = entry
        const told = read(entry)
        if (typeof id !== 'string' || told === null) return []
        return [{ cursor: id, ...told, id, createdAtMs: timeOf(told.created) }]
      })
      const last = entries.at(-1)
      return {
        found: entries
          .filter((entry) => entry.marker === marker)
          .map(({ id, createdAtMs }) => ({ id, createdAtMs })),
        oldestAtMs: last?.createdAtMs ?? null,
        older: entries.length < max || last === undefined ? null : last.cursor,
      }
    },
  }
}

/** Milliseconds of an ISO time; null for what is none. One without a zone is taken for UTC. */
function timeOf(created: unknown): number | null {
  if (typeof created !== 'string') return null
  const atMs = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(created) ? created : `${created}Z`)
  return Number.isNaN(atMs) ? null : atMs
}
