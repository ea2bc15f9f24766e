import { describe, expect, test } from 'bun:test'
import { jobIdOf } from './job-id.ts'

/** Allowed ids of jobs: `/` and the like are escaped, so that an id stays one segment of the path. */
describe('the id of a job', () => {
  test.each(['1f3c-aa', 'a/b', 'MTIz+/==', '...', 'x'.repeat(256)])(
    'is a text that a path can hold: %p',
    (id) => {
      expect(jobIdOf(id)).toBe(id)
    },
  )

  test.each([
    ['nothing', ''],
    ['a number', 12],
    ['nothing said', undefined],
    ['longer than any', 'x'.repeat(257)],
    ['with a space', 'a b'],
    ['with an end of line', 'a\r\nb'],
    ['with a zero byte', 'a\u0000b'],
    ['half a character', '\ud800'],
  ])('is not %s', (_, id) => {
    expect(jobIdOf(id)).toBeNull()
  })
  test('is no step to another path', () => {
    expect(['.', '..'].map(jobIdOf)).toEqual([null, null])
  })
})
