import type { JobLine } from '../../../canonical/batch-jobs.ts'
import type { Principal } from '../../../canonical/principal.ts'
import { GatewayError } from '../../../core/errors.ts'
import { mayMove } from '../choose-lane.ts'
import type { ItemOutcome } from '../../item-contract.ts'
import { failedEnding } from '../../running/item-endings.ts'
import { type OpenItem, readOpenItems } from '../../running/segment-items.ts'
import type { SegmentLease } from '../../running/segment-repository.ts'
import { intendAgain } from './job-create.ts'
import { isLongClosed } from './job-deadline.ts'
import { endJob, type LeftItems, nothingLeft } from './job-end.ts'
import { type DownloadedResults, downloadResults } from './job-download.ts'
import { encodeItem } from './job-upload.ts'
import {
  inputOf,
  isClosing,
  itemRequest,
  type JobDependencies,
  JobResults,
  type JobStep,
  leave,
  retryMs,
  takeSegments,
} from './job-step.ts'

/** Tries to read the items of a closing batch before the batch ends them without their results. */
const unreadableTries = 10

/** Errors of a line that are not the item's fault: under `auto` it is run again. */
const passingErrors: ReadonlySet<string> = new Set([
  'provider_failed',
  'provider_overloaded',
  'provider_timeout',
  'upstream_rate_limited',
  'rate_limit_exceeded',
])

/**
 * Takes in the results of a job that has ended in whatever way. Every line goes through the same decoding, metering and
 * pricing as a live answer, and into a part that is guarded by the segment's epoch and bitmap: a line that was taken in
 * before changes nothing and costs nothing.
 */
export async function collectResults(step: JobStep, dependencies: JobDependencies): Promise<void> {
  const { lease, batch } = step
  const { job } = lease
  const owner = await dependencies.loadPrincipal(batch)
  const downloaded = await downloadResults(step, dependencies)
  if (downloaded.type === 'again') {
    const { retryAfterMs, waitsFor } = downloaded
    const restMs = retryMs(job.tries, retryAfterMs)
    return leave(step, dependencies, 'job.wait', { changes: { tries: job.tries + 1 }, restMs, waitsFor })
  }
  const { results } = downloaded
  try {
    if (isOfOthers(step, results)) return await leaveToOthers(step, dependencies)
    const left = { unanswered: owner === null ? job.itemCount : 0, elsewhere: 0, unsent: 0 }
    if (owner !== null) {
      const segments = await takeSegments(step, dependencies)
      const items = segments.reduce((sum, { itemCount }) => sum + itemCount, 0)
      const collecting = { owner, results, left, isWhole: items === job.itemCount }
      const read = isReadable(step) ? segments : []
      for (const segment of read) await collectSegment(step, segment, dependencies, collecting)
    }
    if (results.strayLines > 0)
      dependencies.report('batch_job_stray_lines', {
        batchId: batch.id,
        cause: `${results.strayLines} lines`,
      })
    const changes = { strayLines: results.strayLines }
    await endJob(step, dependencies, { changes, left })
  } finally {
    await results.close()
  }
}

/**
 * Whether the job's items are to be read. A batch that is closing ends them itself where the job has no results, or where
 * storage could not read the items for long.
 */
function isReadable(step: JobStep): boolean {
  const { job } = step.lease
  const isGivenUp = isLongClosed(step) && job.tries >= unreadableTries
  return !isClosing(step.batch) || (job.outputs.length > 0 && !isGivenUp)
}

/**
 * Whether the job was adopted by what others may share with it, and has lines of others alone. Nobody asks for it any more,
 * and what it has at the provider is not removed.
 */
function isOfOthers({ place }: JobStep, results: DownloadedResults): boolean {
  const { itemCount, strayLines, foreignLines } = results
  const hasOthersAlone = itemCount === 0 && foreignLines > 0 && foreignLines === strayLines
  return place.jobs.uncertainCreate === 'neither' && hasOthersAlone
}

async function leaveToOthers(step: JobStep, dependencies: JobDependencies): Promise<void> {
  if (!isClosing(step.batch)) return intendAgain(step, dependencies, { restMs: 0, isJobGone: true })
  await endJob(step, dependencies, { changes: { outputs: [] }, left: nothingLeft })
}

interface Collecting {
  owner: Principal
  results: DownloadedResults
  left: LeftItems
  /** Whether every item of its segments was sent. */
  isWhole: boolean
}

/** Counts the items of the segment that are left without a result. */
async function collectSegment(
  step: JobStep,
  segment: SegmentLease,
  dependencies: JobDependencies,
  { owner, results, left, isWhole }: Collecting,
): Promise<void> {
  const written = new JobResults(step, segment, dependencies)
  const { sentUntil } = step.lease.job
  for (const item of await readOpenItems(dependencies.payloads, segment)) {
    if (sentUntil !== null && item.item >= sentUntil) {
      left.unsent += 1
      continue
    }
    await written.room()
    const line = await results.lineOf(item.item)
    const outcome = await outcomeOf(step, item, line, { dependencies, owner })
    if (outcome !== null) written.add(item, inputOf(item), outcome)
    else if (line !== null || isWhole) left.unanswered += 1
    else left[(await isForNoJob(step, item, owner, dependencies)) ? 'elsewhere' : 'unanswered'] += 1
  }
  await written.flush()
}

/** The item's result; null when it stays open, to go on elsewhere or to be closed with its batch. */
async function outcomeOf(
  step: JobStep,
  item: OpenItem,
  line: JobLine | null,
  { dependencies, owner }: { dependencies: JobDependencies; owner: Principal },
): Promise<ItemOutcome | null> {
  const { lease, batch } = step
  const isAuto = mayMove(batch) && !isClosing(batch)
  const { customId, body } = inputOf(item)
  const { items, money } = dependencies
  const asked = { item, customId, principal: owner, body: body ?? Buffer.alloc(0) }
  const request = itemRequest(step, asked, money)
  if (line?.result.type === 'answer') {
    const outcome = await items.charge(request, lease.job, line.result)
    const isPassing = outcome.response === null && passingErrors.has(outcome.error?.type ?? '')
    if (outcome.retryLaterMs !== null && !isPassing)
      throw new GatewayError('storage_unavailable', 'A result could not be charged now.')
    return isPassing && isAuto ? null : { ...outcome, retryLaterMs: null }
  }
  if (isClosing(batch) || isAuto) return null
  if (line === null && (await isOfAnotherJob(step, item, owner, dependencies))) return null
  const error = unansweredError(step, line)
  const noteDurable = items.noteOfFailure?.(request, lease.job, { error, isSent: true })
  return { ...failedEnding(error), ...(noteDurable ? { noteDurable } : {}) }
}

/** Why a lane that moves nothing has no answer for an item. It is not billed. */
function unansweredError({ lease: { job }, place }: JobStep, line: JobLine | null): GatewayError {
  const isExpired =
    line?.result.type === 'not run' || job.endedAs === 'expired' || job.endedAs === 'cancelled'
  if (isExpired && job.endedAs !== 'completed') {
    const message = `${place.providerName} did not run this request before its batch ended.`
    return new GatewayError('batch_expired', message)
  }
  const message =
    job.endedAs === 'completed'
      ? `${place.providerName} ended its batch without an answer to this request.`
      : `${place.providerName} did not run the batch with this request (${job.reason ?? job.endedAs}).`
  return new GatewayError('provider_failed', message)
}

/** Whether the service does not run the item. */
async function isForNoJob(
  step: JobStep,
  item: OpenItem,
  owner: Principal,
  dependencies: JobDependencies,
): Promise<boolean> {
  const encoded = await encodeItem(step, item, owner, dependencies)
  return 'operation' in encoded && encoded.operation === null
}

/** Whether the job never sent the item, because it asks for something else than the job's other items. */
async function isOfAnotherJob(
  step: JobStep,
  item: OpenItem,
  owner: Principal,
  dependencies: JobDependencies,
): Promise<boolean> {
  const { operation } = step.lease.job
  if (operation === null) return false
  const encoded = await encodeItem(step, item, owner, dependencies)
  return 'operation' in encoded && encoded.operation !== operation
}
