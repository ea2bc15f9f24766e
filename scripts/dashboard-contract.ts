import { isRecord, listOrEmpty, recordOrEmpty, textOrEmpty } from '../src/json/values.ts'

type Json = Readonly<Record<string, unknown>>

const reference = '#/components/schemas/'

/**
 * The types of the API for the dashboard, from the document that `/openapi.json` serves: `Schemas`, and `Operations`
 * with the query, the body and the answer of each `METHOD /path`.
 */
export function dashboardContract(document: Json): string {
  const schemas = recordOrEmpty(recordOrEmpty(document['components'])['schemas'])
  const names = Object.entries(schemas).map(
    ([name, schema]) => `  ${name}: ${typeOf(recordOrEmpty(schema), 1)}`,
  )
  const operations = Object.entries(recordOrEmpty(document['paths'])).flatMap(([path, methods]) =>
    Object.entries(recordOrEmpty(methods)).map(([method, operation]) =>
      operationOf(`${method.toUpperCase()} ${path}`, recordOrEmpty(operation)),
    ),
  )
  return `// Generated from the API description by \`npm run check -- --fix\`; do not edit.

export interface Schemas {
${names.join('\n')}
}

export interface Operations {
${operations.join('\n')}
}
`
}

function operationOf(key: string, operation: Json): string {
  const query = listOrEmpty(operation['parameters'])
    .map(recordOrEmpty)
    .filter((parameter) => parameter['in'] === 'query')
    .map(
      (parameter) =>
        `${memberName(textOrEmpty(parameter['name']))}?: ${typeOf(recordOrEmpty(parameter['schema']), 3)}`,
    )
  const queryType = query.length === 0 ? 'Record<never, never>' : `{ ${query.join('; ')} }`
  const body = contentType(recordOrEmpty(operation['requestBody'])) ?? 'undefined'
  const answers = Object.entries(recordOrEmpty(operation['responses'])).filter(([status]) =>
    status.startsWith('2'),
  )
  const types = new Set(answers.map(([, answer]) => contentType(recordOrEmpty(answer)) ?? 'null'))
  const answer = types.size === 0 ? 'null' : [...types].join(' | ')
  return `  '${key}': {\n    query: ${queryType}\n    body: ${body}\n    answer: ${answer}\n  }`
}

/** The type of the JSON of a body; undefined where it has none. */
function contentType(described: Json): string | undefined {
  const json = recordOrEmpty(recordOrEmpty(described['content'])['application/json'])
  return isRecord(json['schema']) ? typeOf(json['schema'], 2) : undefined
}

function typeOf(schema: Json, depth: number): string {
  const { $ref, anyOf, oneOf, type } = schema
  if (typeof $ref === 'string') return `Schemas['${$ref.slice(reference.length)}']`
  if ('const' in schema) return JSON.stringify(schema['const'])
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => JSON.stringify(value)).join(' | ')
  const choices = anyOf ?? oneOf
  if (Array.isArray(choices)) return unionOf(choices.map((choice) => typeOf(recordOrEmpty(choice), depth)))
  if (Array.isArray(type))
    return unionOf(type.map((one) => typeOf({ ...schema, type: one as unknown }, depth)))
  return plainType(schema, depth)
}

function plainType(schema: Json, depth: number): string {
  switch (schema['type']) {
    case 'string':
      return 'string'
    case 'number':
    case 'integer':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    case 'array': {
      const item = typeOf(recordOrEmpty(schema['items']), depth)
      return item.includes('|') ? `(${item})[]` : `${item}[]`
    }
    case 'object':
      return objectType(schema, depth)
    default:
      return 'unknown'
  }
}

function objectType(schema: Json, depth: number): string {
  const properties = Object.entries(recordOrEmpty(schema['properties']))
  const rest = schema['additionalProperties']
  if (properties.length === 0) {
    return isRecord(rest) && Object.keys(rest).length > 0
      ? `Record<string, ${typeOf(rest, depth)}>`
      : 'Record<string, unknown>'
  }
  const required = new Set(listOrEmpty(schema['required']))
  const indent = '  '.repeat(depth + 1)
  const members = properties.map(
    ([name, value]) =>
      `${indent}${memberName(name)}${required.has(name) ? '' : '?'}: ${typeOf(recordOrEmpty(value), depth + 1)}`,
  )
  return `{\n${members.join('\n')}\n${'  '.repeat(depth)}}`
}

function unionOf(types: readonly string[]): string {
  return [...new Set(types)].join(' | ')
}

function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`
}
