import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// docs/conformance.md is written by hand, so it is compared with the tests in both directions.

const clause = /\d\.(?:\d+\.)?[a-z]*\d+[a-z]?|\d\.\d+[a-z]?/

/** Numbers of the tests in this folder, in the order of the files. */
function testedClauses(): string[] {
  const files = readdirSync(import.meta.dir).filter((name) => name.endsWith('.test.ts'))
  return files.flatMap((name) => {
    const source = readFileSync(join(import.meta.dir, name), 'utf8')
    const names = source.matchAll(
      new RegExp(`^ *(?:test\\(|\\[)?['\`](${clause.source}) [^'\`]+['\`],`, 'gm'),
    )
    return [...names].map(([, number = '']) => number)
  })
}

/** Numbers that the page names in its second columns, with repetitions. */
function documentedClauses(): string[] {
  const page = readFileSync(join(import.meta.dir, '../../docs/conformance.md'), 'utf8')
  const rows = [...page.matchAll(/^\| (?!Clause|-)(.+?) \| (.+?) \|/gm)]
  return rows.flatMap(([, , numbers = '']) => numbers.split(', '))
}

test('every test of the contract is in the table, and every clause of the table has its tests', () => {
  expect([...new Set(documentedClauses())].toSorted()).toEqual(testedClauses().toSorted())
})

test('the tests are many, and no two have one number', () => {
  const numbers = testedClauses()
  expect(numbers.length).toBeGreaterThan(150)
  expect(new Set(numbers).size).toBe(numbers.length)
})
