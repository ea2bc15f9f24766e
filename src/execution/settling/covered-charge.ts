import { coveredUsage } from '../../billing/metering/covered-usage.ts'
import { isBeyondLimit } from '../../billing/metering/meter.ts'
import { costOfUsage } from '../../billing/metering/price.ts'
import { knownCost, toReportedCounts, type CaptureRow } from '../../billing/ledger/capture-row.ts'
import type { MeterReading } from '../../canonical/upstream.ts'
import { freePrice } from '../../canonical/usage.ts'
import type { CallState } from '../call/call-state.ts'
import type { CallEnding, Charge } from '../call/charge.ts'
import type { Attempt } from '../call/metadata.ts'
import type { CallHold } from '../call/call-hold.ts'

/** How an attempt ended, and what the meter read of it. */
export interface Ended {
  attempt: Attempt
  reading: MeterReading
  ending: CallEnding
}

/**
 * The charge of a call, reduced to what its balance and limits cover. A provider may count more than was held: thinking
 * beyond the call's limit, files and searches that only the provider reads, or a false count within what a request can
 * have caused. A hold for all that would refuse callers who have enough money, and an uncovered charge would let a
 * provider's count take a balance below zero. So the call sets aside what is missing once the cost is known. The amount
 * that nothing covers is not charged but counted as the operator's loss; the row is then marked as estimated, beside
 * what the provider reported.
 */
export function coveredCharge(state: CallState, callHold: CallHold, ended: Ended): Charge | Promise<Charge> {
  const { attempt, reading, ending } = ended
  const charge = state.chargeFor(attempt, reading, ending)
  const { row } = charge
  if (row.costNanocredits <= callHold.held.amount || callHold.isUnlimited) return charge
  const isThinkingBeyond = isBeyondLimit(row.usage, { demand: state.call.demand, endpoint: attempt.endpoint })
  return callHold.cover(row.costNanocredits).then((nanocredits) => {
    if (row.costNanocredits <= nanocredits) return charge
    const bounded = withinCover(charge, { nanocredits, isThinkingBeyond })
    const { facts } = state.scope
    facts.inputTokens = bounded.row.usage.inputTokens
    facts.cachedInputTokens = bounded.row.usage.cachedInputTokens
    facts.outputTokens = bounded.row.usage.outputTokens
    facts.isEstimated = true
    facts.uncoveredNanocredits = row.costNanocredits - bounded.row.costNanocredits
    return bounded
  })
}

/** The same charge with as much of the counted usage as is covered. */
function withinCover(
  { row, shown }: Charge,
  covered: { nanocredits: bigint; isThinkingBeyond: boolean },
): Charge {
  const usage = coveredUsage(row.usage, row.price, covered)
  const counted = costOfUsage(usage, row.price)
  // A fee alone may exceed what is left of a hold that was made for another endpoint; then nothing is charged.
  const price = counted.costNanocredits <= covered.nanocredits ? row.price : freePrice
  const cost = price === row.price ? counted : costOfUsage(usage, price)
  const bounded: CaptureRow = {
    ...row,
    usage,
    price,
    source: 'estimated',
    costNanocredits: cost.costNanocredits,
    details: {
      ...row.details,
      reported: row.details.reported ?? toReportedCounts(row.usage),
      uncovered_nanocredits: (row.costNanocredits - cost.costNanocredits).toString(),
    },
  }
  return {
    row: bounded,
    shown: {
      ...shown,
      costNanocredits: knownCost(bounded),
      promptNanocredits: cost.promptNanocredits,
      completionNanocredits: cost.completionNanocredits,
      usage,
      isEstimated: true,
    },
  }
}
