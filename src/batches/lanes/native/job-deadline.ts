import { isClosing, type JobDependencies, type JobStep, leave } from './job-step.ts'

/** How long before a batch's deadline its jobs are cancelled: time to take in what they have. */
export const cancelBeforeMs = 3_600_000
/** How long after the deadline, or after a cancellation, a job is waited for before it is given up. */
const abandonAfterMs = 900_000
const cancelledForMs = 3_600_000

/** Whether the batch's time is nearly over. By the database's clock, when the lease was taken. */
export function isLate({ lease, batch }: JobStep): boolean {
  return lease.leasedAtMs >= batch.expiresAtMs - cancelBeforeMs
}

/** Whether a job that runs has been waited for long enough, whatever its provider says or does not say of it. */
export function isOverdue({ lease, batch }: JobStep): boolean {
  const { cancelledAtMs } = lease.job
  const isCancelledForLong = cancelledAtMs !== null && lease.leasedAtMs >= cancelledAtMs + cancelledForMs
  return isCancelledForLong || lease.leasedAtMs >= batch.expiresAtMs + abandonAfterMs
}

/** Whether the batch has been closing for so long that what fails of its job is not tried again. */
export function isLongClosed(step: JobStep): boolean {
  const { lease, batch } = step
  if (!isClosing(batch)) return false
  const { cancelRequestedAtMs } = batch
  const isCancelled = cancelRequestedAtMs !== null && lease.leasedAtMs >= cancelRequestedAtMs + cancelledForMs
  return isCancelled || isOverdue(step)
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
