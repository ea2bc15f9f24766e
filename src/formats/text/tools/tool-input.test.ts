import { expect, test } from 'bun:test'
import { toolInputOf } from './tool-input.ts'

const inputOf = (text: string) => toolInputOf({ kind: 'function', arguments: text })

test('arguments are the object that they write, with every digit', () => {
  expect(inputOf('{"a":{"b":[1]}}')).toEqual({ a: { b: [1] } })
  expect(JSON.stringify(inputOf('{"id":12345678901234567890}'))).toBe('{"id":12345678901234567890}')
  expect(inputOf(' ')).toEqual({})
  expect(toolInputOf({ kind: 'custom', arguments: 'ls' })).toEqual({ input: 'ls' })
})

test('arguments that are not an object stay text', () => {
  for (const text of ['[1]', '"a"', 'null', '{"a":', 'no']) expect(inputOf(text)).toEqual({ _raw: text })
})

test('arguments that are nested too deep to be written again stay as text, at once', () => {
  const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  const startedAtMs = performance.now()
  expect(JSON.stringify(inputOf(deep))).toBe(JSON.stringify({ _raw: deep }))
  expect(performance.now() - startedAtMs).toBeLessThan(100)
})
