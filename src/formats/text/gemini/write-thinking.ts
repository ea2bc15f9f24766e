import type { Conversation, ReasoningWish } from '../../../canonical/text/conversation.ts'
import type { Losses } from '../member-names.ts'
import type { GeminiThinking } from './quirks.ts'

/** The limits that a reasoning option is fitted to. */
interface Thinker {
  thinking: GeminiThinking
  /** Output tokens of the call, thoughts included. */
  limit: number
  losses: Losses
}

/** The format's settings for thinking; null leaves it to the model. */
export function thinkingConfigOf(
  { format, reasoning }: Pick<Conversation, 'format' | 'reasoning'>,
  thinker: Thinker,
): Record<string, unknown> | null {
  if (reasoning === null) return null
  const { thinking, losses } = thinker
  const isOff = reasoning.effort === 'none'
  if (thinking.kind === 'none') {
    if (!isOff) losses.drop('reasoning')
    return null
  }
  const amount =
    thinking.kind === 'level' ? levelOf(reasoning, thinking, losses) : budgetOf(reasoning, thinker)
  // The provider shows only summaries; in responses a caller must ask for them explicitly.
  const isShown = !isOff && reasoning.isShown && (format !== 'responses' || reasoning.summary !== null)
  if (isShown && reasoning.summary !== null && reasoning.summary !== 'auto') losses.approximate('summary')
  const config = { ...amount, ...(isShown ? { includeThoughts: true } : {}) }
  return Object.keys(config).length === 0 ? null : config
}

const levels: Readonly<Record<string, string>> = {
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

function levelOf(
  { effort, budgetTokens }: ReasoningWish,
  { levelMin }: Extract<GeminiThinking, { kind: 'level' }>,
  losses: Losses,
): Record<string, unknown> {
  // The thinking of such a model cannot be switched off.
  if (effort === 'none') {
    losses.approximate('reasoning')
    return { thinkingLevel: levelMin }
  }
  if (effort === null && budgetTokens === null) return {}
  if (budgetTokens !== null) losses.approximate('budget')
  const level = effort === null ? levelOfTokens(budgetTokens ?? 0) : (levels[effort] ?? 'HIGH')
  const isTooLittle = level === 'MINIMAL' && levelMin === 'LOW'
  if (isTooLittle || effort === 'xhigh' || effort === 'max') losses.approximate('reasoning')
  return { thinkingLevel: isTooLittle ? levelMin : level }
}

/** The level nearest to a number of tokens for thinking. */
function levelOfTokens(tokens: number): string {
  if (tokens <= 4_096) return 'LOW'
  return tokens <= 16_384 ? 'MEDIUM' : 'HIGH'
}

/** The share of the output limit for thoughts, by effort. */
const shares: Readonly<Record<string, number>> = {
  minimal: 0.02,
  low: 0.1,
  medium: 0.3,
  high: 0.6,
  xhigh: 0.9,
  max: 1,
}

function budgetOf(
  { effort, budgetTokens }: ReasoningWish,
  { thinking, limit, losses }: Thinker,
): Record<string, unknown> {
  if (thinking.kind !== 'budget') return {}
  const { min, max, canBeOff } = thinking
  if (effort === 'none' && canBeOff) return { thinkingBudget: 0 }
  if (effort === null && budgetTokens === null) return {}
  if (effort === 'none') losses.approximate('reasoning')
  const share = effort === 'none' ? 0 : (shares[effort ?? 'medium'] ?? 1)
  const wanted = budgetTokens ?? Math.floor(limit * share)
  // In this format thoughts are part of the output, so a token must be left for the answer.
  const budget = Math.max(Math.min(wanted, max, limit - 1), min)
  if (budgetTokens !== null && budget !== budgetTokens) losses.approximate('budget')
  return { thinkingBudget: budget }
}
