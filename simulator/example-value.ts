import { isObject, type JsonObject } from './json.ts'
import { schemaDepthMax } from './limits.ts'

/** What an example is made from. */
interface ExampleSource {
  /** The whole schema, for resolving references. */
  root: JsonObject
  /** Words of the user that fill string members, so that an example relates to the request. */
  words: string
  depth: number
}

const formats: Record<string, string> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  duration: 'PT1H',
  email: 'someone@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
}

/** A value that fits a JSON schema of the kind used for tools and structured answers. Patterns are not followed. */
export function exampleOf(schema: unknown, words: string): unknown {
  const root = isObject(schema) ? schema : {}
  return example(root, { root, words, depth: 0 })
}

function example(schema: unknown, source: ExampleSource): unknown {
  if (!isObject(schema) || source.depth > schemaDepthMax) return null
  const inner = { ...source, depth: source.depth + 1 }
  if (typeof schema['$ref'] === 'string') return example(lookUp(schema['$ref'], source.root), inner)
  if (schema['const'] !== undefined) return schema['const']
  if (Array.isArray(schema['enum'])) return schema['enum'][0]
  if (Array.isArray(schema['allOf'])) return example(merged(schema, schema['allOf'], source.root), inner)
  const branches = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(branches)) return example(preferred(branches), inner)
  return ofType(schema, typeOf(schema), inner)
}

function preferred(branches: readonly unknown[]): unknown {
  return branches.find((branch) => !isObject(branch) || branch['type'] !== 'null') ?? branches[0]
}

function typeOf(schema: JsonObject): string {
  const type = schema['type']
  if (Array.isArray(type)) return String(type.find((name) => name !== 'null') ?? 'null')
  if (typeof type === 'string') return type
  return schema['items'] === undefined ? 'object' : 'array'
}

function ofType(schema: JsonObject, type: string, source: ExampleSource): unknown {
  if (type === 'string') return stringExample(schema, source.words)
  if (type === 'integer' || type === 'number') return numberExample(schema)
  if (type === 'boolean') return true
  if (type === 'array') {
    const length = Math.min(Math.max(1, bound(schema['minItems'], 1)), bound(schema['maxItems'], 64), 64)
    return Array.from({ length }, () => example(schema['items'] ?? { type: 'string' }, source))
  }
  if (type === 'object') return objectExample(schema, source)
  return null
}

function objectExample(schema: JsonObject, source: ExampleSource): JsonObject {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const value: JsonObject = {}
  for (const [name, property] of Object.entries(properties)) {
    if (source.depth >= schemaDepthMax - 1 && !isRequired(schema, name)) continue
    value[name] = example(property, source)
  }
  return value
}

function isRequired(schema: JsonObject, name: string): boolean {
  return Array.isArray(schema['required']) && schema['required'].includes(name)
}

function bound(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}

function stringExample(schema: JsonObject, words: string): string {
  const format = typeof schema['format'] === 'string' ? formats[schema['format']] : undefined
  if (format !== undefined) return format
  const text = words.padEnd(Math.min(bound(schema['minLength'], 0), 10_000), '.')
  return text.slice(0, bound(schema['maxLength'], text.length))
}

function numberExample(schema: JsonObject): number {
  const step = bound(schema['multipleOf'], 1)
  const low = bound(schema['minimum'], bound(schema['exclusiveMinimum'], Number.NaN) + step)
  const high = bound(schema['maximum'], bound(schema['exclusiveMaximum'], Number.NaN) - step)
  if (!Number.isNaN(low)) return Math.ceil(low / step) * step
  return Number.isNaN(high) ? step : Math.min(step, Math.floor(high / step) * step)
}

function merged(schema: JsonObject, parts: readonly unknown[], root: JsonObject): JsonObject {
  const { allOf: _, ...rest } = schema
  const result: JsonObject = { ...rest }
  for (const part of parts) {
    const resolved = isObject(part) && typeof part['$ref'] === 'string' ? lookUp(part['$ref'], root) : part
    if (!isObject(resolved)) continue
    const properties = { ...asObject(result['properties']), ...asObject(resolved['properties']) }
    Object.assign(result, resolved, Object.keys(properties).length > 0 ? { properties } : {})
  }
  return result
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

function lookUp(reference: string, root: JsonObject): unknown {
  let found: unknown = root
  for (const step of reference.replace(/^#\/?/, '').split('/')) {
    if (step === '') continue
    found = isObject(found) ? found[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
  }
  return found
}
