import type { Batch } from '../../../canonical/batch.ts'
import type { GatewayError } from '../../../core/errors.ts'
import {
  forgetJobResources,
  insertLeftResource,
  leaveAllJobResources,
  leaveJobResources,
} from '../../../execution/resources/upstream-resource-repository.ts'
import { returnGiven } from '../../running/segment-repository.ts'
import { mayMove } from '../choose-lane.ts'
import { countMoves } from '../move-repository.ts'
import type { MoveReason } from '../item-moves.ts'
import type { Job, JobEnd } from './job.ts'
import type { JobChanges } from './job-repository.ts'
import { type JobDependencies, type JobStep, kindOf, leave, resourceOf, takeSegments } from './job-step.ts'

/** Why items go on elsewhere that no job can have. */
const notRunReason: MoveReason = 'no_matching_endpoint'

/** What is needed of a step to end its job. */
type EndedStep = Pick<JobStep, 'lease' | 'place'> & { batch: Batch | null }

/** Ends a job of which nothing ran; `elsewhere` of its items are such as its service does not run. */
export function endUnneeded(step: EndedStep, dependencies: JobDependencies, elsewhere = 0): Promise<void> {
  return endJob(step, dependencies, { changes: { endedAs: 'unneeded' }, left: { ...nothingLeft, elsewhere } })
}

/** The provider does not take the job. Its items end as those of a job without results do. */
export async function refuseJob(
  step: JobStep,
  dependencies: JobDependencies,
  error: GatewayError,
): Promise<void> {
  const reason = error.type
  const changes = { state: 'collecting', endedAs: 'refused', outputs: [], reason, tries: 0 } as const
  dependencies.report('batch_job_refused', { batchId: step.batch.id, cause: error })
  await leave(step, dependencies, 'job.terminal', { changes, restMs: 0 })
}

/** Ends a job of which nothing was sent, because its batch's money covers not even one item at its worst. */
export async function endUnpaid(step: JobStep, dependencies: JobDependencies): Promise<void> {
  const { job } = step.lease
  const segments = await takeSegments(step, dependencies)
  const items = segments.reduce((sum, { itemCount, doneCount }) => sum + itemCount - doneCount, 0)
  const move = { from: 'native', to: 'emulated', reason: 'payment_required', items } as const
  await leave(step, dependencies, 'job.end', {
    changes: { state: 'ended', endedAs: 'unneeded', movedItems: items },
    restMs: 0,
    more: [
      returnGiven(job.batchId, job.id, { from: 0, lane: 'emulated' }),
      ...countMoves(job.batchId, [move]),
      leaveJobResources(job.id, kindOf(step.place, 'batch_input')),
    ],
  })
  dependencies.signals.wakeWorkers()
}

/**
 * Ends a job whose endpoint is not configured any more, so that nobody can ask its provider for it. Its items go on as those
 * of a job without results do. What it has at the provider is removed if its deployment is configured again.
 */
export async function endUnreachable(
  step: Omit<EndedStep, 'place'>,
  dependencies: JobDependencies,
): Promise<void> {
  const { lease, batch } = step
  const { job } = lease
  const segments = await takeSegments(step, dependencies)
  const items = segments.reduce((sum, { itemCount, doneCount }) => sum + itemCount - doneCount, 0)
  const isMoved = items > 0 && batch?.status === 'in_progress' && mayMove(batch)
  const move = { from: 'native', to: 'emulated', reason: notRunReason, items } as const
  await leave(step, dependencies, 'job.end', {
    changes: {
      state: 'ended',
      endedAs: 'abandoned',
      reason: 'its endpoint is not configured',
      movedItems: isMoved ? items : 0,
    },
    restMs: 0,
    more: [
      returnGiven(job.batchId, job.id, { from: 0, lane: isMoved ? 'emulated' : null }),
      ...(isMoved ? countMoves(job.batchId, [move]) : []),
      leaveAllJobResources(job.id),
    ],
  })
  dependencies.signals.wakeWorkers()
}

/** Items of a job without a result: not answered by its service, not run by it (`elsewhere`), or not sent for want of room. */
export interface LeftItems {
  unanswered: number
  elsewhere: number
  unsent: number
}

export const nothingLeft: LeftItems = { unanswered: 0, elsewhere: 0, unsent: 0 }

/**
 * Ends a job: its segments are free, and what it left at the provider is removed. Items that are left go on in the emulated
 * lane if their batch allows that.
 */
export async function endJob(
  step: EndedStep,
  dependencies: JobDependencies,
  { changes, left }: { changes: JobChanges; left: LeftItems },
): Promise<void> {
  const { lease, place, batch } = step
  const { job } = lease
  const nowMs = dependencies.clock.nowMs()
  const endedAs = changes.endedAs ?? job.endedAs
  const outputs = changes.outputs ?? job.outputs
  // A job that may still run at the provider is cancelled like anything that is left there.
  const mayRun = endedAs === 'abandoned' || endedAs === 'unneeded'
  const isLeft = mayRun || place.jobs.removesEnded === true
  const kind = kindOf(place, 'batch')
  // Where the job had no room for all items of its segment, another job takes the items that are left. But where the provider
  // refused the whole job, another job of this size would be refused as well.
  const isRefused = endedAs === 'refused' || endedAs === 'failed'
  const hasLeft = job.sentUntil === null || isRefused
  const mayLeave = batch?.status === 'in_progress' && mayMove(batch) && hasLeft
  const unanswered = left.unanswered + left.unsent
  const leftItems = unanswered + left.elsewhere
  const isMoved = leftItems > 0 && mayLeave
  const move = { from: 'native', to: 'emulated' } as const
  const moves = [
    { ...move, reason: moveReasonOf(job, endedAs), items: unanswered },
    { ...move, reason: notRunReason, items: left.elsewhere },
  ].filter(({ items }) => items > 0)
  await leave(step, dependencies, 'job.end', {
    changes: { ...changes, movedItems: isMoved ? leftItems : 0, state: 'ended' },
    restMs: 0,
    more: [
      returnGiven(job.batchId, job.id, { from: 0, lane: isMoved ? 'emulated' : null }),
      ...(isMoved ? countMoves(job.batchId, moves) : []),
      leaveJobResources(job.id, kindOf(place, 'batch_input')),
      isLeft ? leaveJobResources(job.id, kind) : forgetJobResources(job.id, kind),
      ...(kindOf(place, 'batch_output') in place.jobs.resources ? outputs : []).map((id) =>
        insertLeftResource(resourceOf(step, 'batch_output', { marker: null, nowMs }), id),
      ),
    ],
  })
  dependencies.signals.wakeWorkers()
}

/** Why items of a job go on elsewhere: near the deadline, or the type of the error that they would have had. */
function moveReasonOf({ cancelledAtMs, reason }: Job, endedAs: JobEnd | null): MoveReason {
  if (cancelledAtMs !== null) return 'deadline'
  if (endedAs === 'expired') return 'batch_expired'
  return (endedAs === 'refused' ? reason : null) ?? 'provider_failed'
}
