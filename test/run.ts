/**
 * `npm test`: one PostgreSQL for the whole run when it is installed, every test file once, and a count as the last line.
 *
 * Arguments without a dash choose files (a part of the path is enough); the others go to `bun test`. Files whose tests
 * pass are silent; `--verbose` shows all that files print. The slowest files are started first, after
 * `test/runner/timings.json`, which a whole run with `--keep-timings` writes anew.
 * With `CI=true` a missing PostgreSQL, or a test that ran on one of the two databases only, fails the run.
 */
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArguments, selectFiles } from './runner/arguments.ts'
import { compareDatabases } from './runner/database-counts.ts'
import { RunReport } from './runner/report.ts'
import { parseSummary } from './runner/summary.ts'
import { keepTimings, slowestLine } from './runner/timings.ts'
import { createRunFolder } from './support/after-the-end.ts'
import type { TestPostgres } from './support/postgres.ts'
import { startPostgres, whyNoPostgres } from './support/postgres.ts'
import { isThorough } from './support/thorough.ts'
import { listFiles, rootFolder } from './tidy/sources.ts'

/** Enough for a test that starts a process on a busy machine; a unit test needs a thousandth. A whole campaign has more to do. */
const testTimeoutMs = isThorough ? 120_000 : 30_000

/**
 * Three, for the two cores of a small host, because a good part of the time of a file is waiting. Each file has its own globals, and
 * a file that ends its process takes nothing with it but itself; in one process it would silently end the whole run.
 */
const workers = 3

/** How long the slow files took in an earlier run. Without it a slow file may begin last, and the run waits for it alone. */
const keptTimings = join(import.meta.dir, 'runner', 'timings.json')

/** The count is at the end; what comes before it can be long. */
const keptOutputLength = 20_000

interface Asked {
  files: readonly string[]
  /** For `bun test`. */
  options: readonly string[]
  isVerbose: boolean
  keepsTimings: boolean
}

/** Runs `bun test`, reports its output as it comes, and returns the end of it with the exit code. */
async function runTests({ files, options, isVerbose }: Asked, timings: string, env: Record<string, string>) {
  const inOrder = [`--timings=${timings}`, '--update-timings']
  const flags = [`--timeout=${testTimeoutMs}`, `--parallel=${workers}`, ...inOrder, ...options]
  const child = Bun.spawn([process.execPath, '--no-orphans', '--no-env-file', 'test', ...flags, ...files], {
    cwd: rootFolder,
    env: { ...process.env, NO_COLOR: '1', ...env },
    stdio: ['ignore', isVerbose ? 'inherit' : 'ignore', 'pipe'],
  })
  const report = new RunReport((text) => process.stderr.write(text))
  const decoder = new TextDecoder()
  let output = ''
  for await (const chunk of child.stderr) {
    const text = decoder.decode(chunk, { stream: true })
    if (isVerbose) process.stderr.write(text)
    else report.push(text)
    if (!isVerbose && process.stderr.isTTY) process.stderr.write(`\r${report.passed} passed `)
    output = (output + text).slice(-keptOutputLength)
  }
  const code = await child.exited
  if (!isVerbose) report.end(code === 0)
  return { code, output }
}

async function run(asked: Asked): Promise<boolean> {
  const folder = await createRunFolder('headrace-test-')
  const countsFile = join(folder.path, 'counts.jsonl')
  const timings = join(folder.path, 'timings.json')
  if (existsSync(keptTimings)) copyFileSync(keptTimings, timings)
  const reason = whyNoPostgres()
  let postgres: TestPostgres | null = null
  try {
    if (reason === null) postgres = await startPostgres()
    const env: Record<string, string> = {
      HEADRACE_TEST_COUNTS: countsFile,
      HEADRACE_TEST_FOLDER: folder.path,
    }
    if (asked.isVerbose) env['HEADRACE_TEST_VERBOSE'] = 'yes'
    if (postgres !== null) env['HEADRACE_TEST_POSTGRES'] = postgres.url
    const { code, output } = await runTests(asked, timings, env)
    const recorded = existsSync(countsFile) ? readFileSync(countsFile, 'utf8') : ''
    const slowest = slowestLine(timings, asked.files)
    if (slowest !== null) console.log(slowest)
    if (asked.keepsTimings && code === 0) keepTimings(timings, keptTimings)
    const { passed, failed, skipped } = parseSummary(output, code)
    const { line, problem } = compareDatabases(recorded, reason)
    const isUnequal = problem !== null && process.env['CI'] === 'true'
    if (line !== null) console.log(line)
    if (problem !== null) console.log(isUnequal ? `FAILED: ${problem}` : problem)
    const failedInAll = failed + (isUnequal ? 1 : 0)
    console.log(`${passed} passed, ${failedInAll} failed, ${skipped} skipped`)
    return failedInAll === 0
  } finally {
    postgres?.stop()
    folder.remove()
  }
}

const { filters, options, isVerbose, keepsTimings } = parseArguments(process.argv.slice(2))
const files = selectFiles(listFiles('', '.test.ts'), filters)
if (files.length === 0) {
  console.error(`no test file has ${filters.join(' or ')} in its path`)
  process.exit(1)
}
process.exit((await run({ files, options, isVerbose, keepsTimings })) ? 0 : 1)
