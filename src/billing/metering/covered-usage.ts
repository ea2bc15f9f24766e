import { countedUnits } from '../../canonical/usage.ts'
import type { Price, Usage } from '../../canonical/usage.ts'
import { withinTotals } from './meter.ts'
import { costOfUsage } from './price.ts'

/** One kind of quantity in a usage: `countOf` reads it, `to` returns the usage with a smaller one. */
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
/** Quantities with units of their own, such as the characters of a text and its bytes. */
const counted: Cut = {
  countOf: (usage) => Math.max(...countedUnits.map(({ count }) => usage[count])),
  to: (usage, most) => {
    const cut = countedUnits.map(({ count }) => [count, Math.min(usage[count], most)])
    return { ...usage, ...Object.fromEntries(cut) }
  },
}

/**
 * The largest part of a usage that an amount covers at this price. The part that no hold was made for is left out
 * first: thinking beyond the call's limit where `isThinkingBeyond`, else input beyond what was sent. Then the other
 * quantities are reduced, as little as possible.
 */
export function coveredUsage(
  usage: Usage,
  price: Price,
  covered: { nanocredits: bigint; isThinkingBeyond: boolean },
): Usage {
  const cuts = covered.isThinkingBeyond
    ? [thinking, input, output, sound, counted]
    : [input, thinking, output, sound, counted]
  const isCovered = (some: Usage) => costOfUsage(some, price).costNanocredits <= covered.nanocredits
  let left = usage
  for (const cut of cuts) {
    if (isCovered(left)) return left
    const without = cut.to(left, 0)
    if (isCovered(without)) return cut.to(left, largestCovered(left, cut, isCovered))
    left = without
  }
  return left
}

/** Searches by halves, since a price may have minimums and steps. The caller knows that zero is covered and the whole is not. */
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
