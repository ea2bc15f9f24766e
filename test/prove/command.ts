import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseSummary } from '../runner/summary.ts'
import { listFiles, rootFolder } from '../tidy/sources.ts'
import { notRun, type ProofResult } from './proof.ts'

/** What a program printed, both streams in the order they came, and how it ended. */
export interface CommandOutcome {
  code: number
  output: string
  /** Of it what went to stdout: figures, where the other stream tells of progress. */
  stdout: string
}

/** How to run a program. */
export interface CommandOptions {
  cwd?: string
  env?: Record<string, string>
  /** After this long it is killed, with everything it started, and has failed. */
  msMax: number
}

/** More than any suite prints; the end is what counts. */
const keptOutputLength = 400_000

/** Runs a program in a group of its own, shows its output on stderr as it comes, and returns it. */
export async function runCommand(
  command: readonly string[],
  options: CommandOptions,
): Promise<CommandOutcome> {
  const child = Bun.spawn([...command], {
    cwd: options.cwd ?? rootFolder,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  let stdout = ''
  const read = async (stream: ReadableStream<Uint8Array>, isStdout: boolean) => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      process.stderr.write(chunk)
      const text = decoder.decode(chunk, { stream: true })
      output = (output + text).slice(-keptOutputLength)
      if (isStdout) stdout = (stdout + text).slice(-keptOutputLength)
    }
  }
  const timer = setTimeout(() => {
    output += `\nkilled after ${options.msMax / 1000} s\n`
    killGroup(child.pid)
  }, options.msMax)
  await Promise.all([read(child.stdout, true), read(child.stderr, false)])
  const code = await child.exited
  clearTimeout(timer)
  return { code, output: plain(output), stdout: plain(stdout) }
}

/** Runs a script of this repository with the Bun that runs this. */
export function runScript(
  path: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandOutcome> {
  return runCommand([process.execPath, '--no-env-file', path, ...args], options)
}

/** Runs the test files whose path contains one of `filters`, as `npm test` does; the count and lines that match are figures. */
export async function runTests(
  filters: readonly string[],
  { msMax, keep, env }: { msMax: number; keep?: RegExp; env?: Record<string, string> },
): Promise<ProofResult> {
  const found = listFiles('', '.test.ts').filter((file) => filters.some((filter) => file.includes(filter)))
  if (found.length === 0) return notRun(`no test file has ${filters.join(' or ')} in its path`)
  const { code, output } = await runScript('test/run.ts', ['--verbose', ...filters], {
    msMax,
    ...(env === undefined ? {} : { env }),
  })
  const kept = keep ? output.split('\n').filter((line) => keep.test(line)) : []
  return { ...judgeRun(code, output), figures: [`${filters.join(', ')}: ${countIn(output)}`, ...kept] }
}

/** Runs a program whose exit code is its verdict and whose stdout is its figures. */
export async function runSuite(
  path: string,
  { args = [], msMax }: { args?: readonly string[]; msMax: number },
): Promise<ProofResult> {
  if (!existsSync(join(rootFolder, path))) return notRun(`${path} does not exist yet`)
  const { code, stdout } = await runScript(path, args, { msMax })
  const figures = stdout.split('\n').filter((line) => line.trim() !== '')
  return { status: code === 0 ? 'PASS' : 'FAIL', figures }
}

/** The runner's count, its last line. */
function countIn(output: string): string {
  return [...output.matchAll(/^\d+ passed, \d+ failed, \d+ skipped$/gm)].at(-1)?.[0] ?? 'no count was printed'
}

function judgeRun(code: number, output: string): Pick<ProofResult, 'status'> {
  const count = /^(\d+) passed, (\d+) failed/.exec(countIn(output))
  const { passed } = parseSummary(output, code)
  const isGood = code === 0 && count !== null && Number(count[1]) > 0 && Number(count[2]) === 0 && passed > 0
  return { status: isGood ? 'PASS' : 'FAIL' }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It ended in the same moment.
  }
}

// oxlint-disable-next-line no-control-regex -- colours are escape sequences
const plain = (text: string): string => text.replaceAll(/\u001b\[[0-9;]*m/g, '')
