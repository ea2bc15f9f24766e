import { countedUnits } from '../../canonical/usage.ts'
import type { Price, Usage } from '../../canonical/usage.ts'
import { withinTotals } from './meter.ts'
import { chargeOf } from './price.ts'

/** One kind of what a provider counts: how much there is of it, and the same usage with less. */
interface Cut {
  countOf: (usage: Usage) => number
  to: (usage: Usage, count: number) => Usage
}

const thinking: Cut = {
  countOf: ({ reasoningTokens }) => reasoningTokens,
  to: (usage, reasoningTokens) => ({
    ...usage,
    outputTokens: usage.outputTokens - usage.reasoningTokens + reasoningTokens,
    reasoningTokens,
  }),
}
const input: Cut = {
  countOf: ({ inputTokens }) => inputTokens,
  to: (usage, inputTokens) => withinTotals({ ...usage, inputTokens }),
}
const output: Cut = {
  countOf: ({ outputTokens }) => outputTokens,
  to: (usage, outputTokens) => withinTotals({ ...usage, outputTokens }),
}
const sound: Cut = {
  countOf: ({ audioMilliseconds }) => audioMilliseconds,
  to: (usage, audioMilliseconds) => ({ ...usage, audioMilliseconds }),
}
/** What is counted otherwise: the characters of a text with its bytes, and whatever else has a unit of its own. */
const counted: Cut = {
  countOf: (usage) => Math.max(...countedUnits.map(({ count }) => usage[count])),
  to: (usage, most) => {
    const cut = countedUnits.map(({ count }) => [count, Math.min(usage[count], most)])
    return { ...usage, ...Object.fromEntries(cut) }
  },
}

/**
 * As much of a usage as an amount covers at this price. What no hold was made for is left out first: thinking beyond the
 * call's limit where `isThinkingBeyond`, else the input that was more than was sent; all else stays as far as it can.
 */
export function coveredUsage(
  usage: Usage,
  price: Price,
  covered: { nanocredits: bigint; isThinkingBeyond: boolean },
): Usage {
  const cuts = covered.isThinkingBeyond
    ? [thinking, input, output, sound, counted]
    : [input, thinking, output, sound, counted]
  const isCovered = (some: Usage) => chargeOf(some, price).costNanocredits <= covered.nanocredits
  let left = usage
  for (const cut of cuts) {
    if (isCovered(left)) return left
    const without = cut.to(left, 0)
    if (isCovered(without)) return cut.to(left, largestCovered(left, cut, isCovered))
    left = without
  }
  return left
}

/** By halves, since a price may have minimums and steps. None of it is covered, and all of it is not. */
function largestCovered(usage: Usage, cut: Cut, isCovered: (usage: Usage) => boolean): number {
  let most = 0
  let beyond = cut.countOf(usage)
  while (beyond - most > 1) {
    const middle = most + Math.floor((beyond - most) / 2)
    if (isCovered(cut.to(usage, middle))) most = middle
    else beyond = middle
  }
  return most
}
