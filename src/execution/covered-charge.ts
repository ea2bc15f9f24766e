import { isBeyondLimit } from '../billing/metering/meter.ts'
import { chargeOf } from '../billing/metering/price.ts'
import { knownCost, toReportedCounts, type CaptureRow } from '../billing/ledger/capture-row.ts'
import type { MeterReading } from '../canonical/upstream.ts'
import type { Usage } from '../canonical/usage.ts'
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
 * The charge of a call, of which a balance or a limit covers everything. What a model thinks may go beyond the call's own
 * limit up to the endpoint's, a thousand times what was held: to hold that for every call would refuse callers with money
 * enough, and to charge it uncovered would take a balance far below zero. So it is covered when it is known: what is
 * missing is set aside from what there is then, and thinking that nothing covers is not charged. The row is then marked
 * as estimated, beside what the provider reported.
 */
export function coveredCharge(
  state: CallState,
  settlement: Settlement,
  ended: Ended,
): SettledCharge | Promise<SettledCharge> {
  const { attempt, reading, ending } = ended
  const charge = state.charge(attempt, reading, ending)
  const { row } = charge
  const context = { demand: state.call.demand, endpoint: attempt.endpoint }
  if (row.costNanocredits <= settlement.hold.amount || !isBeyondLimit(row.usage, context)) return charge
  return settlement.cover(row.costNanocredits).then((covered) => {
    if (row.costNanocredits <= covered) return charge
    const bounded = withinCover(charge, covered)
    state.scope.facts.outputTokens = bounded.row.usage.outputTokens
    state.scope.facts.isEstimated = true
    return bounded
  })
}

/** The same charge with as much of the thinking as is covered; all else stays. */
function withinCover({ row, shown }: SettledCharge, coveredNanocredits: bigint): SettledCharge {
  const usage = withThinking(row.usage, thinkingWithin(row, coveredNanocredits))
  const charge = chargeOf(usage, row.price)
  const bounded: CaptureRow = {
    ...row,
    usage,
    source: 'estimated',
    costNanocredits: charge.costNanocredits,
    details: { ...row.details, reported: row.details.reported ?? toReportedCounts(row.usage) },
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

function thinkingWithin({ usage, price }: CaptureRow, coveredNanocredits: bigint): number {
  // One is left for rounding.
  const left = coveredNanocredits - chargeOf(withThinking(usage, 0), price).costNanocredits - 1n
  const perMillion = price.outputToken ?? 0n
  if (left <= 0n || perMillion === 0n) return 0
  const tokens = (left * 1_000_000n) / perMillion
  return tokens < BigInt(usage.reasoningTokens) ? Number(tokens) : usage.reasoningTokens
}

function withThinking(usage: Usage, reasoningTokens: number): Usage {
  return {
    ...usage,
    outputTokens: usage.outputTokens - usage.reasoningTokens + reasoningTokens,
    reasoningTokens,
  }
}
