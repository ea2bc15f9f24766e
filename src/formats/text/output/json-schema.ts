import { isRecord } from '../../../json/values.ts'

/** A JSON schema as a caller wrote it. */
export type JsonSchema = Readonly<Record<string, unknown>>

const withOneSchema = [
  'items',
  'additionalItems',
  'unevaluatedItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
] as const
const withSchemas = ['prefixItems', 'items', 'allOf', 'anyOf', 'oneOf'] as const
const withNamedSchemas = [
  '$defs',
  'definitions',
  'properties',
  'patternProperties',
  'dependentSchemas',
] as const

/** A schema and all schemas inside it; names of properties are not keywords. */
export function* schemasIn(schema: unknown): Generator<Record<string, unknown>> {
  if (!isRecord(schema)) return
  yield schema
  for (const name of withOneSchema) yield* schemasIn(schema[name])
  for (const name of withSchemas) {
    const list = schema[name]
    if (Array.isArray(list)) for (const each of list) yield* schemasIn(each)
  }
  for (const name of withNamedSchemas) {
    const named = schema[name]
    if (isRecord(named)) for (const each of Object.values(named)) yield* schemasIn(each)
  }
}

/** Whether OpenAI's strict mode accepts the schema: all objects are closed, and all of their members required. */
export function isStrictSchema(schema: JsonSchema): boolean {
  for (const each of schemasIn(schema)) {
    if (!isObjectSchema(each)) continue
    const { properties, required } = each
    const names = isRecord(properties) ? Object.keys(properties) : []
    const needed = new Set<unknown>(Array.isArray(required) ? required : [])
    if (each['additionalProperties'] !== false || !names.every((name) => needed.has(name))) return false
  }
  return true
}

/** Keywords that Anthropic refuses in the schema of an answer. */
const refusedByAnthropic = [
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'contains',
  'patternProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
  'dependentSchemas',
  'dependentRequired',
  'oneOf',
  'not',
  'if',
] as const

/** Whether Anthropic enforces the schema: all objects are closed, and it has no keyword that Anthropic refuses. */
function isClosedSchema(schema: JsonSchema): boolean {
  for (const each of schemasIn(schema)) {
    if (refusedByAnthropic.some((name) => each[name] !== undefined)) return false
    if (isObjectSchema(each) && each['additionalProperties'] !== false) return false
  }
  return true
}

/**
 * The schema with its objects closed, as Anthropic requires; every answer that fits it fits the caller's schema too.
 * Null when that is impossible: for objects with any members, and for keywords that Anthropic refuses.
 */
export function closedSchemaOf(schema: JsonSchema): JsonSchema | null {
  const isOpenOnly = [...schemasIn(schema)].every(
    (each) =>
      !refusedByAnthropic.some((name) => each[name] !== undefined) &&
      each['allOf'] === undefined &&
      (!isObjectSchema(each) ||
        each['additionalProperties'] === false ||
        (each['additionalProperties'] === undefined && isRecord(each['properties']))),
  )
  if (!isOpenOnly) return isClosedSchema(schema) ? schema : null
  return closed(schema) as JsonSchema
}

/** A copy with objects closed; a value that is not a schema stays unchanged. */
function closed(schema: unknown): unknown {
  if (!isRecord(schema)) return schema
  const copy: Record<string, unknown> = { ...schema }
  for (const name of withOneSchema) if (isRecord(copy[name])) copy[name] = closed(copy[name])
  for (const name of withSchemas) {
    const list = copy[name]
    if (Array.isArray(list)) copy[name] = list.map(closed)
  }
  for (const name of withNamedSchemas) {
    const named = copy[name]
    if (isRecord(named))
      copy[name] = Object.fromEntries(Object.entries(named).map(([key, each]) => [key, closed(each)]))
  }
  if (isObjectSchema(copy)) copy['additionalProperties'] = false
  return copy
}

/** Keywords that constrain an answer and that Gemini does not know, or reads differently. */
const unknownToGemini = [
  'const',
  'pattern',
  'minLength',
  'maxLength',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'uniqueItems',
  'contains',
  'additionalItems',
  'unevaluatedItems',
  'patternProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
  'unevaluatedProperties',
  'dependentSchemas',
  'dependentRequired',
  'allOf',
  'oneOf',
  'not',
  'if',
] as const

/** Whether Gemini enforces the schema: it knows all of its keywords. */
export function isHeldByGemini(schema: JsonSchema): boolean {
  for (const each of schemasIn(schema)) {
    if (unknownToGemini.some((name) => each[name] !== undefined)) return false
  }
  return true
}

function isObjectSchema({ type, properties }: Readonly<Record<string, unknown>>): boolean {
  return type === 'object' || properties !== undefined || (Array.isArray(type) && type.includes('object'))
}
