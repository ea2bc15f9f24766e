import { createHash } from 'node:crypto'
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

/** What is written down about one answered call. Exactly one exists per generation. */
export interface CaptureRow {
  readonly generationId: string
  readonly organizationId: string
  /** Where the key was, and whose it was, when the call was made. */
  readonly workspaceId: string
  readonly memberId: string | null
  readonly keyId: string
  /** The upstream key that was used: `operator:` and a deployment's id, or the id of one that an organization brought. */
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
}

/** Counted and shown, and neither priced nor searched. */
export interface CaptureDetails {
  readonly attempts?: number
  /** The tier the provider said it used. */
  readonly service_tier?: string
  /** How the application named itself; each is left out where it did not. */
  readonly http_referer?: string
  readonly app_title?: string
  readonly user_agent?: string
  /** Every try, where there was more than one. */
  readonly tries?: readonly CaptureTry[]
  readonly media_tokens?: MediaTokens
  /** What a transcription was asked for that may cost something besides; the price has what it cost. */
  readonly audio_features?: readonly AudioFeature[]
  /** What the provider reported where it was not believed, and something else was charged. */
  readonly reported?: ReportedCounts
  /** What was counted above the hold and nothing covered, in nanocredits: the operator's loss. */
  readonly uncovered_nanocredits?: string
}

/** One try of a call: whom it was sent to and what came back; null where nothing did. */
export interface CaptureTry {
  readonly provider: string
  readonly endpoint: string
  readonly status: number | null
  /** Milliseconds from its beginning to the first output. */
  readonly latency?: number
}

/** A provider's own figures; those of parts only above zero. */
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

/** What a caller is told that a call cost; null where nothing that it used has a price, because zero would be a promise. */
export function knownCost({
  isUnpriced,
  costNanocredits,
}: Pick<CaptureRow, 'isUnpriced' | 'costNanocredits'>): bigint | null {
  return isUnpriced && costNanocredits === 0n ? null : costNanocredits
}

/** Characters of six bits each, enough that two prices never share an id. */
const priceIdLength = 22

/** A price as it is stored: as JSON, bigints as decimal strings, under an id that is made of it. */
export interface StoredPrice {
  readonly priceId: string
  readonly json: string
}

const storedPrices = new WeakMap<Price, StoredPrice>()

/** The stored form of a price. Remembered, since every call of an endpoint has the same object. */
export function toStoredPrice(price: Price): StoredPrice {
  const found = storedPrices.get(price)
  if (found !== undefined) return found
  const json = JSON.stringify(price, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
  const priceId = createHash('sha256').update(json).digest('base64url').slice(0, priceIdLength)
  const stored = { priceId, json }
  storedPrices.set(price, stored)
  return stored
}

/**
 * What is written in the place of a refused call's charge: the same generation at no cost. A generation has one row, so
 * once this one is durable the charge can never be written any more, even by a commit that was given up and goes on.
 */
export function toVoided(row: CaptureRow): CaptureRow {
  return { ...row, status: 'failed', price: freePrice, costNanocredits: 0n }
}

/** What the log says of a call that its caller does not pay. */
export function lossOf({ model, provider, costNanocredits }: CaptureRow): string {
  return `${model} of ${provider} answered for ${formatCredits(costNanocredits)} credits; the caller was refused and pays nothing`
}
