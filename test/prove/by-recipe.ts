import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseSummary } from '../runner/summary.ts'
import { rootFolder } from '../tidy/sources.ts'
import { runCommand } from './command.ts'
import { combine, notRun, type ProofResult } from './proof.ts'

const msMax = 900_000

/** What follows from the registry, and is written by a command. */
const generated: ReadonlySet<string> = new Set([
  'README.md',
  'docs/audio.md',
  'docs/config.schema.json',
  'docs/configuration.md',
  'src/catalog/price-package.gen.ts',
])

/** What somebody who had not seen the code wrote by CONTRIBUTING.md alone. */
const written = join(import.meta.dir, 'strangers')

/** Lists with a line for each provider, in the order of the alphabet, and the file of a provider that the line names. */
const providerList = { file: 'src/providers/index.ts', names: (slug: string) => `./${slug}/provider.ts` }
const fakeList = { file: 'simulator/audio/apis.ts', names: (slug: string) => `./${slug}/${slug}.ts` }

/** Lists with a row for each provider: the file of what the stranger wrote, and the list that it joins. */
const tables = [
  { row: 'rows/transcriber.txt', file: 'test/support/transcribers.ts', list: 'transcribers' },
  { row: 'rows/speech-provider.txt', file: 'test/support/speech-providers.ts', list: 'speechProviders' },
]

/**
 * Adds providers that a stranger wrote to a clone without them, one after the other: each is a folder and a line, where it has an
 * audio API of its own also its adapters, its fake and their lines; and the checks pass after the command that CONTRIBUTING.md
 * names. `tests` are run after each.
 */
export async function proveRecipe(slugs: readonly string[], tests: readonly string[]): Promise<ProofResult> {
  const lacking = slugs.filter((slug) => !existsSync(join(written, slug)))
  if (lacking.length > 0) return notRun(`test/prove/strangers has no ${lacking.join(' and no ')}`)
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
  const added = addProvider(clone, slug)
  const byHand = changesOf(clone)
  const fix = await checkAndFix(clone)
  const byCommand = changesOf(clone).filter((path) => !byHand.includes(path))
  const test = await runCommand(['npm', 'test', '--', ...tests], { cwd: clone, msMax })
  const { passed, failed } = parseSummary(test.output, test.code)
  const isByRecipe =
    byHand.length > 1 &&
    byHand.join() === added.toSorted().join() &&
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

/** The product may have a provider of that name by now; the proof starts without it. */
function removeProvider(clone: string, slug: string): void {
  for (const path of ownPaths(clone, slug)) rmSync(join(clone, path), { recursive: true })
  for (const { file, names } of [providerList, fakeList])
    editFile(clone, file, (text) => text.replace(new RegExp(`^.*'${names(slug)}'\\n`, 'm'), ''))
  for (const { file } of tables)
    editFile(clone, file, (text) =>
      text.replace(new RegExp(`^  \\{\\n    preset: '${slug}',\\n(?:    .*\\n)*  \\},\\n`, 'gm'), ''),
    )
}

/** What is one provider's alone, as CONTRIBUTING.md names it. */
function ownPaths(clone: string, slug: string): string[] {
  const folders = [`src/providers/${slug}`, `simulator/audio/${slug}`]
  return [
    ...folders.filter((folder) => existsSync(join(clone, folder))),
    ...globSync(`src/formats/{transcription,speech}/${slug}-*.ts`, { cwd: clone }),
  ]
}

/**
 * Adds what the stranger wrote, and returns what is changed by it, as git tells it. A provider that speaks a known format is a folder
 * of its own; one with an audio API has the paths of the repository in it, and its rows.
 */
function addProvider(clone: string, slug: string): string[] {
  const own = join(written, slug)
  if (!existsSync(join(own, 'src'))) {
    copyWritten(own, join(clone, 'src/providers', slug))
    addLine(clone, providerList, slug)
    return [`src/providers/${slug}/`, providerList.file]
  }
  for (const folder of ['src', 'simulator']) copyWritten(join(own, folder), join(clone, folder))
  for (const list of [providerList, fakeList]) addLine(clone, list, slug)
  const rows = tables.filter(({ row }) => existsSync(join(own, row)))
  for (const { row, file, list } of rows) {
    const added = readFileSync(join(own, row), 'utf8').trimEnd()
    editFile(clone, file, (text) =>
      text.replace(
        new RegExp(`(const ${list}\\b[^]*?\\n)\\]\\n`),
        (_, before: string) => `${before}${added}\n]\n`,
      ),
    )
  }
  const paths = ownPaths(clone, slug).map((path) => (path.endsWith('.ts') ? path : `${path}/`))
  return [...paths, providerList.file, fakeList.file, ...rows.map(({ file }) => file)]
}

/** Code is kept as text, so that nobody takes it for a part of the product. */
function copyWritten(from: string, to: string): void {
  for (const path of globSync('**/*.{txt,json,sse}', { cwd: from })) {
    const target = join(to, path.replace(/\.txt$/, '.ts'))
    mkdirSync(dirname(target), { recursive: true })
    cpSync(join(from, path), target)
  }
}

/** A line in its place of the alphabet. */
function addLine(clone: string, { file, names }: typeof providerList, slug: string): void {
  const name = slug.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  editFile(clone, file, (text) => {
    const lines = [...text.trimEnd().split('\n'), `export { ${name} } from '${names(slug)}'`]
    return `${lines.toSorted().join('\n')}\n`
  })
}

function editFile(clone: string, file: string, edit: (text: string) => string): void {
  const path = join(clone, file)
  writeFileSync(path, edit(readFileSync(path, 'utf8')))
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
