import type { MessagesModel } from '../../formats/messages/messages-quirks.ts'

/** Opus from 4.7 on, and every family from 5 on: no sampling, and thinking as the model sees fit. */
const newestClaude = /claude-(?:opus-4-[7-9]|(?:opus|sonnet|haiku|fable)-[5-9])/
/** What came with 4.5: answers held to a schema, and longer ones. */
const newerClaude = /claude-(?:opus|sonnet|haiku)-4-[5-9]/

/** What a Claude takes, by its name. */
export function claudeOf(model: string): MessagesModel {
  const isNewest = newestClaude.test(model)
  const isNewer = isNewest || newerClaude.test(model)
  return {
    hasSampling: !isNewest,
    thinking: isNewest ? 'adaptive' : 'budget',
    hasEffort: isNewest,
    hasSchema: isNewer,
    hasSystemTurns: isNewest,
    outputTokensMax: isNewer ? 64_000 : 8_192,
  }
}
