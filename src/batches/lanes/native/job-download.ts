import type { JobLine } from '../../../canonical/batch-jobs.ts'
import type { UpstreamRequest } from '../../../canonical/upstream.ts'
import { GatewayError } from '../../../core/errors.ts'
import { parsedOrNull } from '../../../formats/jobs/job-wire.ts'
import { ArrayElements } from '../../../json/array-elements.ts'
import { recordOrEmpty, textOrEmpty } from '../../../json/values.ts'
import { itemOfLine } from './job.ts'
import type { UpstreamBody } from '../../../transport/upstream-body.ts'
import { JobSpool } from './job-spool.ts'
import { isLongClosed } from './job-deadline.ts'
import { type JobDependencies, JobLost, type JobStep, jobTransferMs, waitOf } from './job-step.ts'

/** The largest line of a job's results; a larger one counts as missing. */
const resultLineBytesMax = 128_000_000
/** Tries of a download that the provider answers with "not found", or once the batch's time is over, before the file counts as empty. */
const missingFileTries = 5

/** Pages of results of one job: more than the largest has. */
const resultPagesMax = 100_000
/** What stands around the results in a reply. */
const aroundResultsBytesMax = 4_000_000

const newline = 0x0a

/** A job's results on this machine, by item. */
export interface DownloadedResults {
  /** Lines that belong to no item, that came twice or that could not be read. */
  strayLines: number
  /** Of those, the lines that can be read and have the id of another job's. */
  foreignLines: number
  /** Items that have a line. */
  readonly itemCount: number
  /** The first line of the item; null when there is none. */
  lineOf(item: number): Promise<JobLine | null>
  close(): Promise<void>
}

/** What a download came to. */
export type Download =
  | { type: 'done'; results: DownloadedResults }
  | { type: 'again'; retryAfterMs: number | null; waitsFor: GatewayError }

/**
 * Downloads every file of results, line by line, into a file of this machine: they come in no order, while results are
 * taken in segment by segment. In memory is one line, and the place of each.
 */
export async function downloadResults(step: JobStep, { spoolFolder }: JobDependencies): Promise<Download> {
  const spool = await JobSpool.open(spoolFolder)
  const lines = new ResultLines(step, spool)
  try {
    for (const output of step.lease.job.outputs) {
      const failure = await download(step, output, lines)
      if (failure === null) continue
      await spool.close()
      return failure
    }
  } catch (error) {
    await spool.close()
    throw error
  }
  return { type: 'done', results: lines }
}

/** Null when it was read to its end, or counts as empty. */
async function download(
  step: JobStep,
  output: string,
  lines: ResultLines,
): Promise<Extract<Download, { type: 'again' }> | null> {
  const { lease, place, signal } = step
  const isLastTry = lease.job.tries >= missingFileTries
  try {
    let request = place.jobs.download(output)
    for (let page = 0; page < resultPagesMax; page++) {
      const response = await place.send(request, { signal, deadlineMs: jobTransferMs })
      if (response.status < 200 || response.status >= 300) {
        const isMissing = response.status === 404 || response.status === 410
        const failure = await place.readFailure(response)
        const isEmpty = isLastTry && (isMissing || isLongClosed(step))
        return isEmpty
          ? null
          : { type: 'again', retryAfterMs: failure.retryAfterMs, waitsFor: waitOf({ failure }) }
      }
      const next = await lines.take(response.body, output)
      if (next === null) return null
      request = next
    }
    return null
  } catch (cause) {
    if (signal.aborted) throw new JobLost('the step was aborted')
    return isLastTry && isLongClosed(step)
      ? null
      : { type: 'again', retryAfterMs: null, waitsFor: waitOf({ cause }) }
  }
}

class ResultLines implements DownloadedResults {
  strayLines = 0
  foreignLines = 0
  readonly #step: JobStep
  readonly #spool: JobSpool
  readonly #places = new Map<number, { start: number; length: number }>()
  #pending: Uint8Array[] = []
  #pendingBytes = 0
  /** The reply that is being read, where its results are the elements of an array. */
  #elements: ArrayElements | null = null

  constructor(step: JobStep, spool: JobSpool) {
    this.#step = step
    this.#spool = spool
  }

  get itemCount(): number {
    return this.#places.size
  }

  /** Reads a reply to its end; returns the request for the next page of the output, null after its last. */
  async take(body: UpstreamBody, output: string): Promise<UpstreamRequest | null> {
    this.#beginReply()
    for (;;) {
      const { done, value } = await body.read()
      if (done) break
      await this.#push(value)
    }
    return this.#endReply(output)
  }

  #beginReply(): void {
    const { resultsIn } = this.#step.place.jobs
    if (resultsIn === undefined) return
    const bounds = { elementBytesMax: resultLineBytesMax, restBytesMax: aroundResultsBytesMax }
    this.#elements = new ArrayElements({ at: resultsIn.at, ...bounds })
  }

  /** Rejects for a reply that broke off. */
  async #endReply(output: string): Promise<UpstreamRequest | null> {
    const { resultsIn } = this.#step.place.jobs
    if (this.#elements === null || resultsIn === undefined) {
      await this.#endLine()
      return null
    }
    if (!this.#elements.isComplete)
      throw new GatewayError('provider_failed', 'The results of a job broke off.')
    const { pages } = resultsIn
    const rest = pages === undefined ? null : this.#elements.rest()
    const token =
      pages === undefined || rest === null ? '' : textOrEmpty(recordOrEmpty(parsedOrNull(rest))[pages.token])
    return pages === undefined || token === '' ? null : pages.request(output, token)
  }

  async #push(chunk: Uint8Array): Promise<void> {
    if (this.#elements !== null) {
      for (const element of this.#elements.push(chunk)) {
        if (element === 'too large') this.strayLines += 1
        else await this.#note(Buffer.from(element.buffer, element.byteOffset, element.length))
      }
      return
    }
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#keep(chunk.subarray(start, end))
      await this.#endLine()
      start = end + 1
    }
    if (start < chunk.length) this.#keep(chunk.slice(start))
  }

  /** The line is complete, or the file has ended. */
  async #endLine(): Promise<void> {
    const isTooLong = this.#pendingBytes > resultLineBytesMax
    const line = Buffer.concat(this.#pending)
    this.#pending = []
    this.#pendingBytes = 0
    if (isTooLong) this.strayLines += 1
    else if (line.toString('latin1', 0, 64).trim() !== '') await this.#note(line)
  }

  async lineOf(item: number): Promise<JobLine | null> {
    const place = this.#places.get(item)
    if (place === undefined) return null
    return this.#step.place.jobs.readLine(await this.#spool.read(place.start, place.length))
  }

  close(): Promise<void> {
    return this.#spool.close()
  }

  #keep(bytes: Uint8Array): void {
    this.#pendingBytes += bytes.length
    if (this.#pendingBytes > resultLineBytesMax) this.#pending = []
    else this.#pending.push(bytes)
  }

  async #note(line: Buffer): Promise<void> {
    const read = this.#step.place.jobs.readLine(line)
    const item = read === null ? null : itemOfLine(this.#step.lease.job.nonce, read.id)
    if (read !== null && item === null) this.foreignLines += 1
    // The first line of an item counts. Of another job's nonce, of no item or not readable: nobody's.
    if (item === null || this.#places.has(item)) this.strayLines += 1
    else this.#places.set(item, { start: await this.#spool.write(line), length: line.length })
  }
}
