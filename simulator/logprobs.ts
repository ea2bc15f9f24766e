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

/** The same in the form of legacy completions; `offset` is where in the text the tokens begin. */
export function completionLogprobs(pieces: readonly string[], offset: number, top: number) {
  let at = offset
  const offsets = pieces.map((token) => {
    const begin = at
    at += token.length
    return begin
  })
  return {
    tokens: [...pieces],
    token_logprobs: pieces.map((token) => logprobOf(token, 0)),
    top_logprobs: pieces.map((token) =>
      Object.fromEntries(
        Array.from({ length: top }, (_, rank) => [
          rank === 0 ? token : `${token}${rank}`,
          logprobOf(token, rank),
        ]),
      ),
    ),
    text_offset: offsets,
  }
}
