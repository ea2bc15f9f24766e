import { expect, test } from 'bun:test'
import { carrySecret, plainText, scaled } from './litellm-values.ts'

test('amounts are moved by powers of ten exactly, however they are written', () => {
  const cases: [string, number, string | null][] = [
    ['0.00000015', 6, '0.15'],
    ['1.5e-7', 6, '0.15'],
    ['1e-5', 6, '10'],
    ['0.00001', 6, '10'],
    ['2.5E-06', 6, '2.5'],
    ['0', 6, '0'],
    ['0.0', 6, '0'],
    ['.5', 0, '0.5'],
    ['12', 6, '12000000'],
    ['0.000000000001', 6, '0.000001'],
    ['1_000', 6, null],
    ['', 6, null],
    ['-1', 6, null],
    ['free', 6, null],
  ]
  for (const [text, power, expected] of cases) expect([text, scaled(text, power)]).toEqual([text, expected])
})

test('a secret is named by its variable, and a secret in the file by a separate file', () => {
  const sources = { variables: new Map(), env: {} }
  expect(carrySecret('os.environ/OPENAI_API_KEY', 'openai', sources)).toEqual({
    reference: '${env:OPENAI_API_KEY}',
  })
  expect(carrySecret('sk-abc', 'openai', sources)).toEqual({
    reference: '${file:./secrets/openai}',
    stored: { file: 'secrets/openai', text: 'sk-abc' },
  })
  expect(plainText('os.environ/BASE', { variables: new Map(), env: { BASE: 'http://a' } })).toBe('http://a')
  expect(plainText('os.environ/BASE', sources)).toBeNull()
})
