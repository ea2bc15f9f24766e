import type { JsonObject } from './json.ts'

/** A tool that the caller offers, in any format. */
export interface OfferedTool {
  name: string
  /** The schema of its arguments; of a custom tool an empty one. */
  parameters: JsonObject
  /** Takes plain text instead of arguments. */
  isCustom: boolean
}

/** The caller's choice of tools, or the name of the tool to call. */
export type ToolChoice = 'none' | 'auto' | 'required' | { name: string }

/** The input of a model, whatever the format of the request. */
export interface Prompt {
  /** The user's texts before the model's first answer; a script's marker is searched in them. */
  opening: string
  /** The text of the user's last message, empty when there is none. */
  said: string
  /** The last result of a tool; null when the conversation does not end with one. */
  toolAnswer: string | null
  /** How often the model has spoken already. */
  modelTurns: number
  /** Messages or items, so that ids differ from turn to turn. */
  length: number
  tools: OfferedTool[]
  toolChoice: ToolChoice
  parallelToolCalls: boolean
  /** The schema of a wanted JSON answer; an empty one for any object; null for text. */
  answerSchema: JsonObject | null
  stop: string[]
  outputTokensMax: number
  /** The number of tokens for thinking before the answer. */
  thoughtTokens: number
  /** The beginning of the ids of tool calls. */
  callIdPrefix: string
}

const thoughtTokensByEffort: Record<string, number> = {
  none: 0,
  minimal: 4,
  low: 8,
  medium: 16,
  high: 64,
  xhigh: 128,
  max: 256,
}

/** How long a thinking model thinks at an effort. */
export function thoughtTokensOf(effort: string): number {
  return thoughtTokensByEffort[effort] ?? 0
}
