/**
 * `npm run check`: the one gate. Runs every step even when an earlier one failed, so that one run shows all there is
 * to mend, and exits with 1 when any failed.
 *
 * `--fix` generates, formats and applies safe lint fixes first; `--no-test` leaves the tests to another run; `--verbose`
 * shows all that the tests print, and the files whose length is an alarm.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { lastRatios } from '../bench/harness/history.ts'

const root = join(import.meta.dir, '..')
const linted = ['bin', 'src', 'simulator', 'scripts', 'test', 'bench'].filter((folder) =>
  existsSync(join(root, folder)),
)

interface Step {
  name: string
  command: readonly string[]
}

/** The script behind a package's command, started with the Node that runs npm: `npx` would cost half a second each. */
function tool(packageName: string, commandName: string): string[] {
  const folder = join(root, 'node_modules', packageName)
  const description: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const bin = (description as { bin: string | Record<string, string> }).bin
  const script = typeof bin === 'string' ? bin : bin[commandName]
  if (script === undefined) throw new Error(`the package ${packageName} has no command ${commandName}`)
  return [process.env['npm_node_execpath'] ?? 'node', join(folder, script)]
}

function stepsFor(options: { fix: boolean; test: boolean; verbose: boolean }): Step[] {
  // The rules that need types (floating promises among them) live in a companion package.
  const typeAware = existsSync(join(root, 'node_modules', 'oxlint-tsgolint'))
  if (!typeAware) console.log('oxlint-tsgolint is not installed: lint rules that need types are left out')
  const lint = [...tool('oxlint', 'oxlint'), '--deny-warnings', ...(typeAware ? ['--type-aware'] : [])]
  const steps: Step[] = [
    {
      name: 'generated files',
      command: [process.execPath, join(root, 'scripts', 'generate.ts'), ...(options.fix ? [] : ['--check'])],
    },
    { name: 'format', command: [...tool('oxfmt', 'oxfmt'), options.fix ? '--write' : '--check', '.'] },
    { name: 'lint', command: [...lint, ...(options.fix ? ['--fix'] : []), ...linted] },
    // The console is a program of its own, for browsers: other types, and the rules of accessibility.
    {
      name: 'lint of the console',
      command: [
        ...lint,
        '--config',
        join('dashboard', '.oxlintrc.json'),
        ...(options.fix ? ['--fix'] : []),
        join('dashboard', 'src'),
      ],
    },
    { name: 'types', command: [...tool('typescript', 'tsc'), '--noEmit', '-p', '.'] },
    { name: 'types of the console', command: [...tool('typescript', 'tsc'), '--noEmit', '-p', 'dashboard'] },
    {
      name: 'types of its tests',
      command: [...tool('typescript', 'tsc'), '--noEmit', '-p', join('dashboard', 'tsconfig.test.json')],
    },
    {
      name: 'types of its journeys',
      command: [...tool('typescript', 'tsc'), '--noEmit', '-p', join('test', 'prove', 'console')],
    },
    { name: 'unused', command: [...tool('knip', 'knip'), '--no-progress'] },
    {
      name: 'sabotage patches',
      command: [process.execPath, join(root, 'test', 'sabotage', 'run.ts'), '--fits'],
    },
  ]
  const verbose = options.verbose ? ['--verbose'] : []
  if (options.test)
    steps.push({ name: 'tests', command: [process.execPath, join(root, 'test', 'run.ts'), ...verbose] })
  return steps
}

/** Runs one step with its output passed through; true when it succeeded. */
async function run(step: Step): Promise<boolean> {
  console.log(`\n› ${step.name}`)
  const startedAtMs = performance.now()
  const child = Bun.spawn([...step.command], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  const code = await child.exited
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1)
  console.log(`${code === 0 ? 'ok' : 'FAILED'} ${step.name} (${seconds} s)`)
  return code === 0
}

const given = new Set(process.argv.slice(2))
const unknown = [...given].filter((argument) => !['--fix', '--no-test', '--verbose'].includes(argument))
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(' ')}; use --fix, --no-test or --verbose`)
  process.exit(2)
}

const failed: string[] = []
const options = {
  fix: given.has('--fix'),
  test: !given.has('--no-test'),
  verbose: given.has('--verbose'),
}
for (const step of stepsFor(options)) {
  if (!(await run(step))) failed.push(step.name)
}
// So that nobody lands a slower path without having seen it.
console.log(`\n${lastRatios()}`)
if (failed.length > 0) console.log(`\nfailed: ${failed.join(', ')}`)
process.exit(failed.length === 0 ? 0 : 1)
