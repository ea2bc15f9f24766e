import { coveredUsage } from '../billing/metering/covered-usage.ts'
import { isBeyondLimit } from '../billing/metering/meter.ts'
import { chargeOf } from '../billing/metering/price.ts'
import { knownCost, toReportedCounts, type CaptureRow } from '../billing/ledger/capture-row.ts'
import type { MeterReading } from '../canonical/upstream.ts'
import { freePrice } from '../canonical/usage.ts'
import type { CallState, SettledCharge } from './call-state.ts'
import type { CallEnding } from './charge.ts'
import type { Attempt } from './metadata.ts'
import type { Settlement } from './settlement.ts'

/** What an attempt came to. */
export interface Ended {
  attempt: Attempt
  reading: MeterReading
  ending: CallEnding
}

/**
 * The charge of a call, of which a balance or a limit covers everything. What a provider counts may be more than was held:
 * thinking beyond the call's limit, files and searches that only the provider reads, or a lie within what a request can
 * have caused. To hold all that for every call would refuse callers with money enough, and to charge it uncovered would
 * let a provider's word take a balance below zero. So it is covered when it is known: what is missing is set aside from
 * what there is then, and what nothing covers is not charged but counted as the operator's loss. The row is then marked as
 * estimated, beside what the provider reported.
 */
export function coveredCharge(
  state: CallState,
  settlement: Settlement,
  ended: Ended,
): SettledCharge | Promise<SettledCharge> {
  const { attempt, reading, ending } = ended
  const charge = state.charge(attempt, reading, ending)
  const { row } = charge
  if (row.costNanocredits <= settlement.hold.amount || settlement.isUnlimited) return charge
  const isThinkingBeyond = isBeyondLimit(row.usage, { demand: state.call.demand, endpoint: attempt.endpoint })
  return settlement.cover(row.costNanocredits).then((nanocredits) => {
    if (row.costNanocredits <= nanocredits) return charge
    const bounded = withinCover(charge, { nanocredits, isThinkingBeyond })
    const { facts } = state.scope
    facts.inputTokens = bounded.row.usage.inputTokens
    facts.outputTokens = bounded.row.usage.outputTokens
    facts.isEstimated = true
    facts.uncoveredNanocredits = row.costNanocredits - bounded.row.costNanocredits
    return bounded
  })
}

/** The same charge with as much of what was counted as is covered. */
function withinCover(
  { row, shown }: SettledCharge,
  covered: { nanocredits: bigint; isThinkingBeyond: boolean },
): SettledCharge {
  const usage = coveredUsage(row.usage, row.price, covered)
  const counted = chargeOf(usage, row.price)
  // A fee alone may be more than is left of what was held for another endpoint.
  const price = counted.costNanocredits <= covered.nanocredits ? row.price : freePrice
  const charge = price === row.price ? counted : chargeOf(usage, price)
  const bounded: CaptureRow = {
    ...row,
    usage,
    price,
    source: 'estimated',
    costNanocredits: charge.costNanocredits,
    details: {
      ...row.details,
      reported: row.details.reported ?? toReportedCounts(row.usage),
      uncovered_nanocredits: (row.costNanocredits - charge.costNanocredits).toString(),
    },
  }
  return {
    row: bounded,
    shown: {
      ...shown,
      costNanocredits: knownCost(bounded),
      promptNanocredits: charge.promptNanocredits,
      completionNanocredits: charge.completionNanocredits,
      usage,
      isEstimated: true,
    },
  }
}
