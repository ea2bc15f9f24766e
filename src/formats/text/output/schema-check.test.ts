import { expect, test } from 'bun:test'
import { fitsSchema, uncheckedKeyword } from './schema-check.ts'

type Schema = Record<string, unknown>

const city: Schema = {
  type: 'object',
  properties: { city: { type: 'string', minLength: 2, maxLength: 3 }, size: { type: ['integer', 'null'] } },
  required: ['city'],
  additionalProperties: false,
}
const tree: Schema = {
  $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, required: ['next'] } },
  anyOf: [{ $ref: '#/$defs/node' }, { const: null }],
}

const branches = JSON.parse(
  '{"if":{"type":"string"},"then":{"minLength":2},"else":{"type":"number"}}',
) as Schema

// The meaning of each keyword is that of JSON Schema 2020-12.
test.each<[Schema, unknown, boolean]>([
  [city, { city: 'Ulm' }, true],
  [city, { city: 'Ulm', size: null }, true],
  [city, { city: 'Ulm', size: 1.5 }, false],
  [city, { city: 'U' }, false],
  // A character is a code point.
  [city, { city: '🎧🎧🎧' }, true],
  [city, { city: '🎧🎧🎧🎧' }, false],
  [city, { city: 'Ulm', more: 1 }, false],
  [city, {}, false],
  [city, [], false],
  [{ additionalProperties: { type: 'number' } }, { a: 1 }, true],
  [{ additionalProperties: { type: 'number' } }, { a: 'x' }, false],
  [{ type: 'number' }, 1.5, true],
  [{ type: 'integer' }, 1, true],
  [{ type: 'integer' }, 1.5, false],
  [{ type: 'array', items: { type: 'boolean' }, minItems: 1, maxItems: 2 }, [true], true],
  [{ type: 'array', items: { type: 'boolean' }, minItems: 1, maxItems: 2 }, [], false],
  [{ type: 'array', items: { type: 'boolean' } }, [1], false],
  [{ prefixItems: [{ type: 'string' }], items: false }, ['x'], true],
  [{ prefixItems: [{ type: 'string' }], items: false }, ['x', 1], false],
  [{ minimum: 1, exclusiveMaximum: 2 }, 1, true],
  [{ minimum: 1, exclusiveMaximum: 2 }, 2, false],
  [{ exclusiveMinimum: 1, maximum: 2 }, 1, false],
  [{ multipleOf: 0.1 }, 0.3, true],
  [{ multipleOf: 0.1 }, 0.35, false],
  [{ minProperties: 1, maxProperties: 1 }, { a: 1 }, true],
  [{ minProperties: 1, maxProperties: 1 }, { a: 1, b: 2 }, false],
  [{ enum: [1, { a: [1] }] }, { a: [1] }, true],
  [{ enum: [1, { a: [1] }] }, { a: [2] }, false],
  [{ const: { a: null } }, { a: null }, true],
  [{ const: { a: null } }, { a: null, b: 1 }, false],
  [{ allOf: [{ type: 'string' }, { maxLength: 1 }] }, 'xx', false],
  [{ oneOf: [{ type: 'number' }, { type: 'integer' }] }, 1, false],
  [{ oneOf: [{ type: 'number' }, { type: 'integer' }] }, 1.5, true],
  [{ not: { type: 'string' } }, 'x', false],
  [branches, 'x', false],
  [branches, 1, true],
  [branches, true, false],
  [tree, { next: { next: null } }, false],
  [tree, null, true],
  [{ $defs: { 'a/b~c': { type: 'string' } }, $ref: '#/$defs/a~1b~0c' }, 'x', true],
  [{ $defs: { 'a/b~c': { type: 'string' } }, $ref: '#/$defs/a~1b~0c' }, 1, false],
  // Annotations do not constrain.
  [{ format: 'date', title: 'x', default: 1 }, 'one day', true],
])('%j of %j: %p', (schema, value, isFit) => {
  expect(uncheckedKeyword(schema)).toBeNull()
  expect(fitsSchema(value, schema)).toBe(isFit)
})

test.each<[string, Schema]>([
  ['pattern', { properties: { a: { pattern: 'x' } } }],
  ['uniqueItems', { uniqueItems: true }],
  ['dependentRequired', { dependentRequired: { a: ['b'] } }],
  ['contains', { anyOf: [{ contains: {} }] }],
  ['$ref', { $ref: 'https://example.com/schema' }],
  ['$ref', { $ref: '#/$defs/none' }],
  // The value here is not a schema, so its keywords were not searched.
  ['$ref', { $ref: '#/x0', x0: { pattern: '^(a+)+$' } }],
  ['$ref', { $ref: '#/properties', properties: { a: {} } }],
])('"%s" is told where answers cannot be held to it', (keyword, schema) => {
  expect(uncheckedKeyword(schema)).toBe(keyword)
})

function doubling(levels: number): Schema {
  const defs: Schema = { end: { type: 'string' } }
  for (let level = 0; level < levels; level += 1) {
    const next = { $ref: level + 1 === levels ? '#/$defs/end' : `#/$defs/n${level + 1}` }
    defs[`n${level}`] = { allOf: [next, next] }
  }
  return { $defs: defs, $ref: '#/$defs/n0' }
}

const many = Array.from({ length: 60_000 }, (_, index) => `name${index}`)

test.each<[string, Schema, unknown]>([
  ['references that double', doubling(60), 'x'],
  ['a reference to itself', { $ref: '#' }, 'x'],
  ['a long list of types', { items: { type: many } }, many],
  ['a long list of values', { items: { enum: many } }, many],
  ['a long list of names', { items: { required: many } }, many.map(() => ({}))],
  ['long texts', { items: { maxLength: 1 } }, Array.from({ length: 200 }, () => '🎧'.repeat(60_000))],
])('%s: the check ends within its bound', (_, schema, value) => {
  const startedMs = process.cpuUsage().user / 1000
  let isFit: boolean | null = null
  try {
    isFit = fitsSchema(value, schema)
  } catch (error) {
    expect(error).toBeInstanceOf(RangeError)
  }
  expect(isFit).not.toBe(true)
  // Without the bound each of these would take minutes or never end.
  expect(process.cpuUsage().user / 1000 - startedMs).toBeLessThan(1_500)
})
