import type { TokenLogprob } from '../../canonical/text/events.ts'
import { isRecord } from '../../json/values.ts'

type Wire = Readonly<Record<string, unknown>>

/** A token and its probability; both formats of OpenAI write it the same. */
export function readLogprob(wire: Wire): TokenLogprob {
  const top = wire['top_logprobs']
  const chance = readChance(wire)
  return {
    token: chance.token,
    logprob: chance.logprob,
    bytes: chance.bytes,
    top: Array.isArray(top) ? top.filter(isRecord).map(readChance) : [],
  }
}

/** A token as the contract shows it. */
export function writeLogprob({ token, logprob, bytes, top }: TokenLogprob): Record<string, unknown> {
  return {
    token,
    bytes,
    logprob,
    top_logprobs: top.map((other) => ({ token: other.token, bytes: other.bytes, logprob: other.logprob })),
  }
}

function readChance(wire: Wire): Omit<TokenLogprob, 'top'> {
  const { token, logprob, bytes } = wire
  return {
    token: typeof token === 'string' ? token : '',
    logprob: typeof logprob === 'number' ? logprob : 0,
    bytes: Array.isArray(bytes) ? numbersOf(bytes) : null,
  }
}

/**
 * Returns the list itself when it has only numbers: an answer has such a list for each token, so copies would cost
 * much.
 */
function numbersOf(list: readonly unknown[]): readonly number[] {
  return areNumbers(list) ? list : list.filter((each) => typeof each === 'number')
}

function areNumbers(list: readonly unknown[]): list is readonly number[] {
  for (const each of list) if (typeof each !== 'number') return false
  return true
}
