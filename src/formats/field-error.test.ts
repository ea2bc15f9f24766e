import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { decodeChatRequest } from './text/chat/read-request.ts'
import { parseField } from './field-error.ts'
import { decodeResponsesRequest } from './text/responses/read-request.ts'

const schema = z.strictObject({
  sort: z.union([z.enum(['price', 'latency']), z.object({ by: z.string() })]).optional(),
  only: z.array(z.string().min(1, { error: 'must not be empty' })).optional(),
  isShown: z.boolean({ error: (issue) => (issue.input === 7 ? 'must not be seven' : undefined) }),
  text: z.string().max(3).optional(),
})

function refusalOf(name: string, value: unknown): unknown {
  try {
    return parseField(schema, name, value)
  } catch (error) {
    return error
  }
}

describe('a refusal names the member, its fault, and the allowed values', () => {
  test.each<[unknown, string, string]>([
    [{}, 'provider.isShown', 'is required; send a boolean.'],
    [{ isShown: null }, 'provider.isShown', 'must be a boolean, not null.'],
    [{ isShown: 'yes' }, 'provider.isShown', 'must be a boolean, not string.'],
    [{ isShown: 7 }, 'provider.isShown', 'must not be seven.'],
    [{ isShown: true, only: ['a', ''] }, 'provider.only[1]', 'must not be empty.'],
    [{ isShown: true, name: 1 }, 'provider.name', 'is not a known member. Leave it out or correct its name.'],
    [{ isShown: true, text: 'long' }, 'provider.text', 'must have at most 3 characters.'],
    [{ isShown: true, sort: 'fast' }, 'provider.sort', 'must be one of "price", "latency", or an object.'],
    [{ isShown: true, sort: { by: 1 } }, 'provider.sort.by', 'must be a string, not number.'],
    [[], 'provider', 'must be an object, not array.'],
  ])('%j', (value, param, problem) => {
    expect(refusalOf('provider', value)).toMatchObject({ param, message: `"${param}" ${problem}` })
  })
})

test('bounds that formats count themselves are reported in the same words', () => {
  const pairs = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v']))
  const context = { sessionIdHeader: null }
  const wire = (more: object) => Buffer.from(JSON.stringify({ model: 'a/b', ...more }))
  const messages = [{ role: 'user', content: 'x' }]
  const tooLong = '"user" must have at most 256 characters.'
  const tooMany = '"metadata" must have at most 16 pairs.'
  expect(() => decodeChatRequest(wire({ messages, user: 'u'.repeat(257) }), context)).toThrow(tooLong)
  expect(() => decodeChatRequest(wire({ messages, metadata: pairs }), context)).toThrow(tooMany)
  expect(() => decodeResponsesRequest(wire({ input: 'x', user: 'u'.repeat(257) }), context)).toThrow(tooLong)
  expect(() => decodeResponsesRequest(wire({ input: 'x', metadata: pairs }), context)).toThrow(tooMany)
})

test('of a whole body the members have no prefix', () => {
  expect(refusalOf('', { isShown: 1 })).toMatchObject({ param: 'isShown' })
  expect(refusalOf('', { isShown: true, name: 1 })).toMatchObject({ param: 'name' })
  expect(refusalOf('', [])).toMatchObject({
    param: 'body',
    message: 'The request body must be an object, not array.',
  })
})
