import type { AnswerPart } from '../../canonical/text/answer.ts'
import type { Finish } from '../../canonical/text/events.ts'

/** Why an answer was refused, where its provider says so beside the answer; null where that is a part of it. */
export function explanationOf(finish: Finish | null, isTold: boolean): string | null {
  return isTold ? null : (finish?.refusal?.explanation ?? null)
}

/** Whether the model refused in words of its own. */
export function hasRefusal(parts: readonly AnswerPart[]): boolean {
  return parts.some(({ head }) => head.type === 'refusal')
}
