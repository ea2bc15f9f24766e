import type { TokenChance, TokenLogprob } from '../../../canonical/text/events.ts'
import { isRecord, recordsOrEmpty } from '../../../json/values.ts'

type Wire = Readonly<Record<string, unknown>>

/** The chosen tokens and their alternatives; empty when the provider sends none. */
export function readLogprobs(wire: unknown): TokenLogprob[] {
  if (!isRecord(wire)) return []
  const tops = recordsOrEmpty(wire['topCandidates'])
  return recordsOrEmpty(wire['chosenCandidates']).map((chosen, place) => ({
    ...readChance(chosen),
    top: recordsOrEmpty(tops[place]?.['candidates']).map(readChance),
  }))
}

function readChance({ token, logProbability }: Wire): TokenChance {
  return {
    token: typeof token === 'string' ? token : '',
    logprob: typeof logProbability === 'number' ? logProbability : 0,
    bytes: null,
  }
}
