import type { Endpoint } from '../../../canonical/endpoint.ts'
import type { JobEnding } from '../../../canonical/batch-jobs.ts'
import { type BatchId, randomText } from '../../../core/ids.ts'

/**
 * Where a job is. `intended`: nothing of it was sent, or what was sent is left to be removed. `uploaded`: its lines are at
 * the provider. `creating`: the creating request was sent, and its answer is not known. `running`: the provider has it.
 * `collecting`: the provider has ended it, and its results are being taken in. `ended`: nothing is left to do.
 */
export type JobState = 'intended' | 'uploaded' | 'creating' | 'running' | 'collecting' | 'ended'

/** How a job ended: as its provider ended it, refused by the provider, or given up by the gateway. */
export type JobEnd = JobEnding | 'refused' | 'abandoned' | 'unneeded'

/** The prices of a job's items, as they were when it was intended. */
export type JobPrice = Pick<Endpoint, 'price' | 'longPrices'>

/** A job as stored. It never has a secret. Times are Unix milliseconds by the database's clock. */
export interface Job {
  id: string
  batchId: BatchId
  /** Marks the job, its lines and its files at the provider; a new one for each new try to create it. */
  nonce: string
  endpointId: string
  deploymentId: string
  credentialId: string
  price: JobPrice
  /** What its lines ask for; null until they are encoded. */
  operation: string | null
  state: JobState
  itemCount: number
  /** The most that its items can cost, in nanocredits; 0 where nothing limits its batch. */
  worstNanocredits: bigint
  /**
   * The place in the batch of the first item that did not fit into the job, which then has one segment; null where all items
   * of its segments were sent.
   */
  sentUntil: number | null
  /** Failed tries of the present state. */
  tries: number
  inputFileId: string | null
  upstreamId: string | null
  outputs: readonly string[]
  endedAs: JobEnd | null
  reason: string | null
  strayLines: number
  movedItems: number
  createdAtMs: number
  /** When its creating request was about to be sent. */
  sentAtMs: number | null
  /** When its provider was asked to cancel it. */
  cancelledAtMs: number | null
}

/** A job that this process drives. The epoch fences: whoever drives it later has another. */
export interface JobLease {
  job: Job
  owner: string
  epoch: number
  /** By the database's clock, when the lease was taken. */
  leasedAtMs: number
}

/** Letters of a nonce: no two jobs of an account have the same. */
const nonceLength = 20

/** A nonce for one try to create a job; only letters and digits. */
export function newNonce(): string {
  return randomText(nonceLength)
}

/** The id of a line, which proves that a result belongs to the job. `item` is its place in the batch. */
export function lineIdOf(nonce: string, item: number): string {
  return `h${nonce}_${item}`
}

/** The place in the batch of the item that a line of this job answers; null for a line that the job did not send. */
export function itemOfLine(nonce: string, lineId: string): number | null {
  const head = `h${nonce}_`
  const digits = lineId.slice(head.length)
  return lineId.startsWith(head) && /^(?:0|[1-9]\d{0,14})$/.test(digits) ? Number(digits) : null
}

/** The name of a job's input file, which also finds it in a listing. */
export function inputNameOf({ nonce }: Pick<Job, 'nonce'>): string {
  return `headrace-${nonce}`
}
