import type { MessagesModel } from '../../formats/text/messages/quirks.ts'

/** Opus from 4.7 on, and every family from 5 on: no sampling, and thinking as the model sees fit. Some hosts write 4.7. */
const newestClaude = /claude-(?:opus-4[-.][7-9]|(?:opus|sonnet|haiku|fable)-[5-9])/
/** What came with 4.5: answers held to a schema, and longer ones. */
const newerClaude = /claude-(?:opus|sonnet|haiku)-4[-.][5-9]/
/** From 4 on `temperature` beside `top_p` is an error. */
const claude4 = /claude-(?:opus|sonnet|haiku)-4/

/** What a Claude takes, by its name. */
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
