/**
 * Confidences from natural logarithms of probabilities, in the order given; null where there is none. Some answers have 0 for every
 * word, which would be certainty of everything: nobody scored there.
 */
export function confidencesOf(logprobs: readonly unknown[]): (number | null)[] {
  const isScored = logprobs.some((logprob) => isLogprob(logprob) && logprob < 0)
  return logprobs.map((logprob) => (isScored && isLogprob(logprob) ? Math.exp(logprob) : null))
}

function isLogprob(value: unknown): value is number {
  return typeof value === 'number' && value <= 0
}
