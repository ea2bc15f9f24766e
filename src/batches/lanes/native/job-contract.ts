import type { BatchJobs } from '../../../canonical/batch-jobs.ts'
import type { UpstreamFailure, UpstreamRequest } from '../../../canonical/upstream.ts'
import type { EncodedJobItem } from '../../../execution/items/job-item.ts'
import type { GatewayError } from '../../../core/errors.ts'
import type { UpstreamResponse } from '../../../transport/exchange.ts'
import type { ItemOutcome, ItemRequest } from '../../item-contract.ts'
import type { JobPrice } from './job.ts'

/** A provider whose batch service is used, with the credential that is configured now. */
export interface JobPlace {
  deploymentId: string
  providerName: string
  /** Reference of the credential, never the credential. */
  credentialId: string
  jobs: BatchJobs
  /** Rejects with a GatewayError when no response came: then nobody knows whether the request was carried out. */
  send(
    request: UpstreamRequest,
    options: { signal: AbortSignal; deadlineMs: number },
  ): Promise<UpstreamResponse>
  /** What a response that is no success means; reads its body. Never rejects. */
  readFailure(response: UpstreamResponse): Promise<UpstreamFailure>
}

/** The endpoint of a job, with the prices of the time when it was intended. */
export interface JobEndpoint {
  endpointId: string
  price: JobPrice
}

/** What the results of a job say of an item. */
export interface JobAnswer {
  status: number
  body: Uint8Array
}

/** What jobs need of providers and of the live path. */
export interface JobItems {
  /** Null while the endpoint, its deployment or its credential is not configured. */
  placeOf(endpointId: string): JobPlace | null
  /** The lane's endpoint for a batch by what is served now; null when there is none any more. */
  endpointFor(
    asked: Pick<ItemRequest, 'principal' | 'endpoint' | 'model' | 'providerOnly'>,
  ): JobEndpoint | null
  /** As the live path would send it there. Rejects with the item's own error. */
  encode(item: ItemRequest, at: JobEndpoint): Promise<EncodedJobItem>
  /** Decodes, meters and prices an answer as the live path does, for an item that may have been sent by another process. */
  charge(item: ItemRequest, at: JobEndpoint, answer: JobAnswer): Promise<ItemOutcome>
  /** What to do once it is durable that an item ended with this error. `isSent`: a job had it, which left it unanswered. */
  noteOfFailure?(item: ItemRequest, at: JobEndpoint, failure: JobItemFailure): () => void
}

/** Why an item of a job has no answer. */
export interface JobItemFailure {
  error: GatewayError
  isSent: boolean
}
