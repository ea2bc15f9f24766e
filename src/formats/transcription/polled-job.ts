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
 * A provider whose transcripts are jobs. The adapter uploads the sound if the job does not carry it, creates the job,
 * polls it until it has ended, reads its transcript, and can remove what is left at the provider.
 */
export interface PolledJob {
  /** The name of a job in the notes of resources left at providers, such as `gladia.job`. */
  kind: string
  /** The path where jobs are created and listed; each job lies below it, by its id. */
  path: string
  /** How the sound is uploaded; absent when the request that creates the job carries it. */
  upload?: JobUpload
  /** Members of `provider.options` that the gateway sets itself, or that would inform others about the job. */
  reserved: readonly string[]
  /** Whether a model takes a temperature; absent when no model does. */
  takesTemperature?(upstreamModel: string): boolean
  /** The request that creates the job. */
  create(asked: AskedTranscription, given: JobInput): UpstreamRequest
  /** How the listing shows the job; null when there is no listing. */
  listing: JobListing | null
  /** The waits before each poll; the last one repeats. */
  lookWaitsMs: readonly [number, ...number[]]
  /** The query of a poll's URL. */
  lookQuery?: string
  /** The job's state in a poll; null for a state that the provider's documentation does not name. */
  stateOf(job: WireRecord): 'running' | 'done' | JobFailure | null
  /** The path of the transcript below the job; absent when the last poll contains it. */
  transcript?: { path: string; headers?: UpstreamRequest['headers'] }
  read(transcript: WireRecord, job: EndedJob, asked: AskedTranscription): CanonicalTranscription
  /** The query of the URL of the job's removal, which `execution/resources/sweeper.ts` sends once the exchange has ended. */
  removeQuery?: string
}

interface JobUpload {
  /** The name of an upload in the notes. No provider has a call that removes one. */
  kind: string
  request(asked: AskedTranscription): UpstreamRequest
  /** The URL by which the job names the sound. */
  addressIn(reply: WireRecord): string | null
  idIn(reply: WireRecord): string | null
}

/** The inputs of the request that creates a job, besides the call. */
interface JobInput {
  /** The URL of the sound: the caller's own, or the upload's. Null when the request carries the sound. */
  address: string | null
  /** The members of `provider.options` that are passed on. */
  options: Readonly<Record<string, unknown>>
}

interface JobFailure {
  reason: string
  /** The cause; absent when only the words of the reason show it. */
  fault?: JobFault
}

/** A job as its last poll showed it. It does not outlive its process: the sweeper removes it, and the caller asks again. */
interface EndedJob {
  id: string
  wire: WireRecord
}

interface JobListing {
  /** The mark that identifies an entry as this call's; it is stored. */
  markerOf(asked: AskedTranscription, address: string | null): string
  /** The entries on a page: the provider's maximum. */
  max: number
  /** The query parameter that asks for entries older than a cursor. */
  olderThan: string
  entriesIn(reply: UpstreamReply): readonly WireRecord[] | null
  /** Null for an invalid entry. The cursor of the next page is the entry's id unless it names another. */
  read(entry: WireRecord): { marker: unknown; created: unknown; cursor?: string } | null
}

/** The reply that comes next. */
type JobState =
  | { step: 'upload' | 'create' }
  | { step: 'look'; id: string; looks: number }
  | { step: 'read'; job: EndedJob }

type JobStep = Step<JobState, CanonicalTranscription, never>

/** The adapter of such a provider: each step is one request, and resources left there are noted by kind. */
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

/** Members of `provider.options` that text providers take and that identify the caller. */
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

/** The milliseconds of an ISO time; null for an invalid one. A time without a zone counts as UTC. */
function timeOf(created: unknown): number | null {
  if (typeof created !== 'string') return null
  const atMs = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(created) ? created : `${created}Z`)
  return Number.isNaN(atMs) ? null : atMs
}
