import type { PartHead } from '../../../canonical/text/events.ts'
import { isRecord } from '../../../json/values.ts'

// Parts of an answer for which only chat completions has members. Other formats show a plain call or text.

type Wire = Readonly<Record<string, unknown>>

/** The extras of a call that came in the older member `function_call`. */
export const olderCall: Wire = { type: 'function_call' }

/** Whether the call came in the older member. */
export function isOlderCall({ extras }: PartHead): boolean {
  return extras?.chat?.['type'] === olderCall['type']
}

/** The extras of spoken text: all of `audio` except the transcript. */
export function spokenExtras(audio: Wire): Wire {
  return { audio }
}

/** The members of `audio` besides the transcript; null for text that was not spoken. */
export function spokenOf({ extras }: PartHead): Wire | null {
  const audio = extras?.chat?.['audio']
  return isRecord(audio) ? audio : null
}
