import type { HourRule } from '../../catalog/prices/provider-prices.ts'
import type { MessagesModel } from '../../formats/text/messages/quirks.ts'

/** Opus from 4.7 on, and every family from 5 on: no sampling, and adaptive thinking. Some hosts write `4.7`. */
const newestClaude = /claude-(?:opus-4[-.][7-9]|(?:opus|sonnet|haiku|fable)-[5-9])/
/** New in 4.5: answers with an enforced schema, and longer answers. */
const newerClaude = /claude-(?:opus|sonnet|haiku)-4[-.][5-9]/
/** From 4 on, `temperature` together with `top_p` is an error. */
const claude4 = /claude-(?:opus|sonnet|haiku)-4/

/**
 * A cache write for an hour costs twice the input, one for five minutes 1.25 times; the same at every host of Claude.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
export const claudeHourWrites: HourRule = { ofWrite: [8n, 5n] }

/** The members that a Claude model takes, by its name. */
export function claudeOf(model: string): MessagesModel {
  const isNewest = newestClaude.test(model)
  const isNewer = isNewest || newerClaude.test(model)
  return {
    sampling: samplingOf(model, isNewest),
    thinking: isNewest ? 'adaptive' : 'budget',
    hasEffort: isNewest,
    hasSchema: isNewer,
    hasSystemTurns: isNewest,
    outputTokensMax: isNewer ? 64_000 : 8_192,
  }
}

function samplingOf(model: string, isNewest: boolean): MessagesModel['sampling'] {
  if (isNewest) return 'none'
  return claude4.test(model) ? 'one_of' : 'all'
}
