import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { fullDisk, hasFullDisk } from '../../../test/support/full-disk.ts'

/** A process that writes much and ends at once, as `models --json` does. */
const program = `
  import { flushOutput } from ${JSON.stringify(join(import.meta.dir, 'process.ts'))}
  process.stdout.write('x'.repeat(30_000_000))
  await flushOutput()
  process.exit(7)
`

test('a long list goes through a pipe whole before the process ends', () => {
  const count =
    'let bytes = 0; for await (const piece of Bun.stdin.stream()) bytes += piece.length; console.log(bytes)'
  const pipeline = Bun.spawnSync([
    'sh',
    '-c',
    '"$0" -e "$1" | "$0" -e "$2"',
    process.execPath,
    program,
    count,
  ])
  expect(pipeline.stderr.toString()).toBe('')
  expect(Number(pipeline.stdout.toString())).toBe(30_000_000)
})

test('a reader that leaves early does not keep the process', () => {
  const head =
    'const { value } = await Bun.stdin.stream().getReader().read(); console.write(value.slice(0, 5)); process.exit(0)'
  const pipeline = Bun.spawnSync(['sh', '-c', '"$0" -e "$1" | "$0" -e "$2"', process.execPath, program, head])
  expect(pipeline.stdout.toString()).toBe('xxxxx')
})

test('a command whose reader has gone ends without a complaint', () => {
  const writer = `
    import { flushOutput, outliveReaders } from ${JSON.stringify(join(import.meta.dir, 'process.ts'))}
    outliveReaders()
    for (let line = 0; line < 20; line++) {
      process.stdout.write('x\\n')
      await Bun.sleep(5)
    }
    await flushOutput()
    process.exit(7)
  `
  const pipeline = Bun.spawnSync([
    'sh',
    '-c',
    '{ "$0" -e "$1"; echo "code $?" >&2; } | { read -r line; echo "$line"; }',
    process.execPath,
    writer,
  ])
  expect(pipeline.stdout.toString()).toBe('x\n')
  expect(pipeline.stderr.toString()).toBe('code 7\n')
})

/** The exit code of a process whose output is on a full disk; null when it had to be killed. */
async function exitOnFullDisk(...args: string[]): Promise<number | null> {
  const child = Bun.spawn([process.execPath, ...args], { stdout: Bun.file(fullDisk), stderr: 'ignore' })
  const timer = setTimeout(() => child.kill('SIGKILL'), 8_000)
  await child.exited
  clearTimeout(timer)
  return child.signalCode === null ? child.exitCode : null
}

test.if(hasFullDisk)(
  'a process whose output is on a full disk neither fails nor hangs',
  async () => {
    const writer = `
    import { flushOutput, outliveReaders } from ${JSON.stringify(join(import.meta.dir, 'process.ts'))}
    const lost = outliveReaders()
    for (let line = 0; line < 3; line++) {
      process.stdout.write('x\\n')
      await Bun.sleep(5)
    }
    await flushOutput(null, lost)
    process.exit(lost.has(process.stdout) ? 7 : 0)
  `
    expect(await exitOnFullDisk('-e', writer)).toBe(7)
  },
  10_000,
)

test.if(hasFullDisk)(
  'a command whose output is lost has failed, and ends',
  async () => {
    expect(await exitOnFullDisk(join(import.meta.dir, '../main.ts'), '--help')).toBe(1)
  },
  10_000,
)
