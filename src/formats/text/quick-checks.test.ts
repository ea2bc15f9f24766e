import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { chatRequestShape } from './chat/request-schema.ts'
import { quickChecks } from './quick-checks.ts'

const odd = [
  null,
  true,
  '',
  'x',
  'x'.repeat(257),
  '🎧'.repeat(200),
  0,
  -0,
  1,
  -1,
  1.5,
  2,
  2.000_1,
  128,
  129,
  20,
  21,
  2 ** 53,
  -(2 ** 53),
  Number.POSITIVE_INFINITY,
  Number.NaN,
  [],
  {},
  { include_usage: true },
  { include_usage: 1 },
  { include_usage: null },
  [{ type: 'function', function: { name: 'f' } }],
  [{ type: 'function', function: { name: 'f', description: null, parameters: {}, strict: false }, more: 1 }],
  [{ type: 'function', function: { name: '' } }],
  [{ type: 'function', function: { name: 'f', parameters: [] } }],
  [{ type: 'function', function: { name: 'f', strict: 'yes' } }],
  [{ type: 'function', function: { name: 'f', description: 1 } }],
  [{ function: { name: 'f' } }],
  [{ type: 'custom', custom: { name: 'c' } }],
  [null],
]

const anything = fc.oneof(fc.constantFrom(...odd), fc.jsonValue(), fc.integer(), fc.double())

test.each(Object.entries(quickChecks))(
  '%s: the schema accepts every value that the quick check accepts, unchanged',
  (name, check) => {
    const schema = chatRequestShape[name as keyof typeof chatRequestShape]
    const agrees = (value: unknown): void => {
      if (!check?.(value)) return
      const parsed = schema.safeParse(value)
      expect(parsed.error).toBeUndefined()
      // Objects are compared only as far as they were checked.
      if (typeof value !== 'object') expect<unknown>(parsed.data).toEqual(value)
    }
    for (const value of odd) agrees(value)
    fc.assert(fc.property(anything, agrees), { numRuns: 500 })
    // A check that accepts nothing would agree with every schema and be useless.
    expect([...odd, 'x', 1, true].some((value) => check?.(value))).toBe(true)
  },
)
