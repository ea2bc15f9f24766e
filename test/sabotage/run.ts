/**
 * Breaks promises on purpose: applies each patch of this folder, and of the folders of providers, to a copy of the tree and runs exactly the test it names,
 * which must fail; a test that stays green tests nothing. Arguments choose patches by a part of their name. Exits with 1
 * when a test stayed green, was red without the patch, or a patch no longer applies. `--fits` runs no test and only asks
 * whether every patch still applies, and names a test that exists.
 */
import { cpSync, existsSync, globSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createRunFolder } from '../support/after-the-end.ts'
import { sharedPostgresUrl } from '../support/postgres.ts'
import { rootFolder } from '../tidy/sources.ts'

/** A patch's header and path. */
interface Sabotage {
  name: string
  path: string
  breaks: string
  test: string
  testName: string
}

/** The result of the one test in a test run. */
type Colour = 'red' | 'GREEN' | 'NOT FOUND'

const copied = ['src', 'test', 'simulator', 'dashboard', 'package.json', 'tsconfig.json', 'bin']
const testMsMax = 60_000
/** Copies that are sabotaged at once. */
const lanesMax = 2

function listSabotage(filters: readonly string[]): Sabotage[] {
  return globSync(['test/sabotage/*.patch', 'src/providers/*/*.patch'], { cwd: rootFolder })
    .filter((file) => filters.length === 0 || filters.some((filter) => basename(file).includes(filter)))
    .toSorted()
    .map((file) => readHeader(file))
}

function readHeader(file: string): Sabotage {
  const path = join(rootFolder, file)
  const text = readFileSync(path, 'utf8')
  const field = (name: string): string => {
    const value = new RegExp(`^${name}: (.+)$`, 'm').exec(text)?.[1]
    if (value === undefined) throw new Error(`${file} has no line "${name}: …"`)
    return value
  }
  return {
    name: basename(file, '.patch'),
    path,
    breaks: field('Breaks'),
    test: field('Test'),
    testName: field('Name'),
  }
}

/** A copy for one lane, so that no patch meets another one. */
function copyTree(runFolder: string, lane: number): string {
  const folder = join(runFolder, `tree-${lane}`)
  for (const name of copied) cpSync(join(rootFolder, name), join(folder, name), { recursive: true })
  symlinkSync(join(rootFolder, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/** Applies a patch to the copy, or reverts it. Throws when it does not apply. */
function apply(folder: string, { path, name }: Sabotage, isBack = false): void {
  const flags = isBack ? ['-R'] : []
  // The copy is not a repository, and git must not look for one above it.
  const { exitCode, stderr } = Bun.spawnSync(['git', 'apply', '--whitespace=nowarn', ...flags, path], {
    cwd: folder,
    env: { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir() },
    stderr: 'pipe',
  })
  if (exitCode !== 0) throw new Error(`${name} no longer applies; make it anew.\n${stderr.toString()}`)
}

async function runTest(folder: string, { test, testName }: Sabotage): Promise<Colour> {
  const pattern = testName.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  const child = Bun.spawn(
    [process.execPath, '--no-env-file', 'test', `--timeout=${testMsMax}`, '-t', pattern, `./${test}`],
    { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], timeout: testMsMax * 2, killSignal: 'SIGKILL' },
  )
  const output = await new Response(child.stderr).text()
  const code = await child.exited
  const passed = Number(/^ *(\d+) pass$/m.exec(output)?.[1] ?? 0)
  const failed = Number(/^ *(\d+) fail$/m.exec(output)?.[1] ?? 0)
  if (passed + failed === 0) return 'NOT FOUND'
  return code !== 0 && failed > 0 ? 'red' : 'GREEN'
}

async function sabotage(folder: string, each: Sabotage): Promise<boolean> {
  const before = await runTest(folder, each)
  let after: Colour = 'NOT FOUND'
  apply(folder, each)
  try {
    if (before === 'GREEN') after = await runTest(folder, each)
  } finally {
    apply(folder, each, true)
  }
  const isGood = before === 'GREEN' && after === 'red'
  const verdict = before === 'GREEN' ? after : `WRONG: ${before} without the patch`
  console.log(`${isGood ? 'red   ' : verdict}  ${each.name}: ${each.test}: ${each.testName}`)
  return isGood
}

async function run(filters: readonly string[]): Promise<boolean> {
  const all = listSabotage(filters)
  const runFolder = await createRunFolder('headrace-sabotage-')
  // One server for all runs; they find it in their environment.
  await sharedPostgresUrl()
  let next = 0
  let red = 0
  const work = async (folder: string): Promise<void> => {
    for (let each = all[next++]; each !== undefined; each = all[next++]) {
      const isRed = await sabotage(folder, each).catch((error: unknown) => {
        console.log(`WRONG: ${error instanceof Error ? error.message : String(error)}`)
        return false
      })
      if (isRed) red += 1
    }
  }
  try {
    const lanes = Math.min(lanesMax, all.length)
    await Promise.all(Array.from({ length: lanes }, (_, lane) => work(copyTree(runFolder.path, lane))))
  } finally {
    runFolder.remove()
  }
  console.log(`${red} of ${all.length} patches turned their test red`)
  return red === all.length && all.length > 0
}

/** Whether each patch applies to the present tree and names an existing test; prints those that do not. */
function fits(filters: readonly string[]): boolean {
  const all = listSabotage(filters)
  const problems = all.flatMap((each) => {
    const { exitCode, stderr } = Bun.spawnSync(
      ['git', 'apply', '--check', '--whitespace=nowarn', each.path],
      {
        cwd: rootFolder,
        stderr: 'pipe',
      },
    )
    if (exitCode !== 0) return [`${each.name} no longer applies; make it anew.\n${stderr.toString()}`]
    const path = join(rootFolder, each.test)
    if (existsSync(path) && readFileSync(path, 'utf8').includes(each.testName)) return []
    return [`${each.name}: ${each.test} has no test "${each.testName}"`]
  })
  for (const problem of problems) console.log(problem)
  console.log(`${all.length - problems.length} of ${all.length} patches fit`)
  return problems.length === 0 && all.length > 0
}

const given = process.argv.slice(2)
const filters = given.filter((argument) => argument !== '--fits')
process.exit((given.includes('--fits') ? fits(filters) : await run(filters)) ? 0 : 1)
