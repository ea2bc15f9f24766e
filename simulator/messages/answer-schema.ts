import * as check from '../checks.ts'
import { invalidRequest } from '../errors.ts'
import { isObject, type JsonObject } from '../json.ts'
import { schemaDepthMax } from '../limits.ts'

/** Keywords that Anthropic's structured answers do not support; a schema with one is refused. */
const unsupported = [
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'maxItems',
  'uniqueItems',
]

/** Reads the wanted form of an answer; null for text. Throws `ApiError` for a schema that cannot be promised. */
export function readAnswerSchema(format: unknown, param: string): JsonObject | null {
  if (format === undefined || format === null) return null
  check.members({ type: check.oneOf('json_schema'), schema: check.object }, ['type', 'schema'])(format, param)
  const schema = isObject(format) && isObject(format['schema']) ? format['schema'] : {}
  refuseUnsupported(schema, `${param}.schema`, 0)
  return schema
}

function refuseUnsupported(schema: unknown, param: string, depth: number): void {
  if (Array.isArray(schema)) {
    for (const entry of schema) refuseUnsupported(entry, param, depth)
    return
  }
  if (!isObject(schema) || depth > schemaDepthMax) return
  const name = unsupported.find((keyword) => schema[keyword] !== undefined)
  if (name !== undefined)
    throw invalidRequest(`For '${String(schema['type'])}' type, property '${name}' is not supported`, param)
  if (schema['type'] === 'object' && schema['additionalProperties'] !== false) {
    const message = "For 'object' type, 'additionalProperties' must be explicitly set to false"
    throw invalidRequest(message, param)
  }
  for (const member of ['items', 'anyOf', 'allOf', 'oneOf'])
    refuseUnsupported(schema[member], param, depth + 1)
  for (const member of ['properties', '$defs', 'definitions']) {
    const named = isObject(schema[member]) ? schema[member] : {}
    for (const inner of Object.values(named)) refuseUnsupported(inner, param, depth + 1)
  }
}
