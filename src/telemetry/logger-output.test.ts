import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { fullDisk, hasFullDisk } from '../../test/support/full-disk.ts'
import { outputWaitMs } from '../core/limits/telemetry.ts'

/** Logs more than a pipe takes, stops, and says on stderr how that went. */
const program = `
  import { createLogger } from ${JSON.stringify(join(import.meta.dir, 'logger.ts'))}
  const log = createLogger({ level: 'info' })
  for (let line = 0; line < 2_000; line++) log.info('x'.repeat(100))
  await log.flush()
  process.stderr.write('flushed')
  process.exit(7)
`

test('a log whose reader is stuck does not keep the process from stopping', async () => {
  const pipeline = '{ "$0" -e "$1"; echo " code $?" >&2; } | exec "$0" -e "$2"'
  const stuck = 'await Bun.sleep(30_000)'
  const child = Bun.spawn(['sh', '-c', pipeline, process.execPath, program, stuck], {
    stdout: 'ignore',
    stderr: 'pipe',
    detached: true,
  })
  const reader = child.stderr.getReader()
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), outputWaitMs * 3)
  let said = ''
  const decoder = new TextDecoder()
  while (!said.includes('code')) {
    const { done, value } = await reader.read()
    if (done) break
    said += decoder.decode(value)
  }
  clearTimeout(timer)
  process.kill(-child.pid, 'SIGKILL')
  expect(said).toBe('flushed code 7\n')
}, 15_000)

test.skipIf(!hasFullDisk)(
  'a log on a disk that is full does not keep the process from stopping',
  async () => {
    const child = Bun.spawn([process.execPath, '-e', program], {
      stdout: Bun.file(fullDisk),
      stderr: 'pipe',
    })
    const timer = setTimeout(() => child.kill('SIGKILL'), outputWaitMs * 3)
    expect(await child.exited).toBe(7)
    clearTimeout(timer)
    expect(await child.stderr.text()).toBe('flushed')
  },
  15_000,
)

test('a log that is read is whole when the process stops', async () => {
  const child = Bun.spawnSync([process.execPath, '-e', program])
  expect(child.exitCode).toBe(7)
  expect(child.stdout.toString().trim().split('\n')).toHaveLength(2_000)
})
