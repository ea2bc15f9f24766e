import { invalidRequest } from './errors.ts'
import { isObject, type JsonObject } from './json.ts'

/** A tool call of a script. */
interface ScriptedCall {
  /** Null when the simulator makes the id. */
  id: string | null
  name: string
  /** JSON text, or whatever text the script gave: a script may also play a model that writes broken arguments. */
  arguments: string
  /** The script gave `input` as text: a custom tool. */
  isText: boolean
}

/** One turn of a script, which the model plays. */
export interface ScriptedTurn {
  thinking: string | null
  /** Hidden thoughts, which Messages sends as `redacted_thinking`. */
  redacted: string | null
  text: string | null
  calls: ScriptedCall[]
  refusal: string | null
  /** The finish reason; null for the one that the turn implies. */
  finish: string | null
  /** Counts that replace the simulator's own; the input includes cached tokens. */
  usage: {
    input?: number
    output?: number
    reasoning?: number
    cacheRead?: number
    cacheWrite5m?: number
    cacheWrite1h?: number
  }
}

const turnMembers = [
  'thinking',
  'redacted_thinking',
  'text',
  'tool_calls',
  'refusal',
  'stop_reason',
  'usage',
] as const
const usageMembers = {
  input_tokens: 'input',
  output_tokens: 'output',
  reasoning_tokens: 'reasoning',
  cache_read_tokens: 'cacheRead',
  cache_write_5m_tokens: 'cacheWrite5m',
  cache_write_1h_tokens: 'cacheWrite1h',
} as const

/** Reads one turn of a script. Throws `ApiError` naming the member at fault. */
export function parseTurn(value: unknown, param: string): ScriptedTurn {
  const turn = objectAt(value, param, turnMembers)
  const calls = turn['tool_calls'] ?? []
  if (!Array.isArray(calls))
    throw invalidRequest(`'${param}.tool_calls' must be a list.`, `${param}.tool_calls`)
  const parsed: ScriptedTurn = {
    thinking: textAt(turn, 'thinking', param),
    redacted: textAt(turn, 'redacted_thinking', param),
    text: textAt(turn, 'text', param),
    calls: calls.map((call, at) => parseCall(call, `${param}.tool_calls[${at}]`)),
    refusal: textAt(turn, 'refusal', param),
    finish: textAt(turn, 'stop_reason', param),
    usage: parseUsage(turn['usage'], `${param}.usage`),
  }
  return parsed
}

function parseCall(value: unknown, param: string): ScriptedCall {
  const call = objectAt(value, param, ['id', 'name', 'arguments', 'input'])
  const name = textAt(call, 'name', param)
  if (name === null) throw invalidRequest(`'${param}.name' is missing.`, `${param}.name`)
  const given = call['arguments'] ?? call['input'] ?? {}
  const isText = typeof call['input'] === 'string'
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  return { id: textAt(call, 'id', param), name, arguments: text, isText }
}

function parseUsage(value: unknown, param: string): ScriptedTurn['usage'] {
  const given = objectAt(value ?? {}, param, Object.keys(usageMembers))
  const usage: ScriptedTurn['usage'] = {}
  for (const [name, member] of Object.entries(usageMembers)) {
    const count = given[name]
    if (count === undefined) continue
    if (typeof count !== 'number' || !Number.isSafeInteger(count))
      throw invalidRequest(`'${param}.${name}' must be a whole number.`, `${param}.${name}`)
    usage[member] = count
  }
  return usage
}

function textAt(value: JsonObject, name: string, param: string): string | null {
  const text = value[name] ?? null
  if (text === null || typeof text === 'string') return text
  throw invalidRequest(`'${param}.${name}' must be a string.`, `${param}.${name}`)
}

/** An object with none but the known members: a misspelt one would be played as if it were not there. */
export function objectAt(value: unknown, param: string, known: readonly string[]): JsonObject {
  if (!isObject(value)) throw invalidRequest(`'${param}' must be an object.`, param)
  const unknown = Object.keys(value).find((name) => !known.includes(name))
  if (unknown === undefined) return value
  const message = `'${param}' has an unknown member '${unknown}'; known are ${known.join(', ')}.`
  throw invalidRequest(message, `${param}.${unknown}`)
}
