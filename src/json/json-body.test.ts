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

test('long texts are not bounded, whatever they contain', () => {
  const texts = ['x'.repeat(3_000_000), '"{},'.repeat(500_000), '\\'.repeat(1_000_001), 'ü🦆'.repeat(300_000)]
  expect(outcomeOf(JSON.stringify(texts))).toEqual(texts)
})

test('the number of small values is bounded, and a body of millions is refused quickly', () => {
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

test('a body with an unclosed text is refused', () => {
  expect(outcomeOf(`{"a":"${'x'.repeat(bodyValuesBytesMax)}`)).toBe('invalid_request')
})

test('a body that is nested too deeply is refused, because writing it again would take long', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  expect(outcomeOf(nested(jsonDepthMax))).toBeArray()
  expect(outcomeOf(nested(jsonDepthMax + 1))).toBe('invalid_request')
  expect(outcomeOf(nested(100_000))).toBe('invalid_request')
})
