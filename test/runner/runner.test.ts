import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArguments, selectFiles } from './arguments.ts'
import { compareDatabases } from './database-counts.ts'
import { RunReport } from './report.ts'
import { parseSummary } from './summary.ts'
import { keepTimings, slowestLine } from './timings.ts'

describe('arguments', () => {
  test('what has no dash chooses files, and the value of an option stays with it', () => {
    expect(parseArguments(['billing', '-t', 'pays once', '--bail', '2', 'http'])).toEqual({
      filters: ['billing', 'http'],
      options: ['-t', 'pays once', '--bail', '2'],
      isVerbose: false,
      keepsTimings: false,
    })
  })

  test('benchmarks and the sabotage proofs are not part of the run', () => {
    const files = [
      'src/core/money.test.ts',
      'bench/x.test.ts',
      'test/sabotage/x.test.ts',
      'test/e2e/x.test.ts',
    ]
    expect(selectFiles(files, [])).toEqual(['./src/core/money.test.ts', './test/e2e/x.test.ts'])
    expect(selectFiles(files, ['./test/e2e'])).toEqual(['./test/e2e/x.test.ts'])
  })
})

describe('summary', () => {
  const complete =
    '\u001b[32m 12 pass\u001b[0m\n 2 skip\n 1 todo\n 0 fail\n 40 expect() calls\nRan 15 tests across 3 files. [1.00s]\n'

  test('the numbers are those of the last count', () => {
    expect(parseSummary(` 99 pass\n${complete}`, 0)).toEqual({ passed: 12, failed: 0, skipped: 3 })
  })

  test('a run that ends without a count failed, whatever its exit code', () => {
    expect(parseSummary('bun test v1.4.5\n', 0)).toEqual({ passed: 0, failed: 1, skipped: 0 })
  })

  test('a failing exit code is a failure, whatever was counted', () => {
    expect(parseSummary(complete, 1).failed).toBe(1)
  })
})

describe('the two databases', () => {
  const lines = '{"database":"sqlite","tests":3}\n{"database":"postgres","tests":2}\n'

  test('a test that ran on one database only is a problem', () => {
    expect(compareDatabases(lines, null).problem).toContain('3 tests ran on SQLite and 2 on PostgreSQL')
  })

  test('equal counts are no problem', () => {
    expect(compareDatabases(`${lines}{"database":"postgres","tests":1}\n`, null)).toEqual({
      line: 'database tests: 3 on SQLite, 3 on PostgreSQL',
      problem: null,
    })
  })

  test('a missing PostgreSQL is said, even when no database test ran', () => {
    expect(compareDatabases('', 'PostgreSQL is not installed')).toEqual({
      line: null,
      problem: expect.stringContaining('not installed'),
    })
  })
})

describe('report', () => {
  const shown = (text: string, isGreen: boolean): string => {
    let written = ''
    const report = new RunReport((piece) => (written += piece))
    for (const piece of text.split(/(?<=e)/)) report.push(piece)
    report.end(isGreen)
    return written
  }
  const noise = '\na.test.ts:\nerror: broken off\n      at body\n'
  const results = '\nb.test.ts:\n(pass) one\n\na.test.ts:\n(pass) two [1.00ms]\n(skip) three\n'

  test('files whose tests pass are silent, whatever they print, save what they skipped', () => {
    const counts = '\n 2 pass\n 1 skip\n 0 fail\nRan 3 tests across 2 files. [1.00s]\n'
    expect(shown(noise + results + counts, true)).toBe('a.test.ts: 1 skipped\n')
  })

  test('a file of which a test fails is shown whole, with what it printed before, and then the count', () => {
    const failed = '\na.test.ts:\nthe reason\n(fail) four\n(pass) five\n\nc.test.ts:\nmore noise\n'
    const written = shown(
      `${noise}${results}${failed}\n 3 pass\n 1 fail\nRan 5 tests across 3 files.\n`,
      false,
    )
    expect(written).toStartWith('\na.test.ts:\nerror: broken off\n      at body\n')
    expect(written).toContain('the reason\n(fail) four\n')
    expect(written).not.toContain('more noise')
    expect(written).toEndWith(' 3 pass\n 1 fail\nRan 5 tests across 3 files.\n')
  })

  test('a file that cannot be loaded is shown', () => {
    const text =
      '\nc.test.ts:\n\n# Unhandled error between tests\n-----\nerror: no\n\n 0 pass\n 1 fail\n 1 error\n'
    expect(shown(text, false)).toContain('c.test.ts:\n\n# Unhandled error between tests\n-----\nerror: no')
  })
})

describe('timings', () => {
  test('the slowest of the files that ran are told, and slow files that exist are kept', () => {
    const folder = mkdtempSync(join(tmpdir(), 'headrace-timings-'))
    const measured = join(folder, 'measured.json')
    const kept = join(folder, 'kept.json')
    const own = 'test/runner/runner.test.ts'
    const files = { [own]: 2_345.6, 'test/tidy.test.ts': 12, 'test/gone.test.ts': 9_000 }
    writeFileSync(measured, JSON.stringify({ version: 1, files }))
    expect(slowestLine(measured, [`./${own}`, './test/tidy.test.ts'])).toBe(
      `slowest files: ${own} 2.3 s, test/tidy.test.ts 0.0 s`,
    )
    expect(slowestLine(join(folder, 'missing.json'), [`./${own}`])).toBeNull()
    keepTimings(measured, kept)
    expect(JSON.parse(readFileSync(kept, 'utf8'))).toEqual({ version: 1, files: { [own]: 2_300 } })
    rmSync(folder, { recursive: true })
  })
})
