import type { JobLimits, JobUpload } from '../../../canonical/batch-jobs.ts'
import type { Principal } from '../../../canonical/principal.ts'
import { assert } from '../../../core/assert.ts'
import { GatewayError, toGatewayError } from '../../../core/errors.ts'
import {
  insertJobResource,
  leaveJobResources,
  nameJobResource,
} from '../../../execution/resources/upstream-resource-repository.ts'
import { failedEnding, tooLargeEnding } from '../../running/item-endings.ts'
import { type OpenItem, readOpenItems } from '../../running/segment-items.ts'
import { returnGiven, type SegmentLease } from '../../running/segment-repository.ts'
import { forgetShortage } from '../../running/shortage.ts'
import { mayMove } from '../choose-lane.ts'
import { sendCreate } from './job-create.ts'
import { inputNameOf, lineIdOf, newNonce } from './job.ts'
import { endUnneeded, refuseJob } from './job-end.ts'
import { type JobMoney, moneyOf, waitForMoney } from './job-money.ts'
import { changeJob } from './job-repository.ts'
import { JobSpool } from './job-spool.ts'
import {
  ask,
  commitStep,
  inputOf,
  isClosing,
  isPassing,
  itemRequest,
  type JobDependencies,
  JobResults,
  type JobStep,
  jobTransferMs,
  kindOf,
  leave,
  resourceOf,
  retryMs,
  type Sent,
  type Statements,
  takeSegments,
  waitOf,
} from './job-step.ts'

/** Another job of the batch is written meanwhile, which takes seconds. */
const turnMs = 2_000

/** What was written of a job's items. */
interface Lines {
  operation: string | null
  count: number
  /** The most that they can cost. */
  worstNanocredits: bigint
  /** What the batch lacks for the first item, where money alone keeps the job empty; null else. */
  missing: bigint | null
  /** Items that the service does not run, and that go on in another lane after the job. */
  elsewhere: number
  /** Texts to embed in them. */
  texts: number
  /** The first segment that did not fit. */
  beyond: number | null
  /** As `Job.sentUntil`. */
  sentUntil: number | null
}

/** One line, with the item that it asks for. */
interface ItemLine {
  item: number
  bytes: Uint8Array
  texts: number
  worstNanocredits: bigint
}

/**
 * Encodes the job's items as the live path would send them, and uploads them. An item that cannot be encoded ends with its
 * own error. Segments that do not fit into one job of this provider are given back for another.
 */
export async function uploadLines(step: JobStep, dependencies: JobDependencies): Promise<void> {
  const { lease, batch } = step
  const owner = await dependencies.loadPrincipal(batch)
  if (isClosing(batch) || owner === null) return endUnneeded(step, dependencies)
  const money = await moneyOf(step, owner, dependencies)
  if (money === 'later') return leave(step, dependencies, 'job.wait', { changes: {}, restMs: turnMs })
  const spool = await JobSpool.open(dependencies.spoolFolder)
  try {
    const nonce = newNonce()
    const lines = await writeLines(step, dependencies, { owner, nonce, spool, money })
    if (lines.missing !== null) return await waitForMoney(step, owner, lines.missing, dependencies)
    await forgetShortage(batch, dependencies.committer)
    if (lines.operation === null) return await endUnneeded(step, dependencies, lines.elsewhere)
    await send(step, dependencies, { nonce, spool, lines, operation: lines.operation })
  } finally {
    await spool.close()
  }
  assert(lease.job.state === 'intended', 'only an intended job is uploaded')
}

async function writeLines(
  step: JobStep,
  dependencies: JobDependencies,
  {
    owner,
    nonce,
    spool,
    money,
  }: { owner: Principal; nonce: string; spool: JobSpool; money: JobMoney | null },
): Promise<Lines> {
  const { limits } = step.place.jobs
  const written: Lines = {
    operation: null,
    count: 0,
    worstNanocredits: 0n,
    missing: null,
    elsewhere: 0,
    texts: 0,
    beyond: null,
    sentUntil: null,
  }
  const segments = await takeSegments(step, dependencies)
  for (const [index, segment] of segments.entries()) {
    const encoded = await encodeSegment(step, segment, dependencies, {
      owner,
      nonce,
      operation: written.operation,
    })
    const fitting = fittingOf(await paidOf(encoded.lines, written, money), { written, spool, limits })
    const [cut] = encoded.lines.slice(fitting.length)
    if (money !== null && cut !== undefined && fitting.length === 0 && written.count === 0) {
      written.missing = cut.worstNanocredits - money.available
      break
    }
    if (cut !== undefined && written.count > 0) {
      written.beyond = segment.ordinal
      break
    }
    for (const { bytes, texts, worstNanocredits } of fitting) {
      await spool.write(bytes)
      written.texts += texts
      written.worstNanocredits += worstNanocredits
    }
    written.operation ??= encoded.operation
    written.count += fitting.length
    written.elsewhere += encoded.elsewhere
    if (cut === undefined) continue
    written.sentUntil = cut.item
    written.beyond = segments[index + 1]?.ordinal ?? null
    break
  }
  return written
}

/** The first lines that the job's money covers, whatever they come to cost. Items may cost more than their share of the batch. */
async function paidOf(
  lines: readonly ItemLine[],
  { worstNanocredits }: Lines,
  money: JobMoney | null,
): Promise<readonly ItemLine[]> {
  if (money === null) return lines
  const worst = lines.reduce((sum, line) => sum + line.worstNanocredits, worstNanocredits)
  if (worst > money.available) await money.secure(worst)
  let left = money.available - worstNanocredits
  const end = lines.findIndex((line) => (left -= line.worstNanocredits) < 0n)
  return end < 0 ? lines : lines.slice(0, end)
}

/** The first lines that fit into the job too; of an empty job at least one. */
function fittingOf(
  lines: readonly ItemLine[],
  { written, spool, limits }: { written: Lines; spool: JobSpool; limits: JobLimits },
): readonly ItemLine[] {
  const left = {
    items: limits.items - written.count,
    bytes: limits.bytes - spool.bytes,
    texts: (limits.texts ?? Number.POSITIVE_INFINITY) - written.texts,
  }
  const end = lines.findIndex((line) => {
    left.items -= 1
    left.bytes -= line.bytes.length
    left.texts -= line.texts
    return left.items < 0 || left.bytes < 0 || left.texts < 0
  })
  if (end < 0) return lines
  return lines.slice(0, written.count === 0 ? Math.max(1, end) : end)
}

async function encodeSegment(
  step: JobStep,
  segment: SegmentLease,
  dependencies: JobDependencies,
  { owner, nonce, operation }: { owner: Principal; nonce: string; operation: string | null },
): Promise<{ lines: ItemLine[]; elsewhere: number; operation: string | null }> {
  const { jobs } = step.place
  const results = new JobResults(step, segment, dependencies)
  const lines: ItemLine[] = []
  let ofAll = operation
  let elsewhere = 0
  for (const item of await readOpenItems(dependencies.payloads, segment)) {
    await results.room()
    const encoded = await encodeItem(step, item, owner, dependencies)
    if ('ending' in encoded) {
      results.add(item, inputOf(item), encoded.ending)
      continue
    }
    if (encoded.operation === null) {
      elsewhere += 1
      continue
    }
    ofAll ??= encoded.operation
    // Another job takes those that ask for something else.
    if (encoded.operation !== ofAll) continue
    const { body, texts, worstNanocredits } = encoded
    const bytes = jobs.encodeLine({ id: lineIdOf(nonce, item.item), operation: ofAll, body })
    lines.push({ item: item.item, bytes, texts, worstNanocredits })
  }
  await results.flush()
  return { lines, elsewhere, operation: ofAll }
}

/** The item as its line asks for it, or its own error; without an operation where another lane is to run it. */
export async function encodeItem(
  step: JobStep,
  item: OpenItem,
  owner: Principal,
  { items, money }: JobDependencies,
) {
  const { lease, batch, place } = step
  const { customId, body } = inputOf(item)
  if (body === null) return { ending: tooLargeEnding() }
  const request = itemRequest(step, { item, customId, principal: owner, body }, money)
  try {
    const encoded = await items.encode(request, lease.job)
    const operation = place.jobs.operationOf(encoded)
    if (operation === null && !mayMove(batch)) {
      const message = `${place.providerName} does not run this request in its batches. Use the lane "emulated" for it.`
      throw new GatewayError('no_matching_endpoint', message, { param: 'headrace.lane' })
    }
    const { body: encodedBody, texts, worstNanocredits } = encoded
    return { operation, body: encodedBody, texts, worstNanocredits }
  } catch (thrown) {
    if (isPassing(thrown)) throw thrown
    const error = toGatewayError(thrown)
    const noteDurable = items.noteOfFailure?.(request, lease.job, { error, isSent: false })
    return { ending: { ...failedEnding(error), ...(noteDurable ? { noteDurable } : {}) } }
  }
}

/** Lines that are encoded and written, on their way to the provider. */
interface Sending {
  nonce: string
  spool: JobSpool
  lines: Lines
  operation: string
}

/** Sends the lines: as a file, or with the request that creates the job. */
async function send(step: JobStep, dependencies: JobDependencies, sending: Sending): Promise<void> {
  const service = step.place.jobs.upload
  if (service !== null) return upload(step, service, { dependencies, sending })
  const { nonce, spool, lines, operation } = sending
  await sendCreate(step, dependencies, {
    nonce,
    operation,
    itemCount: lines.count,
    worstNanocredits: lines.worstNanocredits,
    sentUntil: lines.sentUntil,
    fileId: null,
    lines: { contentLength: spool.bytes, open: () => spool.stream() },
    more: returnedBeyond(step, lines),
  })
}

/** Segments that did not fit are given back for another job. */
function returnedBeyond({ lease: { job } }: JobStep, { beyond }: Lines): Statements {
  return beyond === null ? [] : [returnGiven(job.batchId, job.id, { from: beyond, lane: null })]
}

async function upload(
  step: JobStep,
  service: JobUpload,
  { dependencies, sending }: { dependencies: JobDependencies; sending: Sending },
): Promise<void> {
  const { nonce, spool, lines, operation } = sending
  const { lease, place } = step
  const { job } = lease
  const kind = kindOf(place, 'batch_input')
  const marker = inputNameOf({ nonce })
  const nowMs = dependencies.clock.nowMs()
  await commitStep(dependencies, 'job.upload', [
    changeJob(lease, { nonce }),
    // What an earlier try has uploaded is not used any more.
    leaveJobResources(job.id, kind),
    insertJobResource(resourceOf(step, 'batch_input', { marker, nowMs })),
  ])
  const sent = await sendFile(step, service, { marker, spool })
  if (sent.type === 'refused' && !sent.failure.retrySame && !sent.failure.credentialFault)
    return refuseJob(step, dependencies, sent.failure.error)
  if (sent.type !== 'stored') {
    const retryAfterMs = sent.type === 'refused' ? sent.failure.retryAfterMs : sent.retryAfterMs
    const restMs = retryMs(job.tries, retryAfterMs)
    const changes = { tries: job.tries + 1 }
    return leave(step, dependencies, 'job.wait', { changes, restMs, waitsFor: waitOf(sent) })
  }
  const { fileId } = sent
  await leave(step, dependencies, 'job.uploaded', {
    changes: {
      state: 'uploaded',
      operation,
      itemCount: lines.count,
      worstNanocredits: lines.worstNanocredits,
      sentUntil: lines.sentUntil,
      inputFileId: fileId,
      tries: 0,
    },
    restMs: 0,
    more: [nameJobResource(job.id, kind, fileId), ...returnedBeyond(step, lines)],
  })
}

/** Sends the lines, to the place that the provider names first where it names one, and has them taken in. */
async function sendFile(
  step: JobStep,
  service: JobUpload,
  { marker, spool }: { marker: string; spool: JobSpool },
): Promise<{ type: 'stored'; fileId: string } | Exclude<Sent, { type: 'reply' }>> {
  const lines = { contentLength: spool.bytes, open: () => spool.stream() }
  const first = service.begin === undefined ? null : await ask(step, service.begin(marker, lines))
  if (first !== null && first.type !== 'reply') return first
  const begun = first?.reply ?? null
  try {
    const sent = await ask(step, service.request(marker, lines, begun), jobTransferMs)
    if (sent.type !== 'reply') return sent
    const fileId = service.readId(sent.reply, begun)
    const finished = service.finish === undefined ? null : await ask(step, service.finish(fileId))
    return finished === null || finished.type === 'reply' ? { type: 'stored', fileId } : finished
  } catch (thrown) {
    if (thrown instanceof GatewayError) return { type: 'unknown', cause: thrown, retryAfterMs: null }
    throw thrown
  }
}
