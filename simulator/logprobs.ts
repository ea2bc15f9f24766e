import { fractionOf } from './random.ts'

function logprobOf(token: string, rank: number): number {
  return -Number((fractionOf(`${token} ${rank}`) * 0.2 + rank * 1.5 + 0.0001).toFixed(6))
}

function entry(token: string, rank: number) {
  return { token, logprob: logprobOf(token, rank), bytes: [...Buffer.from(token)] }
}

/** The `logprobs` member for some tokens, each with `top` alternatives of which the first is the token itself. */
export function logprobsOf(pieces: readonly string[], top: number) {
  const content = pieces.map((token) => ({
    ...entry(token, 0),
    top_logprobs: Array.from({ length: top }, (_, rank) =>
      entry(rank === 0 ? token : `${token}${rank}`, rank),
    ),
  }))
  return { content, refusal: null }
}
