import { createHash } from 'node:crypto'
import type { AskedFor } from '../../canonical/call.ts'
import type { MediaTokens } from '../../canonical/upstream.ts'
import {
  type AudioFeature,
  freePrice,
  type Price,
  type Usage,
  usageColumns,
  type UsageSource,
} from '../../canonical/usage.ts'
import { formatCredits } from '../../core/money.ts'

/** The record of one answered call. Exactly one exists per generation. */
export interface CaptureRow {
  readonly generationId: string
  readonly organizationId: string
  /** The key's workspace and owner at the time of the call. */
  readonly workspaceId: string
  readonly memberId: string | null
  readonly keyId: string
  /** The upstream key that was used: `operator:` and a deployment's id, or the id of an organization's own key. */
  readonly credentialId: string
  readonly batchId: string | null
  readonly customId: string | null
  readonly operation: string
  readonly model: string
  readonly provider: string
  readonly endpointId: string
  /** How the call ended, such as `completed`, `cancelled`, `failed`. */
  readonly status: string
  readonly usage: Usage
  readonly source: UsageSource
  /** True when a used unit had no price, so that the cost is a lower bound. */
  readonly isUnpriced: boolean
  readonly costNanocredits: bigint
  /** The price as it was when the call was made. */
  readonly price: Price
  readonly upstreamId: string | null
  readonly finishReason: string | null
  readonly nativeFinishReason: string | null
  readonly streamed: boolean
  /** The caller left before the end. */
  readonly cancelled: boolean
  readonly latencyMs: number | null
  readonly generationMs: number | null
  readonly sessionId: string | null
  readonly userId: string | null
  readonly requestId: string | null
  readonly createdAtMs: number
  /** Anything else worth showing later; small. */
  readonly details: CaptureDetails
  /** What was asked for, for broadcasts; the ledger does not store it. */
  readonly asked?: AskedFor
}

/** Figures for display; they neither set the price nor can be searched for. */
export interface CaptureDetails {
  readonly attempts?: number
  /** The tier the provider said it used. */
  readonly service_tier?: string
  /** The application's address, title and user agent, from its headers; each is absent when its header was. */
  readonly http_referer?: string
  readonly app_title?: string
  readonly user_agent?: string
  /** Every attempt, when there were several. */
  readonly tries?: readonly CaptureTry[]
  readonly media_tokens?: MediaTokens
  /** Requested features of a transcription that may carry a surcharge; `price` has the surcharges that were charged. */
  readonly audio_features?: readonly AudioFeature[]
  /** What the provider reported, when it was not believed and something else was charged. */
  readonly reported?: ReportedCounts
  /** The generation whose answer was given again, without asking a provider. */
  readonly response_cache_source_id?: string
  /** Usage above the hold that no money covered, in nanocredits: the operator's loss. */
  readonly uncovered_nanocredits?: string
}

/** One attempt of a call: the endpoint, and the status of its answer; null when none came. */
export interface CaptureTry {
  readonly provider: string
  readonly endpoint: string
  readonly status: number | null
  /** Milliseconds from the attempt's beginning to the first output. */
  readonly latency?: number
}

/** A provider's own figures. Those that are parts of another figure are present only above zero. */
export interface ReportedCounts {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly [part: string]: number
}

/** The provider's figures as they are kept beside the charge. */
export function toReportedCounts(usage: Usage): ReportedCounts {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    ...Object.fromEntries(
      Object.entries(usageColumns)
        .map(([column, count]) => [column, usage[count]] as const)
        .filter(([, count]) => count !== 0),
    ),
  }
}

/** The cost that a caller is shown. Null when no used unit has a price: zero would promise that the call was free. */
export function knownCost({
  isUnpriced,
  costNanocredits,
}: Pick<CaptureRow, 'isUnpriced' | 'costNanocredits'>): bigint | null {
  return isUnpriced && costNanocredits === 0n ? null : costNanocredits
}

/** Characters of six bits each: 132 bits, so that two prices never share an id. */
const priceIdLength = 22

/** A price as stored: JSON with bigints as decimal strings, under an id that is a hash of it. */
export interface StoredPrice {
  readonly priceId: string
  readonly json: string
}

const storedPrices = new WeakMap<Price, StoredPrice>()

/** The stored form of a price. Cached by object, because all calls of an endpoint have the same price object. */
export function toStoredPrice(price: Price): StoredPrice {
  return storedPrices.get(price) ?? storePrice(price)
}

function storePrice(price: Price): StoredPrice {
  const json = JSON.stringify(price, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
  const priceId = createHash('sha256').update(json).digest('base64url').slice(0, priceIdLength)
  const stored = { priceId, json }
  storedPrices.set(price, stored)
  return stored
}

/**
 * The row that replaces a refused call's charge: the same generation at no cost. A generation has one row, so once this
 * one is durable the charge cannot be written any more, not even by an earlier commit that is still running.
 */
export function toVoided(row: CaptureRow): CaptureRow {
  return { ...row, status: 'failed', price: freePrice, costNanocredits: 0n }
}

/** The log's text about a call that its caller does not pay. */
export function lossOf({ model, provider, costNanocredits }: CaptureRow): string {
  return `${model} of ${provider} answered for ${formatCredits(costNanocredits)} credits; the caller was refused and pays nothing`
}
