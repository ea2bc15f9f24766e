import { type Batch, modelOfItem } from '../../../canonical/batch.ts'
import type { Principal } from '../../../canonical/principal.ts'
import type { UpstreamFailure, UpstreamReply, UpstreamRequest } from '../../../canonical/upstream.ts'
import type { Clock } from '../../../core/clock.ts'
import { GatewayError } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { answerBytesMax } from '../../../core/limits/calls.ts'
import { ArrayElements } from '../../../json/array-elements.ts'
import type { UpstreamResponse } from '../../../transport/exchange.ts'
import type { NewResource } from '../../../execution/resources/upstream-resource-repository.ts'
import { failureOf, readItemLine, resultLine, type ItemInput } from '../../../formats/batch/result-line.ts'
import { usageSumOf } from '../../../formats/batch/batch-usage.ts'
import type { BatchCommitPoint } from '../../batch-commit-points.ts'
import type { BatchRepository } from '../../batch-repository.ts'
import type { WorkerSignals } from '../../batch-stores.ts'
import type { Committed, Committer, Proof } from '../../committer.ts'
import type { ItemOutcome, ItemRequest, LoadPrincipal } from '../../item-contract.ts'
import type { PartRepository } from '../../results/part-repository.ts'
import { PartWriter } from '../../results/part-writer.ts'
import type { Payloads } from '../../results/payloads.ts'
import type { BatchMoney } from '../../running/batch-money.ts'
import { keptEnding } from '../../running/item-endings.ts'
import type { Pause } from '../../running/pause.ts'
import { forgetJobWaiting, noteJobWaiting } from '../../running/waiting-repository.ts'
import { Ramp } from '../../running/ramp.ts'
import type { OpenItem } from '../../running/segment-items.ts'
import {
  type SegmentLease,
  type SegmentRepository,
  takeGiven,
  toLease,
} from '../../running/segment-repository.ts'
import type { JobItems, JobPlace } from './job-contract.ts'
import type { JobLease } from './job.ts'
import { changeJob, type JobChanges, type JobRepository, leaveJob } from './job-repository.ts'

/** Longest time of one short request about a job, and of an upload or a download. */
const jobRequestMs = 60_000
export const jobTransferMs = 1_800_000
/** Wait before a failed step is tried again; it doubles up to the longest. */
const jobRetryMs = 5_000
const jobRetryMsMax = 300_000

/** What a provider may say of a job besides its results. */
const jobStateBytesMax = 4_000_000

/** The statements of a unit. */
export type Statements = Parameters<Committer['commit']>[1]

/** What the steps of jobs need. */
export interface JobDependencies {
  jobs: JobRepository
  batches: BatchRepository
  segments: SegmentRepository
  parts: PartRepository
  payloads: Payloads
  committer: Committer
  signals: WorkerSignals
  money: BatchMoney
  clock: Clock
  pause: Pause
  loadPrincipal: LoadPrincipal
  items: JobItems
  /** Where lines wait on their way to a provider and from it. */
  spoolFolder: string
  report(event: string, details: { batchId?: string; cause: unknown }): void
}

/** One bounded step of a job that this process drives now. */
export interface JobStep {
  lease: JobLease
  batch: Batch
  place: JobPlace
  /** Aborted when the lease is lost or the process stops. */
  signal: AbortSignal
}

/** The lease is lost: another process drives the job, and nothing that this one does counts any more. */
export class JobLost extends Error {}

/** Commits a unit of a job; throws `JobLost` when another process has changed what it expects. */
export async function commitStep(
  { committer }: Pick<JobDependencies, 'committer'>,
  point: BatchCommitPoint,
  statements: Statements,
  proof?: Proof,
): Promise<Committed['rows']> {
  const answer = await committer.commit(point, statements, proof)
  if (answer.type === 'committed') return answer.rows
  throw new JobLost(`the unit ${point} was refused by ${answer.guard}`)
}

/** How a step ends: what changes, when the job is driven again, and why its items wait until then, where they do. */
interface Leaving {
  changes: JobChanges
  restMs: number
  more?: Statements
  waitsFor?: GatewayError | undefined
}

/** Commits the end of a step: the job is driven again after `restMs`. What its items wait for is told to caller and operator. */
export async function leave(
  { lease: { job, ...lease } }: Pick<JobStep, 'lease'>,
  dependencies: JobDependencies,
  point: BatchCommitPoint,
  { changes, restMs, more = [], waitsFor }: Leaving,
): Promise<void> {
  const { batchId, id: jobId } = job
  const sinceMs = dependencies.clock.nowMs()
  const note =
    waitsFor === undefined
      ? forgetJobWaiting(batchId, jobId)
      : noteJobWaiting(
          { batchId, jobId },
          { type: waitsFor.type, message: waitsFor.message, sinceMs, nextTryMs: sinceMs + restMs },
        )
  await commitStep(dependencies, point, [leaveJob({ job, ...lease }, changes, restMs), note, ...more])
  if (waitsFor !== undefined) dependencies.report('batch_job_waits', { batchId, cause: waitsFor })
}

/** Why a request about a job has to be sent again. */
export function waitOf(sent: { failure?: UpstreamFailure; cause?: unknown }): GatewayError {
  if (sent.failure !== undefined) return sent.failure.error
  if (sent.cause instanceof GatewayError) return sent.cause
  return new GatewayError('provider_failed', 'The provider has not taken the batch yet.', {
    cause: sent.cause,
  })
}

/** Whether the batch wants no further answers: what runs is cancelled, what does not run is not begun. */
export function isClosing({ status }: Batch): boolean {
  return status !== 'in_progress'
}

/** What a request about a job came to. `unknown`: nobody knows whether the provider carried it out. */
export type Sent =
  | { type: 'reply'; reply: UpstreamReply }
  | { type: 'refused'; status: number; failure: UpstreamFailure }
  | { type: 'unknown'; cause: unknown; retryAfterMs: number | null }

/** Sends a request about a job and reads its whole reply. Rejects only when the step is aborted. */
export function ask(step: JobStep, request: UpstreamRequest, deadlineMs = jobRequestMs): Promise<Sent> {
  return askAndRead(step, request, { deadlineMs, read: (response) => response.readAll(answerBytesMax) })
}

/** Looks at a job. Where the reply has the results too, they are left out as they arrive. */
export function askForState(step: JobStep, jobId: string): Promise<Sent> {
  const { jobs } = step.place
  const request = jobs.look(jobId)
  if (jobs.resultsIn === undefined) return ask(step, request)
  const { at } = jobs.resultsIn
  const read = (response: UpstreamResponse) => readWithout(response, at)
  return askAndRead(step, request, { deadlineMs: jobTransferMs, read })
}

async function readWithout({ body }: UpstreamResponse, at: readonly string[]): Promise<Uint8Array> {
  const document = new ArrayElements({ at, elementBytesMax: 0, restBytesMax: jobStateBytesMax })
  for (;;) {
    const { done, value } = await body.read()
    if (done) break
    document.push(value)
  }
  const rest = document.rest()
  if (rest === null) throw new GatewayError('provider_failed', 'The provider said too much of a job.')
  return rest
}

async function askAndRead(
  { place, signal }: JobStep,
  request: UpstreamRequest,
  { deadlineMs, read }: { deadlineMs: number; read(response: UpstreamResponse): Promise<Uint8Array> },
): Promise<Sent> {
  try {
    const response = await place.send(request, { signal, deadlineMs })
    const { status, headers } = response
    const isRedirect = request.answersRedirect === true && status >= 300 && status < 400
    if ((status >= 200 && status < 300) || isRedirect)
      return { type: 'reply', reply: { headers, bytes: await read(response) } }
    const failure = await place.readFailure(response)
    // What breaks while a provider works may have been carried out all the same.
    if (status >= 500) return { type: 'unknown', cause: failure.error, retryAfterMs: failure.retryAfterMs }
    return { type: 'refused', status, failure }
  } catch (cause) {
    if (signal.aborted) throw new JobLost('the step was aborted')
    return { type: 'unknown', cause, retryAfterMs: null }
  }
}

/** The wait after a failed try: what the provider named, else one that doubles. */
export function retryMs(tries: number, retryAfterMs: number | null): number {
  return Math.max(retryAfterMs ?? 0, Math.min(jobRetryMs * 2 ** Math.min(tries, 20), jobRetryMsMax))
}

/** A note of something that the job is about to make at its provider. */
export function resourceOf(
  { lease: { job }, place }: Pick<JobStep, 'lease' | 'place'>,
  what: 'batch' | 'batch_input' | 'batch_output',
  { marker, nowMs }: { marker: string | null; nowMs: number },
): NewResource {
  return {
    resourceId: newId('res', nowMs),
    kind: kindOf(place, what),
    deploymentId: place.deploymentId,
    credentialId: place.credentialId,
    usedBy: job.id,
    marker,
  }
}

/** The name of a kind of thing in the notes of what is left at providers. */
export function kindOf({ jobs }: JobPlace, what: 'batch' | 'batch_input' | 'batch_output'): string {
  return `${jobs.name}.${what}`
}

/** Takes over the job's segments: whoever drove it before commits nothing more to them. */
export async function takeSegments(
  { lease }: Pick<JobStep, 'lease'>,
  dependencies: JobDependencies,
): Promise<SegmentLease[]> {
  const { job } = lease
  const [, rows = []] = await commitStep(dependencies, 'job.collect', [
    changeJob(lease, {}),
    takeGiven(job.batchId, job.id),
  ])
  return rows.map(toLease).toSorted((left, right) => left.ordinal - right.ordinal)
}

/** Makes results of one of the job's segments durable. */
export class JobResults {
  readonly #step: JobStep
  readonly #dependencies: JobDependencies
  readonly #writer: PartWriter

  constructor(step: JobStep, segment: SegmentLease, dependencies: JobDependencies) {
    this.#step = step
    this.#dependencies = dependencies
    this.#writer = new PartWriter({
      ...dependencies,
      lease: segment,
      owner: step.lease.job.id,
      ramp: Ramp.withoutRisk(dependencies.clock),
      onHeld: (cause) => dependencies.report('batch_results_held', { batchId: segment.batchId, cause }),
      giveUp: (cause) => Promise.reject(new Error('the job keeps its results', { cause })),
      onLost: () => {},
      onSettled: () => {},
    })
    // A step that is broken off does not wait for storage: the next driver of the job downloads these results again, unpaid.
    if (step.signal.aborted) this.#writer.close()
    else step.signal.addEventListener('abort', () => this.#writer.close(), { once: true })
  }

  add(item: OpenItem, { customId }: ItemInput, outcome: ItemOutcome): void {
    const { batch } = this.#step
    const final = keptEnding(outcome)
    const isFailed = final.response === null
    const capture = isFailed ? null : final.capture
    if (outcome.capture && capture === null) this.#dependencies.money.release(outcome.capture.hold)
    this.#writer.add({
      index: item.index,
      item: item.item,
      line: resultLine({ batchId: batch.id, item: item.item, customId }, final),
      usage: isFailed || final.usage === null ? null : usageSumOf(final.usage),
      error: isFailed ? failureOf(final) : null,
      capture,
      move: null,
      noteDurable: outcome.noteDurable,
    })
  }

  /** Waits until there is room for more. Throws `JobLost`. */
  async room(): Promise<void> {
    if (this.#writer.isFull) await this.#writer.flush()
    if (this.#writer.isLost || this.#step.signal.aborted) throw new JobLost('the segment was taken over')
  }

  /** Resolves when everything is durable. Throws `JobLost`. */
  async flush(): Promise<void> {
    await this.#writer.flush()
    if (this.#writer.isLost) throw new JobLost('the segment was taken over')
  }
}

interface Asked {
  customId: string
  body: Uint8Array
}

/** An item of a job, as the live path knows it. */
export function itemRequest(
  { batch, signal }: JobStep,
  { item, customId, principal, body }: { item: OpenItem; principal: Principal } & Asked,
  money: BatchMoney,
): ItemRequest {
  return {
    principal,
    batchId: batch.id,
    customId,
    endpoint: batch.endpoint,
    model: modelOfItem(batch, item.item),
    body,
    providerOnly: batch.providerOnly,
    betas: batch.betas,
    budgets: money.budgetsOf(batch),
    tier: null,
    signal,
    deadlineMs: batch.expiresAtMs,
    enlarge: (missing) => money.enlargeForCharge(batch, principal, missing),
    onQueued: () => {},
  }
}

/** An item's line as ingest wrote it. */
export function inputOf({ line }: OpenItem): ItemInput {
  return readItemLine(line)
}

/** Whether the failure is not the item's and may pass, so that the step is to be tried again. */
export function isPassing(error: unknown): boolean {
  return (
    error instanceof GatewayError && (error.type === 'storage_unavailable' || error.type === 'shutting_down')
  )
}
