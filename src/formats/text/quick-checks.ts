import { modelIdLengthMax, sessionIdLengthMax, userIdLengthMax } from '../../core/limits/http.ts'
import { isServiceTier } from '../service-tier.ts'
import { isRecord } from '../../json/values.ts'

/** Whether a value surely fits its member. False says nothing: then the schema decides, and says what is wrong. */
export type QuickCheck = (value: unknown) => boolean

export const isBoolean: QuickCheck = (value) => typeof value === 'boolean' || value === null
export const isText: QuickCheck = (value) => typeof value === 'string' || value === null
export const isTextUpTo =
  (lengthMax: number): QuickCheck =>
  (value) =>
    value === null || (typeof value === 'string' && value.length <= lengthMax)
export const isNumber =
  (min: number, max: number): QuickCheck =>
  (value) =>
    value === null || (typeof value === 'number' && value >= min && value <= max)
export const isWhole =
  (min: number, max: number): QuickCheck =>
  (value) =>
    value === null || (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max)
export const isOptional = (check: QuickCheck, value: unknown): boolean => value === undefined || check(value)

/** A whole number of at least 1. */
export const isCount = isWhole(1, Number.MAX_SAFE_INTEGER)

/** A model’s id of an accepted length; the model need not exist. */
export function isModel(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= modelIdLengthMax
}

function isFunctionTool(tool: unknown): boolean {
  if (!isRecord(tool) || tool['type'] !== 'function') return false
  const called = tool['function']
  if (!isRecord(called) || typeof called['name'] !== 'string' || called['name'] === '') return false
  const { description, parameters, strict } = called
  const isPlain = parameters === undefined || parameters === null || isRecord(parameters)
  return isPlain && isOptional(isText, description) && isOptional(isBoolean, strict)
}

/**
 * Quick checks of the members that most requests have. The schema library takes as long for one of them as the rest of
 * a small request's decoding, so it runs only when they say no. A property test proves that they accept only what the
 * schema accepts.
 */
export const quickChecks: Readonly<Partial<Record<string, QuickCheck>>> = {
  model: isModel,
  stream: isBoolean,
  temperature: isNumber(0, 2),
  top_p: isNumber(0, 1),
  frequency_penalty: isNumber(-2, 2),
  presence_penalty: isNumber(-2, 2),
  max_tokens: isCount,
  max_completion_tokens: isCount,
  n: isWhole(1, 128),
  seed: isWhole(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  stop: isText,
  logprobs: isBoolean,
  top_logprobs: isWhole(0, 20),
  parallel_tool_calls: isBoolean,
  reasoning_effort: isText,
  service_tier: isServiceTier,
  prompt_cache_key: isText,
  store: isBoolean,
  user: isTextUpTo(userIdLengthMax),
  session_id: isTextUpTo(sessionIdLengthMax),
  tool_choice: isText,
  tools: (value) => Array.isArray(value) && value.every(isFunctionTool),
  stream_options: (value) => isRecord(value) && isOptional(isBoolean, value['include_usage']),
}
