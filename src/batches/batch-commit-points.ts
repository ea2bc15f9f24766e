/** Those of a provider's own batch jobs, in the order of a job's life. */
export const jobCommitPoints = [
  'job.intend',
  'job.free',
  'job.lease',
  'job.renew',
  'job.collect',
  'job.upload',
  'job.uploaded',
  'job.create',
  'job.created',
  'job.again',
  'job.look',
  'job.wait',
  'job.terminal',
  'job.end',
] as const

/**
 * Every unit with which something of a batch becomes durable. A crash right before or right after any of them must lose
 * nothing that was promised and repeat nothing that was charged; the crash suite walks this list.
 */
export const commitPoints = [
  'idempotency.claim',
  'idempotency.take_over',
  'idempotency.release',
  'blob.segment',
  'batch.accept',
  'batch.start',
  'batch.enlarge',
  'batch.fail',
  'segment.free',
  'segment.lease',
  'segment.renew',
  'segment.return',
  ...jobCommitPoints,
  'blob.part',
  'part.commit',
  'blob.merged',
  'segment.merge',
  'batch.wait',
  'batch.cancel',
  'batch.expire',
  'batch.finalizing',
  'batch.finalize',
  'batch.delete',
  'batch.purge',
  'blob.delete',
  'blob.orphan',
] as const

/** One of `commitPoints`. */
export type BatchCommitPoint = (typeof commitPoints)[number]

/** Called around every commit point; a test harness ends the process in it. */
export type CrashHook = (point: BatchCommitPoint, when: 'before' | 'after') => void
