import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseSummary } from '../runner/summary.ts'
import { rootFolder } from '../tidy/sources.ts'
import { runCommand } from './command.ts'
import type { Proof } from './proof.ts'

const msMax = 900_000

/** What follows from the registry, and is written by a command. */
const generated: ReadonlySet<string> = new Set([
  'README.md',
  'docs/config.schema.json',
  'docs/configuration.md',
  'src/catalog/price-package.gen.ts',
])

/** What somebody who had not seen the code wrote by CONTRIBUTING.md alone. */
const written = join(import.meta.dir, 'cerebras')

export const proof: Proof = {
  title: 'a provider that a stranger wrote by CONTRIBUTING alone: one folder, one line, and all checks pass',
  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'headrace-stranger-'))
    const clone = join(folder, 'clone')
    const startedMs = performance.now()
    try {
      const run = (command: readonly string[]) => runCommand(command, { cwd: clone, msMax })
      const cloned = await runCommand(['git', 'clone', '--quiet', rootFolder, clone], { msMax })
      if (cloned.code !== 0) throw new Error('the repository could not be cloned')
      symlinkSync(join(rootFolder, 'node_modules'), join(clone, 'node_modules'))
      removeProvider(clone)
      addProvider(clone)
      const byHand = changesOf(clone)
      const fix = await run(['npm', 'run', 'check', '--', '--fix', '--no-test'])
      const all = changesOf(clone)
      const test = await run(['npm', 'test', '--', 'src', 'test/tidy.test.ts', 'test/story/documents'])
      const { passed, failed } = parseSummary(test.output, test.code)
      const isByRecipe =
        byHand.join() === 'src/providers/cerebras/,src/providers/index.ts' &&
        all.filter((path) => !byHand.includes(path)).every((path) => generated.has(path))
      const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1)
      return {
        status: isByRecipe && fix.code === 0 && test.code === 0 && passed > 0 ? 'PASS' : 'FAIL',
        figures: [
          `by hand: ${byHand.join(', ')}`,
          `by npm run check -- --fix: ${all.filter((path) => !byHand.includes(path)).join(', ')}`,
          `check: exit code ${fix.code}; npm test of the source, the documents and the rules: ${passed} passed, ${failed} failed`,
          `${minutes} minutes for the commands`,
        ],
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** The product has a folder of that name by now; the proof starts without it. */
function removeProvider(clone: string): void {
  const git = (...command: string[]) => {
    const { exitCode, stderr } = Bun.spawnSync(['git', ...command], { cwd: clone })
    if (exitCode !== 0) throw new Error(`git ${command.join(' ')}: ${stderr.toString()}`)
  }
  const index = join(clone, 'src/providers/index.ts')
  const lines = readFileSync(index, 'utf8').split('\n')
  writeFileSync(index, lines.filter((line) => !line.includes('/cerebras/')).join('\n'))
  git('rm', '-r', '--quiet', 'src/providers/cerebras')
  const author = ['-c', 'user.name=proof', '-c', 'user.email=proof@localhost']
  git(...author, 'commit', '--quiet', '--all', '--message', 'without the provider')
}

/** The folder, and the line in its place of the alphabet. */
function addProvider(clone: string): void {
  const folder = join(clone, 'src/providers/cerebras')
  cpSync(written, folder, { recursive: true })
  renameSync(join(folder, 'provider.txt'), join(folder, 'provider.ts'))
  const index = join(clone, 'src/providers/index.ts')
  const lines = readFileSync(index, 'utf8').trimEnd().split('\n')
  lines.push("export { cerebras } from './cerebras/provider.ts'")
  writeFileSync(index, `${lines.toSorted().join('\n')}\n`)
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
