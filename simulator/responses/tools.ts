import * as check from '../checks.ts'
import { invalidRequest } from '../errors.ts'
import { isObject, type JsonObject } from '../json.ts'
import { schemaDepthMax } from '../limits.ts'
import type { OfferedTool, ToolChoice } from '../prompt.ts'

const toolName = /^[a-zA-Z0-9_-]{1,64}$/

const functionFields: Record<string, check.Check> = {
  type: check.string(),
  name: check.string(),
  description: check.string(),
  parameters: check.object,
  strict: check.boolean,
  defer_loading: check.boolean,
  output_schema: check.object,
  allowed_callers: check.listOf(check.string()),
}
const customFields: Record<string, check.Check> = {
  type: check.string(),
  name: check.string(),
  description: check.string(),
  defer_loading: check.boolean,
  allowed_callers: check.listOf(check.string()),
  format: check.members(
    {
      type: check.oneOf('text', 'grammar'),
      syntax: check.oneOf('lark', 'regex'),
      definition: check.string(),
    },
    ['type'],
  ),
}
/** Tools that the provider runs itself, or that the caller runs under a name of the provider's. */
const hostedTools = [
  'file_search',
  'web_search',
  'web_search_preview',
  'computer',
  'computer_use_preview',
  'mcp',
  'code_interpreter',
  'image_generation',
  'local_shell',
  'shell',
  'apply_patch',
  'tool_search',
  'programmatic_tool_calling',
  'namespace',
]

/** Reads the offered tools. Hosted tools are accepted and never called. Throws `ApiError`. */
export function readTools(value: unknown, lenient: boolean): OfferedTool[] {
  if (!Array.isArray(value)) return []
  const read = value.map((tool: JsonObject, at) => readTool(tool, `tools[${at}]`, lenient))
  return read.filter((tool) => tool !== null)
}

function readTool(tool: JsonObject, param: string, lenient: boolean): OfferedTool | null {
  const kind = String(tool['type'])
  check.oneOf('function', 'custom', ...hostedTools)(tool['type'], `${param}.type`)
  if (hostedTools.includes(kind)) return null
  const fields = kind === 'custom' ? customFields : functionFields
  check.checkMembers(tool, { fields, required: ['name'], strict: !lenient, prefix: `${param}.` })
  const name = String(tool['name'])
  if (!toolName.test(name)) {
    const message = `Invalid '${param}.name': 1 to 64 letters, digits, dashes and underscores are expected.`
    throw invalidRequest(message, `${param}.name`, 'invalid_value')
  }
  const parameters = isObject(tool['parameters']) ? tool['parameters'] : {}
  if (tool['strict'] === true) {
    const fault = strictFault(parameters, 0)
    const message = `Invalid schema for function '${name}': ${fault}.`
    if (fault !== null) throw invalidRequest(message, `${param}.parameters`, 'invalid_function_parameters')
  }
  return { name, parameters, isCustom: kind === 'custom' }
}

/** The reason why the model cannot be held to a schema exactly; null when it can. */
export function strictFault(schema: unknown, depth: number): string | null {
  if (!isObject(schema) || depth > schemaDepthMax) return null
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  if (schema['type'] === 'object') {
    if (schema['additionalProperties'] !== false)
      return "'additionalProperties' is required to be supplied and to be false"
    const required: unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
    const missing = Object.keys(properties).find((name) => !required.includes(name))
    if (missing !== undefined)
      return `'required' is required to be an array including every key in properties. Missing '${missing}'`
  }
  const branches = Array.isArray(schema['anyOf']) ? schema['anyOf'] : []
  const named = isObject(schema['$defs']) ? Object.values(schema['$defs']) : []
  for (const inner of [...Object.values(properties), ...branches, ...named, schema['items']]) {
    const fault = strictFault(inner, depth + 1)
    if (fault !== null) return fault
  }
  return null
}

/** Reads `tool_choice`. Throws `ApiError`. */
export function readToolChoice(
  value: unknown,
  tools: readonly OfferedTool[],
  isOffered: boolean,
): ToolChoice {
  if (value === undefined || value === null) return tools.length > 0 ? 'auto' : 'none'
  if (value === 'none' || value === 'auto') return value
  if (!isOffered)
    throw invalidRequest("Tool choice 'required' must be specified with 'tools' parameter.", 'tool_choice')
  if (value === 'required') return 'required'
  const choice = isObject(value) ? value : {}
  const { type, name } = choice
  if (type === 'allowed_tools') return choice['mode'] === 'required' ? 'required' : 'auto'
  if (typeof type === 'string' && hostedTools.includes(type)) return 'auto'
  if (typeof name === 'string' && tools.some((tool) => tool.name === name)) return { name }
  const message = `Tool choice '${String(name)}' not found in 'tools' parameter.`
  throw invalidRequest(message, 'tool_choice')
}
