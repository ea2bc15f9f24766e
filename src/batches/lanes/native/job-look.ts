import { GatewayError } from '../../../core/errors.ts'
import type { JobReading } from '../../../canonical/batch-jobs.ts'
import { assert } from '../../../core/assert.ts'
import { leaveJobResources } from '../../../execution/resources/upstream-resource-repository.ts'
import { readRetryAfter } from '../../../formats/retry-after.ts'
import { firstLookMs, intendAgain } from './job-create.ts'
import { abandon, isLate, isOverdue } from './job-deadline.ts'
import { returnGiven } from '../../running/segment-repository.ts'
import type { JobEnd } from './job.ts'
import { changeJob } from './job-repository.ts'
import {
  ask,
  askForState,
  commitStep,
  isClosing,
  type JobDependencies,
  type JobStep,
  kindOf,
  leave,
  retryMs,
  type Sent,
  type Statements,
  takeSegments,
} from './job-step.ts'

/** The longest wait between two looks, and the part of a job's age that it is until then. */
const lookMsMax = 60_000
const lookShareOfAge = 0.04
/** Looks that a provider answers with "not found" before the job counts as gone: a new one may not be known everywhere yet. */
const unknownLooksMax = 5
/** The wait after a job was refused because the account has too much queued. */
const fullRestMs = 600_000

/** Looks at a running job, and cancels it when its batch wants no more or its time is nearly over. */
export async function lookAtJob(step: JobStep, dependencies: JobDependencies): Promise<void> {
  const { lease, place } = step
  const { job } = lease
  assert(job.upstreamId !== null, 'a running job has an id')
  if (isOverdue(step)) return abandon(step, dependencies)
  await cancelWhenDue(step, dependencies, job.upstreamId)
  const sent = await askForState(step, job.upstreamId)
  const isUnknown = sent.type === 'refused' && (sent.status === 404 || sent.status === 410)
  if (isUnknown && job.tries >= unknownLooksMax) return endUnknown(step, dependencies)
  const reading = sent.type === 'reply' ? readOrNull(step, sent) : null
  if (reading === null) {
    // Only looks that the provider answered with "not found" count.
    const restMs = isUnknown ? Math.min(retryMs(job.tries, null), lookMsMax) : lookWaitMs(step)
    const changes = { tries: isUnknown ? job.tries + 1 : 0 }
    return leave(step, dependencies, 'job.look', {
      changes,
      restMs: Math.max(restMs, retryAfterOf(sent) ?? 0, place.jobs.lookWaitMs ?? 0),
    })
  }
  const { state, outputs, problem } = reading
  if (state === null || state === 'running') {
    const restMs = Math.max(lookWaitMs(step), retryAfterOf(sent) ?? 0)
    return leave(step, dependencies, 'job.look', { changes: { tries: 0 }, restMs })
  }
  const mayBeTaken =
    problem?.isFull === true && outputs.length === 0 && !isClosing(step.batch) && !isLate(step)
  if (mayBeTaken) return waitForRoom(step, dependencies)
  await end(step, dependencies, { endedAs: state, outputs, reason: problem?.code ?? null })
}

/**
 * The account has too much queued, so the job is created again later. Where no other job of its batch runs, its own size may
 * be what is too much: half of its segments are given back for another job.
 */
async function waitForRoom(step: JobStep, dependencies: JobDependencies): Promise<void> {
  const { job } = step.lease
  const ofBatch = await dependencies.jobs.listOf(job.batchId)
  const isAlone = !ofBatch.some(({ id, state }) => id !== job.id && state === 'running')
  const segments = isAlone ? await takeSegments(step, dependencies) : []
  const second = segments[Math.ceil(segments.length / 2)]
  const more =
    second === undefined ? [] : [returnGiven(job.batchId, job.id, { from: second.ordinal, lane: null })]
  const { providerName } = step.place
  const waitsFor = new GatewayError(
    'upstream_rate_limited',
    `${providerName} has as much of this account queued in batches as it takes. The job is created again later.`,
  )
  const isJobGone = step.place.jobs.removesEnded !== true
  await intendAgain(step, dependencies, { restMs: fullRestMs, isJobGone, more, waitsFor })
}

/** A job that its provider says it does not know may run all the same, so it is removed like one that nobody waits for. */
function endUnknown(step: JobStep, dependencies: JobDependencies): Promise<void> {
  const ended = { endedAs: 'failed', outputs: [], reason: 'the provider does not know it' } as const
  const left = leaveJobResources(step.lease.job.id, kindOf(step.place, 'batch'))
  return end(step, dependencies, { ...ended, more: [left] })
}

async function end(
  step: JobStep,
  dependencies: JobDependencies,
  {
    endedAs,
    outputs,
    reason,
    more = [],
  }: { endedAs: JobEnd; outputs: readonly string[]; reason: string | null; more?: Statements },
): Promise<void> {
  const changes = { state: 'collecting', endedAs, outputs, reason, tries: 0 } as const
  await leave(step, dependencies, 'job.terminal', { changes, restMs: 0, more })
}

async function cancelWhenDue(
  step: JobStep,
  dependencies: JobDependencies,
  upstreamId: string,
): Promise<void> {
  const { lease, batch, place } = step
  if (lease.job.cancelledAtMs !== null || (!isClosing(batch) && !isLate(step))) return
  const { cancel } = place.jobs
  const sent = cancel === null ? null : await ask(step, cancel(upstreamId))
  const isPassing = sent?.type === 'unknown' || (sent?.type === 'refused' && sent.status === 429)
  // What cannot be cancelled any more has ended, which the look shows. A service without cancelling runs the job on, and it
  // is waited for as long as for one that was cancelled.
  if (!isPassing) await commitStep(dependencies, 'job.look', [changeJob(lease, { cancelledAt: 'now' })])
}

/** Grows with the job's age, and is as long as its provider wants at least. */
function lookWaitMs({ lease, place }: JobStep): number {
  const ageMs = lease.leasedAtMs - (lease.job.sentAtMs ?? lease.leasedAtMs)
  const grownMs = Math.min(Math.max(firstLookMs, ageMs * lookShareOfAge), lookMsMax)
  return Math.max(grownMs, place.jobs.lookWaitMs ?? 0)
}

function retryAfterOf(sent: Sent): number | null {
  if (sent.type === 'reply') return readRetryAfter(sent.reply.headers)
  return sent.type === 'refused' ? sent.failure.retryAfterMs : sent.retryAfterMs
}

function readOrNull({ place }: JobStep, { reply }: Extract<Sent, { type: 'reply' }>): JobReading | null {
  try {
    return place.jobs.readJob(reply)
  } catch {
    return null
  }
}
