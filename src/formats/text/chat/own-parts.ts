import type { PartHead } from '../../../canonical/text/events.ts'
import { isRecord } from '../../../json/values.ts'

// Parts of an answer that chat completions alone tell in members of their own. Other formats show a call and a text.

type Wire = Readonly<Record<string, unknown>>

/** The extras of a call in the older member `function_call`. */
export const olderCall: Wire = { type: 'function_call' }

/** Whether the call came in the older member. */
export function isOlderCall({ extras }: PartHead): boolean {
  return extras?.chat?.['type'] === olderCall['type']
}

/** The extras of words that were spoken: all of `audio` but the words. */
export function spokenExtras(audio: Wire): Wire {
  return { audio }
}

/** What stands in `audio` beside the words; null for words that were not spoken. */
export function spokenOf({ extras }: PartHead): Wire | null {
  const audio = extras?.chat?.['audio']
  return isRecord(audio) ? audio : null
}
