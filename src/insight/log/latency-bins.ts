/**
 * Times of calls are counted in bins, so that the times of any span of any keys and models can be added. Each bin is half
 * as long again as the one before it: percentiles are right within a few per cent, from a millisecond to seven minutes.
 */
export const latencyBins = 32
const ratio = 1.5

/** The columns of the bins. */
export const binColumns: readonly string[] = Array.from({ length: latencyBins }, (_, index) => `l${index}`)

/** The bin of a time in milliseconds. The last one has everything that is longer. */
export function binOf(milliseconds: number): number {
  if (milliseconds <= 1) return 0
  return Math.min(latencyBins - 1, Math.ceil(Math.log(milliseconds) / Math.log(ratio)))
}

/**
 * The time that this share of the calls did not exceed, in whole milliseconds; null without calls. Within a bin the
 * calls are taken to lie evenly.
 */
export function percentileOf(bins: readonly number[], share: number): number | null {
  let total = 0
  for (const count of bins) total += count
  if (total === 0) return null
  const wanted = share * total
  let before = 0
  for (const [bin, count] of bins.entries()) {
    if (count > 0 && before + count >= wanted) {
      const from = bin === 0 ? 0 : ratio ** (bin - 1)
      return Math.round(from + ((ratio ** bin - from) * (wanted - before)) / count)
    }
    before += count
  }
  return Math.round(ratio ** (latencyBins - 1))
}
