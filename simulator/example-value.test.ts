import { describe, expect, test } from 'bun:test'
import { exampleOf } from './example-value.ts'

describe('an example of a JSON schema', () => {
  test('has every property in its type', () => {
    const schema = {
      type: 'object',
      properties: {
        city: { type: 'string' },
        unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
        days: { type: 'integer', minimum: 3, maximum: 10 },
        ratio: { type: 'number', maximum: 0 },
        exact: { type: 'boolean' },
        tags: { type: 'array', items: { type: 'string', maxLength: 2 }, minItems: 2 },
        note: { type: ['string', 'null'], format: 'date' },
        kind: { const: 'forecast' },
      },
      required: ['city'],
    }
    expect(exampleOf(schema, 'Paris')).toEqual({
      city: 'Paris',
      unit: 'celsius',
      days: 3,
      ratio: 0,
      exact: true,
      tags: ['Pa', 'Pa'],
      note: '2026-01-31',
      kind: 'forecast',
    })
  })

  test('follows references, unions and intersections', () => {
    const schema = {
      $defs: { point: { type: 'object', properties: { x: { type: 'number' } } } },
      anyOf: [
        { type: 'null' },
        { allOf: [{ $ref: '#/$defs/point' }, { properties: { y: { type: 'integer' } } }] },
      ],
    }
    expect(exampleOf(schema, '')).toEqual({ x: 1, y: 1 })
  })

  test('of a schema that contains itself ends', () => {
    const schema = { type: 'object', properties: { child: { $ref: '#' } } }
    expect(JSON.stringify(exampleOf(schema, '')).length).toBeLessThan(1_000)
  })
})
