import type { Faults } from '../../faults.ts'
import type { JsonObject } from '../../json.ts'
import { type Heard, punctuated, type SpokenTurn, turnsOf } from '../hearing.ts'
import { withLosses } from '../jobs.ts'
import type { RevAiRequest } from './request.ts'

const space = { type: 'punct', value: ' ' }

/**
 * The transcript of a job: monologues of words, punctuation and spaces; a single monologue when speakers are not
 * separated.
 */
export function transcriptOf({ skipDiarization }: RevAiRequest, heard: Heard, faults: Faults): JsonObject {
  const turns = turnsOf(heard.recognition).map((turn) => ({
    speaker: turn.speaker,
    elements: elementsOf(turn, faults),
  }))
  if (!skipDiarization) return { monologues: turns }
  const elements = turns.flatMap(({ elements: own }, at) => (at === 0 ? own : [space, ...own]))
  return { monologues: elements.length === 0 ? [] : [{ speaker: 0, elements }] }
}

function elementsOf(turn: SpokenTurn, faults: Faults): JsonObject[] {
  const shown = punctuated(turn.words)
  const words = withLosses(
    turn.words.map((word, at) => ({ ...word, shown: shown[at] ?? '' })),
    faults,
  )
  return words.flatMap(({ start, end, confidence, shown: said }, at): JsonObject[] => {
    const [, value = '', mark = ''] = /^(.*?)([.!?,]?)$/.exec(said) ?? []
    const word = { type: 'text', value, ts: hundredth(start), end_ts: hundredth(end), confidence }
    const behind = mark === '' ? [] : [{ type: 'punct', value: mark }]
    return [...(at === 0 ? [] : [space]), word, ...behind]
  })
}

/** Times are rounded to a hundredth of a second. */
function hundredth(seconds: number): number {
  return Math.round(seconds * 100) / 100
}
