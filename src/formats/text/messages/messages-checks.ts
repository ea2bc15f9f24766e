import { sessionIdLengthMax, userIdLengthMax } from '../../../core/limits/http.ts'
import { isRecord } from '../../../json/values.ts'
import {
  isBoolean,
  isCount,
  isModel,
  isNumber,
  isOptional,
  isText,
  isTextUpTo,
  isWhole,
  type QuickCheck,
} from '../quick-checks.ts'

const isTyped: QuickCheck = (value) => isRecord(value) && typeof value['type'] === 'string'
const isOptionalRecord: QuickCheck = (value) => value === undefined || value === null || isRecord(value)

function isTool(tool: unknown): boolean {
  if (!isRecord(tool)) return false
  const { name, type, description, input_schema: schema } = tool
  const isNamed = isOptional(isText, name) && isOptional(isText, type)
  return isNamed && isOptional(isText, description) && isOptionalRecord(schema)
}

const choices: ReadonlySet<unknown> = new Set(['auto', 'any', 'tool', 'none'])

/**
 * Quick checks of the members that most messages requests have. They accept only what the schema accepts. A coding
 * agent sends dozens of tools with every request.
 */
export const messagesQuickChecks: Readonly<Partial<Record<string, QuickCheck>>> = {
  model: isModel,
  max_tokens: isCount,
  stream: isBoolean,
  temperature: isNumber(0, 1),
  top_p: isNumber(0, 1),
  top_k: isWhole(0, Number.MAX_SAFE_INTEGER),
  service_tier: isText,
  user: isTextUpTo(userIdLengthMax),
  session_id: isTextUpTo(sessionIdLengthMax),
  system: (value) => isText(value) || (Array.isArray(value) && value.every(isTyped)),
  stop_sequences: (value) => Array.isArray(value) && value.every((text) => typeof text === 'string'),
  tools: (value) => Array.isArray(value) && value.every(isTool),
  tool_choice: (value) =>
    isRecord(value) &&
    choices.has(value['type']) &&
    isOptional(isText, value['name']) &&
    isOptional(isBoolean, value['disable_parallel_tool_use']),
  thinking: (value) =>
    isRecord(value) &&
    isTyped(value) &&
    isOptional(isWhole(0, Number.MAX_SAFE_INTEGER), value['budget_tokens']) &&
    isOptional(isText, value['display']),
  metadata: (value) => isRecord(value) && isOptional(isText, value['user_id']),
  cache_control: isTyped,
  output_config: (value) =>
    isRecord(value) && isOptional(isText, value['effort']) && (value['format'] ?? null) === null,
}
