import { expect, test } from 'bun:test'
import { join } from 'node:path'

/** A process that writes much and ends at once, as `models --json` does. */
const program = `
  import { flushOutput } from ${JSON.stringify(join(import.meta.dir, 'process.ts'))}
  process.stdout.write('x'.repeat(30_000_000))
  await flushOutput()
  process.exit(7)
`

test('a long list goes through a pipe whole before the process ends', () => {
  const pipeline = Bun.spawnSync(['sh', '-c', '"$0" -e "$1" | wc -c', process.execPath, program])
  expect(pipeline.stderr.toString()).toBe('')
  expect(Number(pipeline.stdout.toString())).toBe(30_000_000)
})

test('a reader that leaves early does not keep the process', () => {
  const pipeline = Bun.spawnSync(['sh', '-c', '"$0" -e "$1" | head -c 5', process.execPath, program])
  expect(pipeline.stdout.toString()).toBe('xxxxx')
})
