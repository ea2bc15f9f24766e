import {
  knownCost,
  toReportedCounts,
  type CaptureDetails,
  type CaptureRow,
  type CaptureTry,
} from '../../billing/ledger/capture-row.ts'
import { meter, roundsOf, type Metered } from '../../billing/metering/meter.ts'
import { costOfUsage } from '../../billing/metering/price.ts'
import { featuresOf } from '../../billing/metering/surcharge-cost.ts'
import { priceAt } from '../../canonical/endpoint.ts'
import { priceWith } from '../../canonical/surcharges.ts'
import type { MeterReading, ShownCharge } from '../../canonical/upstream.ts'
import { freePrice, type AudioFeature } from '../../canonical/usage.ts'
import type { Candidate, Prepared } from './prepared.ts'

/** How a call ended, for its usage row. */
export type CallEnding = 'completed' | 'cancelled' | 'failed'

/** What came of a call: who answered, what the meter read, and how long it took. */
export interface Answering {
  candidate: Candidate
  reading: MeterReading
  ending: CallEnding
  attempts: number
  /** Every attempt; absent where there was only one. */
  tries?: readonly CaptureTry[]
  /**
   * In milliseconds: `latencyMs` from the beginning of the call to the first byte of output, `generationMs` from the
   * beginning of the attempt to its end.
   */
  latencyMs: number
  generationMs: number
}

/** What a call is charged: the row for the ledger, and what its caller is shown of it. */
export interface Charge {
  row: CaptureRow
  shown: ShownCharge
}

/** A charge before the gateway checks whether it is covered. */
export interface MeteredCharge {
  row: CaptureRow
  shown: Omit<ShownCharge, 'metadata' | 'metadataAlias'>
  metered: Metered
  /** The provider ended the only choice as an error: the answer costs nothing, whatever was sent before. */
  isForNothing: boolean
}

/** The facts of a usage row that have no column; most calls have few. */
function detailsOf(
  { attribution }: Prepared,
  { attempts, tries, reading }: Answering,
  { features, metered }: { features: readonly AudioFeature[]; metered: Metered },
): CaptureDetails {
  const details: { -readonly [Name in keyof CaptureDetails]: CaptureDetails[Name] } = {
    attempts,
    ...attribution,
  }
  if (tries) details.tries = tries
  if (reading.serviceTier !== null) details.service_tier = reading.serviceTier
  if (features.length > 0) details.audio_features = features
  if (reading.mediaTokens !== null) details.media_tokens = reading.mediaTokens
  if (metered.disbelieved !== null) details.reported = toReportedCounts(metered.disbelieved)
  return details
}

/** Meters and prices the answer to a prepared call. Pure: another process that loaded the call charges the same. */
export function chargeOf(prepared: Prepared, answering: Answering): MeteredCharge {
  const { candidate, reading, ending } = answering
  const { owner } = prepared
  const { endpoint, credential, promptRatio } = candidate
  const metered = meter(reading, { demand: prepared.demand, endpoint, ending, promptRatio })
  const isForNothing = reading.finishReason === 'error' && prepared.demand.choices === 1
  const isFree = isForNothing || credential.isByok
  const features = featuresOf(prepared.demand, endpoint)
  // A price may depend on the length of one prompt, and a call may have several.
  const promptTokens = metered.usage.inputTokens / roundsOf(reading, { demand: prepared.demand, endpoint })
  const reached = priceAt(endpoint, promptTokens, reading.serviceTier)
  const price = isFree ? freePrice : priceWith(reached, features)
  const priced = costOfUsage(metered.usage, price)
  const source = priced.lacksSurcharge ? 'estimated' : metered.source
  const row: CaptureRow = {
    generationId: prepared.generationId,
    organizationId: owner.organizationId,
    workspaceId: owner.workspaceId,
    memberId: owner.memberId,
    keyId: owner.keyId,
    requestId: owner.requestId,
    batchId: owner.batchId,
    customId: owner.customId,
    sessionId: owner.sessionId,
    userId: owner.userId,
    credentialId: credential.id,
    operation: prepared.operation,
    model: endpoint.model,
    provider: endpoint.deployment.provider,
    endpointId: endpoint.id,
    status: ending,
    usage: metered.usage,
    source,
    isUnpriced: priced.unpricedUnits.length > 0,
    costNanocredits: priced.costNanocredits,
    price,
    upstreamId: reading.upstreamId,
    finishReason: reading.finishReason,
    nativeFinishReason: reading.nativeFinishReason,
    streamed: prepared.isStreamed,
    cancelled: ending === 'cancelled',
    latencyMs: Math.round(answering.latencyMs),
    generationMs: Math.round(answering.generationMs),
    createdAtMs: prepared.createdAtMs,
    details: detailsOf(prepared, answering, { features, metered }),
    ...(owner.asked === undefined ? {} : { asked: owner.asked }),
  }
  return {
    row,
    metered,
    isForNothing,
    shown: {
      costNanocredits: knownCost(row),
      promptNanocredits: priced.promptNanocredits,
      completionNanocredits: priced.completionNanocredits,
      isByok: credential.isByok,
      usage: metered.usage,
      isEstimated: source === 'estimated',
    },
  }
}
