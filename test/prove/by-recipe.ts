import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseSummary } from '../runner/summary.ts'
import { rootFolder } from '../tidy/sources.ts'
import { runCommand } from './command.ts'
import { combine, type ProofResult } from './proof.ts'

const msMax = 900_000

/** What follows from the registry, and is written by a command. */
const generated: ReadonlySet<string> = new Set([
  'README.md',
  'docs/config.schema.json',
  'docs/configuration.md',
  'src/catalog/price-package.gen.ts',
])

/** What somebody who had not seen the code wrote by CONTRIBUTING.md alone. */
const written = join(import.meta.dir, 'strangers')

/**
 * Adds providers that a stranger wrote to a clone without them, one after the other: each is a folder and a line, and the
 * checks pass after the command that CONTRIBUTING.md names. `tests` are run after each.
 */
export async function proveRecipe(slugs: readonly string[], tests: readonly string[]): Promise<ProofResult> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-stranger-'))
  const clone = join(folder, 'clone')
  try {
    const cloned = await runCommand(['git', 'clone', '--quiet', rootFolder, clone], { msMax })
    if (cloned.code !== 0) throw new Error('the repository could not be cloned')
    symlinkSync(join(rootFolder, 'node_modules'), join(clone, 'node_modules'))
    for (const slug of slugs) removeProvider(clone, slug)
    const fix = await checkAndFix(clone)
    if (fix.code !== 0) throw new Error('the checks fail without the providers')
    commit(clone, 'without the providers')
    const results: ProofResult[] = []
    for (const slug of slugs) results.push(await proveProvider(clone, slug, tests))
    return combine(results)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function checkAndFix(clone: string) {
  return runCommand(['npm', 'run', 'check', '--', '--fix', '--no-test'], { cwd: clone, msMax })
}

async function proveProvider(clone: string, slug: string, tests: readonly string[]): Promise<ProofResult> {
  const startedMs = performance.now()
  addProvider(clone, slug)
  const byHand = changesOf(clone)
  const fix = await checkAndFix(clone)
  const byCommand = changesOf(clone).filter((path) => !byHand.includes(path))
  const test = await runCommand(['npm', 'test', '--', ...tests], { cwd: clone, msMax })
  const { passed, failed } = parseSummary(test.output, test.code)
  const isByRecipe =
    byHand.join() === [`src/providers/${slug}/`, 'src/providers/index.ts'].toSorted().join() &&
    byCommand.every((path) => generated.has(path))
  commit(clone, slug)
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1)
  return {
    status: isByRecipe && fix.code === 0 && test.code === 0 && passed > 0 ? 'PASS' : 'FAIL',
    figures: [
      `${slug}: by hand: ${byHand.join(', ')}; by npm run check -- --fix: ${byCommand.join(', ')}`,
      `${slug}: check: exit code ${fix.code}; npm test -- ${tests.join(' ')}: ${passed} passed, ${failed} failed; ${minutes} minutes for the commands`,
    ],
  }
}

/** The product has a folder of that name by now; the proof starts without it. */
function removeProvider(clone: string, slug: string): void {
  const index = join(clone, 'src/providers/index.ts')
  const lines = readFileSync(index, 'utf8').split('\n')
  writeFileSync(index, lines.filter((line) => !line.includes(`/${slug}/`)).join('\n'))
  rmSync(join(clone, 'src/providers', slug), { recursive: true })
}

/** The folder, and the line in its place of the alphabet. */
function addProvider(clone: string, slug: string): void {
  const folder = join(clone, 'src/providers', slug)
  cpSync(join(written, slug), folder, { recursive: true })
  // Kept as text, so that nobody takes it for a part of the product.
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.txt')))
    renameSync(join(folder, name), join(folder, name.replace(/txt$/, 'ts')))
  const index = join(clone, 'src/providers/index.ts')
  const lines = readFileSync(index, 'utf8').trimEnd().split('\n')
  lines.push(`export { ${slug} } from './${slug}/provider.ts'`)
  writeFileSync(index, `${lines.toSorted().join('\n')}\n`)
}

function commit(clone: string, message: string): void {
  const author = ['-c', 'user.name=proof', '-c', 'user.email=proof@localhost']
  for (const command of [
    ['add', '--all'],
    [...author, 'commit', '--quiet', '--message', message],
  ]) {
    const { exitCode, stderr } = Bun.spawnSync(['git', ...command], { cwd: clone })
    if (exitCode !== 0) throw new Error(`git ${command.join(' ')}: ${stderr.toString()}`)
  }
}

function changesOf(clone: string): string[] {
  const { stdout } = Bun.spawnSync(['git', 'status', '--porcelain'], { cwd: clone })
  return stdout
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.slice(3))
    .toSorted()
}
