import { isRecord } from '../../../json/values.ts'

/** The name of a schema when the caller gave none: most providers require a name, and any name does. */
const schemaName = 'response'

/**
 * Members after parsing, checked or not. Members too large to be parsed are absent; the provider judges them unchanged.
 */
interface ParsedMembers {
  tools?: unknown
  tool_choice?: unknown
  response_format?: unknown
}

/**
 * JSON of the members that the gateway had to complete: the caller left out a part that most providers require and that
 * vendors' own clients omit. Null for nearly every request.
 */
export function completeMembers(members: ParsedMembers): Readonly<Record<string, string>> | null {
  const { tools, tool_choice: choice, response_format: format } = members
  let completed: Record<string, string> | null = null
  const complete = (name: string, value: unknown) =>
    void (completed = { ...completed, [name]: JSON.stringify(value) })
  if (Array.isArray(tools) && tools.some(isUntyped)) complete('tools', tools.map(typed))
  if (isUntyped(choice)) complete('tool_choice', typed(choice))
  const schema = isRecord(format) ? format['json_schema'] : null
  if (isRecord(format) && isRecord(schema) && isMissing(schema['name']))
    complete('response_format', { ...format, json_schema: { ...schema, name: schemaName } })
  return completed
}

function isUntyped(tool: unknown): boolean {
  return isRecord(tool) && isMissing(tool['type'])
}

function typed(tool: unknown): unknown {
  return isRecord(tool) && isMissing(tool['type']) ? { ...tool, type: 'function' } : tool
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null
}
