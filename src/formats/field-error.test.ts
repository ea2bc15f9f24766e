import { expect, test } from 'bun:test'
import { z } from 'zod'
import { parseField } from './field-error.ts'

const schema = z.object({ sort: z.union([z.enum(['price', 'latency']), z.object({ by: z.string() })]) })

function refusalOf(value: unknown): unknown {
  try {
    return parseField(schema, 'provider', value)
  } catch (error) {
    return error
  }
}

test('a member that may be one of several things is told what they are', () => {
  expect(refusalOf({ sort: 'fast' })).toMatchObject({
    param: 'provider.sort',
    message:
      '"provider.sort" is not valid: invalid option: expected one of "price"|"latency", or expected object, received string. Correct it or leave it out.',
  })
})

test('of a member that is nearly one of them, the place that is wrong is named', () => {
  expect(refusalOf({ sort: { by: 1 } })).toMatchObject({ param: 'provider.sort.by' })
})
