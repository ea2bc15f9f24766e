import type { Principal } from '../../../canonical/principal.ts'
import { assert } from '../../../core/assert.ts'
import { noteShortage } from '../../running/shortage.ts'
import { mayMove } from '../choose-lane.ts'
import { endUnpaid } from './job-end.ts'
import type { Job } from './job.ts'
import { type JobDependencies, type JobStep, leave } from './job-step.ts'

/** Between two looks for money; a batch that is cancelled meanwhile waits as long. */
const moneyRestMs = 10_000

/** The money of a job whose batch is limited. */
export interface JobMoney {
  /** What the job's items may cost at most, so that every answer is covered: without what other jobs of its batch may still cost. */
  available: bigint
  /** Moves more to the batch, until the job's items may cost this much, or as much as its owner has. */
  secure(worstNanocredits: bigint): Promise<void>
}

/**
 * Begins with the job's share of its batch's worst case. Null where nothing limits the batch, and `later` while a job that
 * was intended before is not sent.
 */
export async function moneyOf(
  { lease: { job }, batch }: JobStep,
  owner: Principal,
  { jobs, segments, money }: JobDependencies,
): Promise<JobMoney | null | 'later'> {
  if (batch.budgetParents.length === 0) return null
  const others = (await jobs.listOf(batch.id)).filter(({ id, state }) => id !== job.id && state !== 'ended')
  const isBefore = (other: Job) =>
    other.createdAtMs < job.createdAtMs || (other.createdAtMs === job.createdAtMs && other.id < job.id)
  if (others.some((other) => other.state === 'intended' && isBefore(other))) return 'later'
  const reserved = others.reduce((sum, other) => sum + other.worstNanocredits, 0n)
  const jobMoney: JobMoney = {
    available: 0n,
    async secure(worstNanocredits) {
      const secured = await money.secure(batch, owner, reserved + worstNanocredits)
      assert(secured !== null, 'the batch is limited')
      jobMoney.available = secured - reserved
    },
  }
  const items = await segments.countOpen(batch.id, job.id)
  await jobMoney.secure(
    (batch.worstCaseNanocredits * BigInt(items)) / BigInt(batch.totalItems) + BigInt(items),
  )
  return jobMoney
}

/**
 * The batch's money covers not even one item: under `auto` they go on where each holds its own, else the job is tried again
 * when money may have come.
 */
export async function waitForMoney(
  step: JobStep,
  owner: Principal,
  missing: bigint,
  dependencies: JobDependencies,
): Promise<void> {
  const { batch, lease } = step
  const { jobs } = dependencies
  // Another job that is intended was intended later than this job, and waits for it.
  const others = (await jobs.listOf(batch.id)).some(
    ({ id, state }) => id !== lease.job.id && state !== 'ended' && state !== 'intended',
  )
  if (mayMove(batch) && !others) return endUnpaid(step, dependencies)
  if (!others) await noteShortage(batch, owner, missing, dependencies)
  return leave(step, dependencies, 'job.wait', { changes: {}, restMs: moneyRestMs })
}
