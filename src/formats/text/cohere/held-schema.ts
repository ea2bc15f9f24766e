import { isRecord } from '../../../json/values.ts'
import { type JsonSchema, schemasIn } from '../output/json-schema.ts'

/** Keywords that Cohere does not know: https://docs.cohere.com/v2/docs/structured-outputs#unsupported-schema-features */
const unknownKeywords = [
  'anyOf',
  'allOf',
  'oneOf',
  'not',
  'if',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'contains',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
  'patternProperties',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
  'dependentSchemas',
  'dependentRequired',
] as const
/** Signs in expressions that it does not know. */
const unknownSigns = /[\^$]|\?[=!]/
const knownFormats: ReadonlySet<unknown> = new Set([undefined, 'date-time', 'uuid', 'date', 'time'])

/** Whether Cohere enforces the schema: an object, with keywords that it knows, and in every object a required member. */
export function isHeldByCohere(schema: JsonSchema): boolean {
  return schema['type'] === 'object' && [...schemasIn(schema)].every(isKnown)
}

function isKnown(schema: Readonly<Record<string, unknown>>): boolean {
  const { type, properties, required, pattern, format, additionalProperties: others, $ref } = schema
  const isObject = type === 'object' || properties !== undefined
  return (
    !unknownKeywords.some((name) => schema[name] !== undefined) &&
    (!isObject || (Array.isArray(required) && required.length > 0)) &&
    !(typeof pattern === 'string' && unknownSigns.test(pattern)) &&
    knownFormats.has(format) &&
    !isRecord(others) &&
    ($ref === undefined || (typeof $ref === 'string' && $ref.startsWith('#')))
  )
}
