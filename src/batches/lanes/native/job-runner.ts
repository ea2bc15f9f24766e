import { workerIdleMs } from '../../../core/limits/batches.ts'
import { isTerminal } from '../../../canonical/batch.ts'
import { rowsOf } from '../../committer.ts'
import { endUnneeded, endUnreachable } from './job-end.ts'
import { collectResults } from './job-collect.ts'
import { createAtProvider, searchAtProvider } from './job-create.ts'
import type { JobLease, JobState } from './job.ts'
import { cancelBeforeMs } from './job-deadline.ts'
import { lookAtJob } from './job-look.ts'
import { planJobs } from './job-planner.ts'
import { freeJobs, leaseJob, renewJob, toJobLease } from './job-repository.ts'
import { isClosing, type JobDependencies, JobLost, type JobStep, leave, retryMs } from './job-step.ts'
import { uploadLines } from './job-upload.ts'

/** Jobs that one process takes a step of at once: each may hold the lines of a segment. */
const jobsAtOnce = 4
/** How long a job stays leased without a renewal, and how often leases are renewed. */
export const jobLeaseMs = 30_000
const jobRenewEveryMs = 8_000
/** Batches that a look plans jobs for. */
const plannedBatchesMax = 200

type Step = (step: JobStep, dependencies: JobDependencies) => Promise<void>

const steps: Readonly<Record<Exclude<JobState, 'ended'>, Step>> = {
  intended: uploadLines,
  uploaded: createAtProvider,
  creating: searchAtProvider,
  running: lookAtJob,
  collecting: collectResults,
}

interface Driven {
  lease: JobLease
  aborting: AbortController
  ended: Promise<void>
}

/**
 * Drives jobs: looks at the store, leases what is due, takes one step of it and gives it back. Any number of processes may
 * do so at once, and any of them goes on where another has died.
 */
export class JobRunner {
  readonly #dependencies: JobDependencies
  readonly #driven = new Map<string, Driven>()
  readonly #stopping = new AbortController()
  #rounds: Promise<void>[] = []
  /** Where the next look for batches begins. */
  #offset = 0

  constructor(dependencies: JobDependencies) {
    this.#dependencies = dependencies
  }

  start(): void {
    this.#rounds = [
      this.#repeat(() => this.look(), workerIdleMs, 'batch_jobs_failed'),
      this.#repeat(() => this.renew(), jobRenewEveryMs, 'batch_job_renewal_failed'),
    ]
  }

  /** Breaks off running steps: whoever drives their jobs next begins the steps anew. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    for (const { aborting } of this.#driven.values()) aborting.abort()
    await this.settled()
    await Promise.all(this.#rounds)
  }

  /** One look: intends jobs for segments that have none, and drives those that are due. Rejects when storage does. */
  async look(): Promise<void> {
    const { batches } = this.#dependencies
    const active = await batches.listActive(plannedBatchesMax, this.#offset)
    // Looks take turns, so that batches whose jobs run for hours do not hide the others.
    this.#offset = active.length < plannedBatchesMax ? 0 : this.#offset + plannedBatchesMax
    for (const batch of active) {
      if (batch.lane === 'native' && batch.status === 'in_progress') await planJobs(batch, this.#dependencies)
    }
    await this.#driveDue()
  }

  async #driveDue(): Promise<void> {
    const { jobs } = this.#dependencies
    while (this.#driven.size < jobsAtOnce && !this.#stopping.signal.aborted && (await jobs.hasDue())) {
      if (!(await this.#lease())) return
    }
  }

  /** A step has ended: its place goes to the next job that is due, so that many short steps need not wait for looks. */
  #onEnded({ job }: JobLease): void {
    this.#driven.delete(job.id)
    if (this.#stopping.signal.aborted) return
    this.#driveDue().catch((cause: unknown) => this.#dependencies.report('batch_jobs_failed', { cause }))
  }

  /** Prolongs the leases of running steps, aborts those whose lease is lost, and frees those of dead processes. */
  async renew(): Promise<void> {
    const { jobs, signals, committer } = this.#dependencies
    for (const owner of await jobs.listOwners(signals.ownerId)) {
      if (await signals.isOwnerDead(owner)) await committer.commit('job.free', [freeJobs(owner)])
    }
    for (const { lease, aborting } of this.#driven.values()) {
      const renewed = await committer.commit('job.renew', [renewJob(lease, jobLeaseMs)])
      if (rowsOf(renewed).length === 0) aborting.abort()
    }
  }

  async settled(): Promise<void> {
    while (this.#driven.size > 0) await Promise.all([...this.#driven.values()].map(({ ended }) => ended))
  }

  async #lease(): Promise<boolean> {
    const { committer, signals } = this.#dependencies
    const [row] = rowsOf(await committer.commit('job.lease', [leaseJob(signals.ownerId, jobLeaseMs)]))
    if (row === undefined) return false
    const lease = toJobLease(row, signals.ownerId)
    const aborting = new AbortController()
    if (this.#stopping.signal.aborted) aborting.abort()
    const ended = this.#drive(lease, aborting.signal).finally(() => this.#onEnded(lease))
    this.#driven.set(lease.job.id, { lease, aborting, ended })
    return true
  }

  /** Never rejects: a step that failed is taken again later, by whoever leases the job. */
  async #drive(lease: JobLease, signal: AbortSignal): Promise<void> {
    const { report } = this.#dependencies
    const { job } = lease
    try {
      await this.#step(lease, signal)
    } catch (cause) {
      if (!(cause instanceof JobLost)) report('batch_job_failed', { batchId: job.batchId, cause })
      await this.#giveBack(lease)
    }
  }

  async #step(lease: JobLease, signal: AbortSignal): Promise<void> {
    const { batches, items } = this.#dependencies
    const { job } = lease
    const batch = await batches.load(job.batchId)
    const place = items.placeOf(job.endpointId)
    if (job.state === 'ended') throw new JobLost('the job has ended')
    const isOver = batch === null || batch.status === 'failing' || isTerminal(batch.status)
    if (place === null) {
      // The operator may configure it again, so it is waited for as long as its items can still run elsewhere.
      const isWanted = !isOver && !isClosing(batch) && lease.leasedAtMs < batch.expiresAtMs - cancelBeforeMs
      if (isWanted) throw new Error(`the endpoint ${job.endpointId} of a job is not served now`)
      return endUnreachable({ lease, batch }, this.#dependencies)
    }
    if (isOver) return endUnneeded({ lease, place, batch }, this.#dependencies)
    await steps[job.state]({ lease, batch, place, signal }, this.#dependencies)
  }

  async #giveBack(lease: JobLease): Promise<void> {
    const { tries } = lease.job
    const given = leave({ lease }, this.#dependencies, 'job.wait', {
      changes: { tries: tries + 1 },
      restMs: retryMs(tries, null),
    })
    // A lease that is lost, or cannot be given back, runs out.
    await given.catch(() => undefined)
  }

  async #repeat(round: () => Promise<void>, everyMs: number, event: string): Promise<void> {
    const { pause, report } = this.#dependencies
    while (!this.#stopping.signal.aborted) {
      await round().catch((cause: unknown) => report(event, { cause }))
      await pause(everyMs, this.#stopping.signal)
    }
  }
}
