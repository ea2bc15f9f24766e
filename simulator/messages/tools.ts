import * as check from '../checks.ts'
import { invalidRequest } from '../errors.ts'
import { isObject, type JsonObject } from '../json.ts'
import type { OfferedTool, ToolChoice } from '../prompt.ts'
import { cacheControl } from './blocks.ts'

const toolName = /^[a-zA-Z0-9_-]{1,128}$/

const fields: Record<string, check.Check> = {
  type: check.string(),
  name: check.string(),
  description: check.string(),
  input_schema: check.object,
  strict: check.boolean,
  cache_control: cacheControl,
  defer_loading: check.boolean,
  eager_input_streaming: check.boolean,
  input_examples: check.listOf(check.object),
  allowed_callers: check.listOf(check.string()),
}

/**
 * The tools that Anthropic defines and the caller runs, by the beginning of their dated types, with their
 * arguments.
 */
const clientTools: Record<string, JsonObject> = {
  bash_: { command: { type: 'string' } },
  text_editor_: { command: { const: 'view' }, path: { type: 'string' } },
  memory_: { command: { const: 'view' }, path: { type: 'string' } },
  computer_: { action: { const: 'screenshot' } },
}

/**
 * Reads the offered tools. Tools that the provider runs itself are accepted and never called. Throws
 * `ApiError`.
 */
export function readTools(value: unknown, lenient: boolean): OfferedTool[] {
  if (value === undefined || value === null) return []
  check.listOf(check.object)(value, 'tools')
  const given = Array.isArray(value) ? value : []
  const names = new Set<string>()
  const offered = given.map((tool: JsonObject, at) => {
    const name = String(tool['name'])
    if (names.has(name)) throw invalidRequest('Tool names must be unique.', 'tools')
    names.add(name)
    return readTool(tool, `tools[${at}]`, lenient)
  })
  return offered.filter((tool) => tool !== null)
}

function readTool(tool: JsonObject, param: string, lenient: boolean): OfferedTool | null {
  const { type = 'custom', name } = tool
  if (type !== 'custom' && typeof type === 'string') {
    const properties = Object.entries(clientTools).find(([prefix]) => type.startsWith(prefix))?.[1]
    if (properties === undefined) return null
    return { name: String(name), parameters: { type: 'object', properties }, isCustom: false }
  }
  check.checkMembers(tool, {
    fields,
    required: ['name', 'input_schema'],
    strict: !lenient,
    prefix: `${param}.custom.`,
  })
  if (!toolName.test(String(name)))
    throw invalidRequest(`String should match pattern '${toolName.source}'`, `${param}.custom.name`)
  const schema = isObject(tool['input_schema']) ? tool['input_schema'] : {}
  if (schema['type'] !== 'object') throw invalidRequest('Field required', `${param}.custom.input_schema.type`)
  return { name: String(name), parameters: schema, isCustom: false }
}

const choiceFields = {
  type: check.oneOf('auto', 'any', 'tool', 'none'),
  name: check.string(),
  disable_parallel_tool_use: check.boolean,
}

/** How tools are to be used. */
export interface ToolUse {
  toolChoice: ToolChoice
  parallelToolCalls: boolean
}

/** Reads `tool_choice`. Throws `ApiError`. */
export function readToolChoice(value: unknown, tools: readonly OfferedTool[], isOffered: boolean): ToolUse {
  if (value === undefined || value === null)
    return { toolChoice: tools.length > 0 ? 'auto' : 'none', parallelToolCalls: true }
  check.members(choiceFields, ['type'])(value, 'tool_choice')
  const choice = isObject(value) ? value : {}
  if (!isOffered && choice['type'] !== 'none')
    throw invalidRequest('`tool_choice` may only be specified while providing `tools`.', 'tool_choice')
  const parallelToolCalls = choice['disable_parallel_tool_use'] !== true
  if (choice['type'] === 'none') return { toolChoice: 'none', parallelToolCalls }
  if (choice['type'] !== 'tool')
    return { toolChoice: choice['type'] === 'any' ? 'required' : 'auto', parallelToolCalls }
  const { name } = choice
  if (typeof name !== 'string') throw invalidRequest('Field required', 'tool_choice.tool.name')
  if (!tools.some((tool) => tool.name === name))
    throw invalidRequest(`Tool '${name}' not found in provided tools`, 'tool_choice')
  return { toolChoice: { name }, parallelToolCalls: false }
}
