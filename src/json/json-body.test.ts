import { expect, test } from 'bun:test'
import { GatewayError } from '../core/errors.ts'
import { bodyValuesBytesMax, jsonDepthMax } from '../core/limits/text.ts'
import { parseJsonBody } from './json-body.ts'

function outcomeOf(json: string): unknown {
  try {
    return parseJsonBody(Buffer.from(json))
  } catch (error) {
    return error instanceof GatewayError ? error.type : error
  }
}

test('long texts may be as long as they are, whatever is in them', () => {
  const texts = ['x'.repeat(3_000_000), '"{},'.repeat(500_000), '\\'.repeat(1_000_001), 'ü🦆'.repeat(300_000)]
  expect(outcomeOf(JSON.stringify(texts))).toEqual(texts)
})

test('small values are bounded, and a body of millions is refused in no time', () => {
  const many = 4_000_000
  for (const value of ['{}', '0', '""', '"k":0', ' ']) {
    const json = `[${`${value},`.repeat(many)}0]`
    const startMs = performance.now()
    expect(outcomeOf(json)).toBe('payload_too_large')
    expect(performance.now() - startMs).toBeLessThan(5_000)
  }
  const fitting = `[${'0,'.repeat(bodyValuesBytesMax / 2 - 2)}0]`
  expect(outcomeOf(fitting)).toBeArray()
})

test('a text without end is no JSON', () => {
  expect(outcomeOf(`{"a":"${'x'.repeat(bodyValuesBytesMax)}`)).toBe('invalid_request')
})

test('a body is refused beyond its depth, which would take long to write again', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  expect(outcomeOf(nested(jsonDepthMax))).toBeArray()
  expect(outcomeOf(nested(jsonDepthMax + 1))).toBe('invalid_request')
  expect(outcomeOf(nested(100_000))).toBe('invalid_request')
})
