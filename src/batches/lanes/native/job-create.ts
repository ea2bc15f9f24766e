import type { JobReading } from '../../../canonical/batch-jobs.ts'
import type { UpstreamReply } from '../../../canonical/upstream.ts'
import { assert } from '../../../core/assert.ts'
import {
  forgetJobResources,
  insertJobResource,
  leaveJobResources,
  nameJobResource,
} from '../../../execution/resources/upstream-resource-repository.ts'
import { endUnneeded, refuseJob } from './job-end.ts'
import { changeJob } from './job-repository.ts'
import {
  ask,
  commitStep,
  isClosing,
  type JobDependencies,
  type JobStep,
  kindOf,
  leave,
  resourceOf,
  retryMs,
} from './job-step.ts'
import { newNonce } from './job-upload.ts'

/** The wait before a new job is looked at for the first time, and before a job of unknown fate is searched for. */
export const firstLookMs = 5_000
const searchAgainMs = 30_000
/** How long a job of unknown fate is searched for before it is created again: a listing may lag behind. */
export const searchedForMs = 600_000
/** Pages of a listing in one search. */
const searchPagesMax = 50
/** Refusals of a creating request that may pass, such as by a rate limit, before the job is refused. */
const createTriesMax = 30

/** Sends the request that creates the job. What it makes is noted before; when its answer is lost, the job is searched for. */
export async function createAtProvider(step: JobStep, dependencies: JobDependencies): Promise<void> {
  const { lease, batch, place } = step
  const { job } = lease
  if (isClosing(batch)) return endUnneeded(step, dependencies)
  assert(job.operation !== null, 'an uploaded job has an operation')
  const kind = kindOf(place, 'batch')
  const nowMs = dependencies.clock.nowMs()
  await commitStep(dependencies, 'job.create', [
    changeJob(lease, { state: 'creating', sentAt: 'now' }),
    insertJobResource(resourceOf(step, 'batch', { marker: job.nonce, nowMs })),
  ])
  const { nonce, operation, inputFileId } = job
  const sent = await ask(step, place.jobs.create({ nonce, operation, fileId: inputFileId }))
  const reading = sent.type === 'reply' ? readOrNull(step, sent.reply) : null
  if (reading !== null) return created(step, dependencies, reading)
  if (sent.type !== 'refused')
    return leave(step, dependencies, 'job.wait', { changes: {}, restMs: firstLookMs })
  const { failure } = sent
  const mayPass = (failure.retrySame || failure.credentialFault) && job.tries < createTriesMax
  if (!mayPass) return refuseJob(step, dependencies, failure.error)
  await leave(step, dependencies, 'job.wait', {
    changes: { state: 'uploaded', sentAt: null, tries: job.tries + 1 },
    restMs: retryMs(job.tries, failure.retryAfterMs),
    more: [forgetJobResources(job.id, kind)],
  })
}

/**
 * Finds out what became of a creating request whose answer is not known. A job with the nonce is adopted; when none was
 * found for long enough, the job is intended again under another nonce, and one that comes later is removed.
 */
export async function searchAtProvider(step: JobStep, dependencies: JobDependencies): Promise<void> {
  const { lease, place } = step
  const { job } = lease
  const { search } = place.jobs
  assert(search !== null, 'only searchable services are driven yet')
  let older: string | null = null
  for (let page = 0; page < searchPagesMax; page++) {
    const sent = await ask(step, search.request(older))
    if (sent.type !== 'reply') {
      const retryAfterMs = sent.type === 'refused' ? sent.failure.retryAfterMs : sent.retryAfterMs
      const changes = { tries: job.tries + 1 }
      return leave(step, dependencies, 'job.wait', { changes, restMs: retryMs(job.tries, retryAfterMs) })
    }
    const found = search.read(sent.reply, job.nonce)
    if (found.found !== null) return created(step, dependencies, found.found)
    if (found.older === null) break
    older = found.older
  }
  const isLostForLong = lease.leasedAtMs - (job.sentAtMs ?? lease.leasedAtMs) >= searchedForMs
  if (!isLostForLong) return leave(step, dependencies, 'job.wait', { changes: {}, restMs: searchAgainMs })
  await intendAgain(step, dependencies, { restMs: 0, isJobGone: false })
}

/** Begins the job anew under another nonce. What the try before has made is removed. */
export async function intendAgain(
  step: JobStep,
  dependencies: JobDependencies,
  { restMs, isJobGone }: { restMs: number; isJobGone: boolean },
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
      sentAt: null,
      tries: 0,
    },
    restMs,
    more: [
      isJobGone ? forgetJobResources(job.id, kind) : leaveJobResources(job.id, kind),
      leaveJobResources(job.id, kindOf(step.place, 'batch_input')),
    ],
  })
}

async function created(step: JobStep, dependencies: JobDependencies, { id }: JobReading): Promise<void> {
  const { job } = step.lease
  await leave(step, dependencies, 'job.created', {
    changes: { state: 'running', upstreamId: id, tries: 0 },
    restMs: firstLookMs,
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
