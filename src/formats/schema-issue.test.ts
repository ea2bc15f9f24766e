import { expect, test } from 'bun:test'
import { z } from 'zod'
import { describeIssue } from './schema-issue.ts'

function textsOf(schema: z.ZodType, value: unknown): string[] {
  const result = schema.safeParse(value, { reportInput: true, error: describeIssue })
  return result.error?.issues.map(({ message }) => message) ?? []
}

test.each<[z.ZodType, unknown, string]>([
  [z.number().min(1), 0, 'must be a number of at least 1'],
  [z.number().max(2), 3, 'must be a number of at most 2'],
  [z.number().positive(), 0, 'must be a number above 0'],
  [z.number().lt(1), 1, 'must be a number below 1'],
  [z.int(), 1.5, 'must be a whole number'],
  [z.int(), '1', 'must be a number, not string'],
  [z.int(), 2 ** 60, `must be a number of at most ${Number.MAX_SAFE_INTEGER}`],
  [z.number().multipleOf(5), 3, 'must be a multiple of 5'],
  [z.string(), undefined, 'is required; send a string'],
  [z.string(), null, 'must be a string, not null'],
  [z.boolean(), [], 'must be a boolean, not array'],
  [z.record(z.string(), z.string()), 1, 'must be an object, not number'],
  [z.string().min(1), '', 'must not be empty'],
  [z.string().min(2), 'a', 'must have at least 2 characters'],
  [z.string().length(2), 'a', 'must have exactly 2 characters'],
  [z.array(z.int()).min(1), [], 'must have at least 1 entry'],
  [z.array(z.int()).max(1), [1, 2], 'must have at most 1 entry'],
  [z.enum(['a', 'b']), 'c', 'must be one of "a", "b"'],
  [z.literal('a'), 'c', 'must be "a"'],
  [z.literal(false), true, 'must be false'],
  [z.union([z.string(), z.array(z.string())]), 1, 'must be a string, or an array'],
  [z.union([z.string(), z.array(z.string())]), undefined, 'is required; send a string, or an array'],
  [z.union([z.number().min(1), z.literal('all')]), 0, 'must be a number of at least 1'],
  [z.union([z.url(), z.literal(7)]), 8, 'must be a string, or 7'],
  [z.strictObject({}), { x: 1 }, 'has members that are not known: "x"'],
  [
    z.record(z.string().max(1), z.int()),
    { ab: 1 },
    'has a member with a name that must have at most 1 character',
  ],
  [z.string().regex(/^a$/), 'b', 'has another form than expected'],
  [z.url(), 'b', 'must be an address, such as https://example.com'],
  [z.string().refine(() => false), 'b', 'has a value that is not allowed'],
  [
    z.discriminatedUnion('type', [z.object({ type: z.literal('a') })]),
    { type: 'b' },
    'has none of the forms that are known',
  ],
  [z.string('must be of gold'), 1, 'must be of gold'],
])('%#: %j is described in words of this program', (schema, value, text) => {
  expect(textsOf(schema, value)).toEqual([text])
})
