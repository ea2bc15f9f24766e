import {
  knownCost,
  toReportedCounts,
  type CaptureRow,
  type CaptureTry,
} from '../billing/ledger/capture-row.ts'
import { meter, roundsOf, type Metered } from '../billing/metering/meter.ts'
import { costOfUsage } from '../billing/metering/price.ts'
import { featuresOf } from '../billing/metering/surcharge-cost.ts'
import { priceAt } from '../canonical/endpoint.ts'
import { priceWith } from '../canonical/surcharges.ts'
import type { MeterReading, ShownCharge } from '../canonical/upstream.ts'
import { freePrice } from '../canonical/usage.ts'
import type { Candidate, Prepared } from './prepared.ts'

/** How a call ended, for its usage row. */
export type CallEnding = 'completed' | 'cancelled' | 'failed'

/** What came of a call: who answered, what the meter read, and how long it took. */
export interface Answering {
  candidate: Candidate
  reading: MeterReading
  ending: CallEnding
  attempts: number
  /** Every one of them, where there was more than one. */
  tries?: readonly CaptureTry[]
  /** Milliseconds from the call's beginning to the first byte of output, and from the attempt's to its end. */
  latencyMs: number
  generationMs: number
}

/** What a call is charged: the row for the ledger, and what its caller is shown of it. */
export interface Charge {
  row: CaptureRow
  shown: ShownCharge
}

/** A charge before anybody has asked whether it is covered. */
export interface MeteredCharge {
  row: CaptureRow
  shown: Omit<ShownCharge, 'metadata' | 'metadataAlias'>
  metered: Metered
  /** The provider ended the answer as an error: whatever was said before, it costs nothing. */
  isForNothing: boolean
}

/** Meters and prices the answer to a prepared call. Pure: another process that loaded the call charges the same. */
export function chargeOf(prepared: Prepared, answering: Answering): MeteredCharge {
  const { candidate, reading, ending } = answering
  const { endpoint, credential, promptRatio } = candidate
  const metered = meter(reading, { demand: prepared.demand, endpoint, ending, promptRatio })
  const isForNothing = reading.finishReason === 'error' && prepared.demand.choices === 1
  const isFree = isForNothing || credential.isByok
  const features = featuresOf(prepared.demand, endpoint)
  // Of several prompts no one is as long as all of them together.
  const promptTokens = metered.usage.inputTokens / roundsOf(reading, { demand: prepared.demand, endpoint })
  const reached = priceAt(endpoint, promptTokens, reading.serviceTier)
  const price = isFree ? freePrice : priceWith(reached, features)
  const priced = costOfUsage(metered.usage, price)
  const source = priced.lacksSurcharge ? 'estimated' : metered.source
  const row: CaptureRow = {
    generationId: prepared.generationId,
    ...prepared.owner,
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
    details: {
      attempts: answering.attempts,
      ...prepared.attribution,
      ...(answering.tries ? { tries: answering.tries } : {}),
      ...(reading.serviceTier === null ? {} : { service_tier: reading.serviceTier }),
      ...(features.length === 0 ? {} : { audio_features: features }),
      ...(reading.mediaTokens === null ? {} : { media_tokens: reading.mediaTokens }),
      ...(metered.disbelieved === null ? {} : { reported: toReportedCounts(metered.disbelieved) }),
    },
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
