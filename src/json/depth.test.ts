import { expect, test } from 'bun:test'
import { isNestedWithin } from './depth.ts'

const arrays = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const objects = (depth: number) => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)

test('a text is within its depth to the level', () => {
  for (const nested of [arrays, objects]) {
    expect(isNestedWithin(nested(200), 200)).toBe(true)
    expect(isNestedWithin(nested(201), 200)).toBe(false)
    expect(isNestedWithin(`{"x":${nested(199)},"y":[${nested(198)}]}`, 200)).toBe(true)
    expect(isNestedWithin(`{"x":"]","y":[${nested(199)}]}`, 200)).toBe(false)
  }
})

test('what opens one after the other is not nested', () => {
  expect(isNestedWithin(`[${'[],{},'.repeat(1_000)}0]`, 2)).toBe(true)
})

test('brackets in strings are no levels, whatever is escaped in them', () => {
  const open = '['.repeat(300)
  for (const text of [open, `\\"${open}`, `${open}\\\\`, `\\\\\\"${open}`]) {
    expect(isNestedWithin(`["${text}"]`, 10)).toBe(true)
    expect(isNestedWithin(`["${text}",${arrays(10)}]`, 10)).toBe(false)
  }
})

test('a string without end, and one of nothing but escapes, are read in no time', () => {
  const startMs = performance.now()
  expect(isNestedWithin(`["${'\\"'.repeat(1_000_000)}`, 10)).toBe(true)
  expect(isNestedWithin(`["${'\\'.repeat(2_000_000)}"]`, 10)).toBe(true)
  expect(performance.now() - startMs).toBeLessThan(5_000)
})
