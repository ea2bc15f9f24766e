import type { HourRule } from '../../catalog/prices/provider-prices.ts'
import type { MessagesModel } from '../../formats/text/messages/quirks.ts'

/** Opus from 4.7 on, and every family from 5 on: no sampling, and adaptive thinking. Some hosts write `4.7`. */
const newestClaude = /claude-(?:opus-4[-.][7-9]|(?:opus|sonnet|haiku|fable)-[5-9])/
/** New in 4.5: answers with an enforced schema, and longer answers. */
const newerClaude = /claude-(?:opus|sonnet|haiku)-4[-.][5-9]/
/** From 4 on, `temperature` together with `top_p` is an error. */
const claude4 = /claude-(?:opus|sonnet|haiku)-4/

/** The first ones: no thinking, and short answers. */
const firstClaude = /claude-3-(?:opus|sonnet|haiku)/

/**
 * A cache write for an hour costs twice the input, one for five minutes 1.25 times; the same at every host of Claude.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
export const claudeHourWrites: HourRule = { ofWrite: [8n, 5n] }

/**
 * Betas that Claude's models have at clouds, too; those for files, sign-in and the like belong to Anthropic's own service.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html
 */
export const cloudBetas =
  /^(?:interleaved-thinking|dev-full-thinking|context-1m|context-management|compact|effort|fine-grained-tool-streaming|token-efficient-tools|tool-search-tool|tool-examples|output-128k|max-tokens-3-5-sonnet|computer-use)-/

/** Anthropic's tools that the caller runs; the model only knows their form. */
export const clientTools = /^(?:computer|bash|text_editor|memory|tool_search_tool)_/

/** The members that a Claude model takes, by its name. */
export function claudeOf(model: string): MessagesModel {
  const isNewest = newestClaude.test(model)
  const isNewer = isNewest || newerClaude.test(model)
  const isFirst = firstClaude.test(model)
  return {
    sampling: samplingOf(model, isNewest),
    thinking: thinkingOf(isNewest, isFirst),
    hasEffort: isNewest,
    hasSchema: isNewer,
    hasSystemTurns: isNewest,
    outputTokensMax: outputMaxOf(isNewer, isFirst),
  }
}

function outputMaxOf(isNewer: boolean, isFirst: boolean): number {
  if (isFirst) return 4_096
  return isNewer ? 64_000 : 8_192
}

function thinkingOf(isNewest: boolean, isFirst: boolean): MessagesModel['thinking'] {
  if (isFirst) return 'none'
  return isNewest ? 'adaptive' : 'budget'
}

function samplingOf(model: string, isNewest: boolean): MessagesModel['sampling'] {
  if (isNewest) return 'none'
  return claude4.test(model) ? 'one_of' : 'all'
}
