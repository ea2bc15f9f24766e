import type { JobStep, JobDependencies } from './job-step.ts'
import { leave } from './job-step.ts'

/** How long before a batch's deadline its jobs are cancelled: time to take in what they have. */
export const cancelBeforeMs = 3_600_000
/** How long after the deadline, or after a cancellation, a job is waited for before it is given up. */
const abandonAfterMs = 900_000
const cancelledForMs = 3_600_000

/** Whether the batch's time is nearly over. By the database's clock, when the lease was taken. */
export function isLate({ lease, batch }: JobStep): boolean {
  return lease.leasedAtMs >= batch.expiresAtMs - cancelBeforeMs
}

/** Whether the job has been waited for long enough, whatever its provider says or does not say of it. */
export function isOverdue({ lease, batch }: JobStep): boolean {
  const cancelledAtMs = lease.job.cancelledAtMs ?? batch.cancelRequestedAtMs
  const isCancelledForLong = cancelledAtMs !== null && lease.leasedAtMs >= cancelledAtMs + cancelledForMs
  return isCancelledForLong || lease.leasedAtMs >= batch.expiresAtMs + abandonAfterMs
}

/** Gives a job up. Nothing is asked of it any more, and what it may have at the provider is removed. */
export function abandon(step: JobStep, dependencies: JobDependencies): Promise<void> {
  const changes = {
    state: 'collecting',
    endedAs: 'abandoned',
    outputs: [],
    reason: 'it did not end',
    tries: 0,
  } as const
  return leave(step, dependencies, 'job.terminal', { changes, restMs: 0 })
}
