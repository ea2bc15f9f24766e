import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorWords } from './error-words.ts'

test('every type of error that docs/errors.md lists has its words', () => {
  const table = readFileSync(join(import.meta.dir, '../../../docs/errors.md'), 'utf8')
  const types = [...table.matchAll(/^\| `(\w+)` \| \d{3} /gm)].map(([, type = '']) => type)
  expect(types.length).toBeGreaterThan(30)
  expect(types.filter((type) => errorWords(type) === null)).toEqual([])
  expect(errorWords('of_a_later_version')).toBeNull()
})
