import type { GatewayError } from '../../../core/errors.ts'
import type { FoundJob, JobReading } from '../../../canonical/batch-jobs.ts'
import type { StreamedBody, UpstreamReply } from '../../../canonical/upstream.ts'
import { assert } from '../../../core/assert.ts'
import {
  forgetJobResources,
  insertJobResource,
  leaveJobResources,
  nameJobResource,
} from '../../../execution/resources/upstream-resource-repository.ts'
import { abandon, isLongClosed } from './job-deadline.ts'
import { endUnneeded, refuseJob } from './job-end.ts'
import { changeJob } from './job-repository.ts'
import {
  ask,
  commitStep,
  isClosing,
  type JobDependencies,
  type JobStep,
  jobTransferMs,
  kindOf,
  leave,
  resourceOf,
  retryMs,
  type Statements,
  waitOf,
} from './job-step.ts'
import { newNonce } from './job.ts'

/** The wait before a new job is looked at for the first time, and before a job of unknown fate is searched for. */
export const firstLookMs = 5_000
const searchAgainMs = 30_000
/** How long a job of unknown fate is searched for before it is created again: a listing may lag behind. */
export const searchedForMs = 600_000
/** How much the clock of a provider may be behind that of the database. */
const clockSlackMs = 60_000
/** Pages of a listing in one search. */
const searchPagesMax = 50
/** Refusals of a creating request that may pass, such as by a rate limit, before the job is refused. */
const createTriesMax = 30

/** A job whose creating request is about to be sent. */
export interface CreatedJob {
  nonce: string
  operation: string
  itemCount: number
  worstNanocredits: bigint
  /** As `Job.sentUntil`. */
  sentUntil: number | null
  fileId: string | null
  /** The lines, where the request carries them. */
  lines: StreamedBody | null
  /** What is committed with the intent. */
  more: Statements
}

/** Creates the job of lines that were uploaded. */
export async function createAtProvider(step: JobStep, dependencies: JobDependencies): Promise<void> {
  const { job } = step.lease
  if (isClosing(step.batch)) return endUnneeded(step, dependencies)
  assert(job.operation !== null, 'an uploaded job has an operation')
  const { nonce, operation, itemCount, worstNanocredits, sentUntil, inputFileId: fileId } = job
  const created = { nonce, operation, itemCount, worstNanocredits, sentUntil, fileId, lines: null, more: [] }
  await sendCreate(step, dependencies, created)
}

/** Sends the request that creates the job. What it makes is noted before; when its answer is lost, the job is searched for. */
export async function sendCreate(
  step: JobStep,
  dependencies: JobDependencies,
  { more, ...created }: CreatedJob,
): Promise<void> {
  const { lease, place } = step
  const { job } = lease
  const { nonce, operation, itemCount, worstNanocredits, sentUntil, lines } = created
  const kind = kindOf(place, 'batch')
  const nowMs = dependencies.clock.nowMs()
  const marker = place.jobs.search?.markOf(created) ?? null
  await commitStep(dependencies, 'job.create', [
    changeJob(lease, {
      nonce,
      operation,
      itemCount,
      worstNanocredits,
      sentUntil,
      state: 'creating',
      sentAt: 'now',
    }),
    insertJobResource(resourceOf(step, 'batch', { marker, nowMs })),
    ...more,
  ])
  const request = place.jobs.create(created)
  const sent = await ask(step, request, lines === null ? undefined : jobTransferMs)
  const reading = sent.type === 'reply' ? readOrNull(step, sent.reply) : null
  if (reading !== null) return noteCreated(step, dependencies, reading)
  if (sent.type !== 'refused')
    return leave(step, dependencies, 'job.wait', { changes: {}, restMs: firstLookMs })
  const { failure } = sent
  const mayPass = (failure.retrySame || failure.credentialFault) && job.tries < createTriesMax
  if (!mayPass) return refuseJob(step, dependencies, failure.error)
  const state = lines === null ? 'uploaded' : 'intended'
  await leave(step, dependencies, 'job.wait', {
    changes: { state, sentAt: null, tries: job.tries + 1 },
    restMs: retryMs(job.tries, failure.retryAfterMs),
    waitsFor: failure.error,
    more: [forgetJobResources(job.id, kind)],
  })
}

/**
 * Finds out what became of a creating request whose answer is not known. A job that is surely this one is adopted; when none
 * was found for long enough, the job is intended again under another nonce, and one that comes later is removed.
 */
export async function searchAtProvider(step: JobStep, dependencies: JobDependencies): Promise<void> {
  const { lease, place } = step
  const { job } = lease
  const { search } = place.jobs
  assert(search !== null, 'idempotent services are not driven yet')
  const fromMs = (job.sentAtMs ?? lease.leasedAtMs) - clockSlackMs
  const mark = search.markOf({ ...job, fileId: job.inputFileId })
  const found: FoundJob[] = []
  let older: string | null = null
  for (let page = 0; page < searchPagesMax; page++) {
    const sent = await ask(step, search.request(older))
    if (sent.type !== 'reply') {
      if (isLongClosed(step)) return abandon(step, dependencies)
      const retryAfterMs = sent.type === 'refused' ? sent.failure.retryAfterMs : sent.retryAfterMs
      const changes = { tries: job.tries + 1 }
      const restMs = retryMs(job.tries, retryAfterMs)
      return leave(step, dependencies, 'job.wait', { changes, restMs, waitsFor: waitOf(sent) })
    }
    const read = search.read(sent.reply, mark)
    found.push(...read.found)
    const isBefore = read.oldestAtMs !== null && read.oldestAtMs < fromMs
    if (read.older === null || isBefore) break
    older = read.older
  }
  const adopted = await adoptable(step, found, { mark, fromMs, dependencies })
  if (adopted !== null) return noteCreated(step, dependencies, adopted)
  if (isLongClosed(step)) return abandon(step, dependencies)
  const isLostForLong = lease.leasedAtMs - (job.sentAtMs ?? lease.leasedAtMs) >= searchedForMs
  if (!isLostForLong) return leave(step, dependencies, 'job.wait', { changes: {}, restMs: searchAgainMs })
  await intendAgain(step, dependencies, { restMs: 0, isJobGone: false })
}

/**
 * The provider's job that the creating request of this job has made. Where other jobs may have the same mark, it is the only
 * one of the listing that was made at the time and that no other row has; its results tell later whether it was. While another
 * row with this mark has no id, such as the note of an earlier try, the listed job may belong to that row: then none is taken,
 * because the removal of that row would no longer find its job.
 */
async function adoptable(
  { lease, place }: JobStep,
  found: readonly FoundJob[],
  { mark, fromMs, dependencies }: { mark: string; fromMs: number; dependencies: JobDependencies },
): Promise<JobReading | null> {
  if (place.jobs.uncertainCreate === 'searchable') return found[0]?.reading ?? null
  if (found.length === 0) return null
  const { jobs } = dependencies
  // A creating request that was sent much earlier has not made a job at this time.
  const asked = { deploymentId: place.deploymentId, kind: kindOf(place, 'batch'), mark }
  const nameless = await jobs.countNameless(asked, fromMs - jobTransferMs)
  if (nameless > 1) return null
  const { sentAtMs } = lease.job
  const toMs = (sentAtMs ?? lease.leasedAtMs) + jobTransferMs
  const known = await jobs.listKnownIds(place.deploymentId)
  const possible = found.filter(
    ({ reading, createdAtMs }) =>
      createdAtMs !== null && createdAtMs >= fromMs && createdAtMs <= toMs && !known.has(reading.id),
  )
  const [only] = possible
  return possible.length === 1 && only !== undefined ? only.reading : null
}

/** Begins the job anew under another nonce. What the try before has made is removed. */
export async function intendAgain(
  step: JobStep,
  dependencies: JobDependencies,
  {
    restMs,
    isJobGone,
    more = [],
    waitsFor,
  }: { restMs: number; isJobGone: boolean; more?: Statements; waitsFor?: GatewayError },
): Promise<void> {
  const { job } = step.lease
  const kind = kindOf(step.place, 'batch')
  await leave(step, dependencies, 'job.again', {
    changes: {
      state: 'intended',
      nonce: newNonce(),
      inputFileId: null,
      upstreamId: null,
      outputs: [],
      sentUntil: null,
      sentAt: null,
      tries: 0,
    },
    restMs,
    waitsFor,
    more: [
      ...more,
      isJobGone ? forgetJobResources(job.id, kind) : leaveJobResources(job.id, kind),
      leaveJobResources(job.id, kindOf(step.place, 'batch_input')),
    ],
  })
}

async function noteCreated(step: JobStep, dependencies: JobDependencies, { id }: JobReading): Promise<void> {
  const { job } = step.lease
  await leave(step, dependencies, 'job.created', {
    changes: { state: 'running', upstreamId: id, tries: 0 },
    restMs: Math.max(firstLookMs, step.place.jobs.lookWaitMs ?? 0),
    more: [nameJobResource(job.id, kindOf(step.place, 'batch'), id)],
  })
}

/** Null for a reply that cannot be read: something may have been made. */
function readOrNull({ place }: JobStep, reply: UpstreamReply): JobReading | null {
  try {
    return place.jobs.readJob(reply)
  } catch {
    return null
  }
}
