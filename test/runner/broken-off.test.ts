import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { lives, serverBelow } from '../support/after-the-end.ts'
import { whyNoPostgres } from '../support/postgres.ts'
import { isThorough } from '../support/thorough.ts'

const support = join(import.meta.dir, '..', 'support')
const patienceMs = 20_000

/** A run as `npm test` is one: its own folder, with a database server in it. */
const run = `
  import { createRunFolder } from ${JSON.stringify(join(support, 'after-the-end.ts'))}
  import { startPostgres } from ${JSON.stringify(join(support, 'postgres.ts'))}
  const { path } = await createRunFolder('headrace-broken-')
  await startPostgres()
  console.log(path)
  await Bun.sleep(60_000)
`

async function startRun(): Promise<{ pid: number; folder: string; serverPid: number }> {
  const child = Bun.spawn([process.execPath, '--no-orphans', '-e', run], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  let folder = ''
  for await (const chunk of child.stdout) {
    folder += new TextDecoder().decode(chunk)
    if (folder.endsWith('\n')) break
  }
  folder = folder.trim()
  const serverPid = serverBelow(folder)
  if (serverPid === null) throw new Error('the run has no server')
  return { pid: child.pid, folder, serverPid }
}

const everyWay: [string, (pid: number) => void][] = [
  ['by SIGINT', (pid) => process.kill(pid, 'SIGINT')],
  ['by SIGKILL to its whole group', (pid) => process.kill(-pid, 'SIGKILL')],
  ['by SIGTERM', (pid) => process.kill(pid, 'SIGTERM')],
  ['by SIGKILL', (pid) => process.kill(pid, 'SIGKILL')],
]
/** Each starts a server: `npm run prove -- broken-off` takes every way. */
const ways = isThorough ? everyWay : everyWay.slice(0, 2)

test.skipIf(whyNoPostgres() !== null).each(ways)(
  'a run that is broken off %s leaves no server and no folder behind',
  async (_, breakOff) => {
    const { pid, folder, serverPid } = await startRun()
    expect([existsSync(folder), lives(serverPid)]).toEqual([true, true])
    breakOff(pid)
    const endMs = performance.now() + patienceMs
    while ((existsSync(folder) || lives(serverPid)) && performance.now() < endMs) await Bun.sleep(50)
    expect([existsSync(folder), lives(serverPid)]).toEqual([false, false])
  },
  60_000,
)

const bareRun = `
  import { symlinkSync } from 'node:fs'
  import { join } from 'node:path'
  import { createRunFolder } from ${JSON.stringify(join(support, 'after-the-end.ts'))}
  const { path } = await createRunFolder('headrace-bare-')
  symlinkSync(Bun.which('sh'), join(path, 'sh'))
  process.env.PATH = path
  const { clearAfterTheEnd } = await import(${JSON.stringify(join(support, 'after-the-end.ts'))})
  await clearAfterTheEnd(path)
  console.log(path)
  await Bun.sleep(60_000)
`

/** CPU that the processes with this text in their arguments have used, in hundredths of a second. */
function ticksOf(text: string): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.reduce((sum, pid) => {
    try {
      if (!readFileSync(join('/proc', pid, 'cmdline'), 'utf8').includes(text)) return sum
      const fields = readFileSync(join('/proc', pid, 'stat'), 'utf8')
        .split(') ')[1]
        ?.split(' ')
      return sum + Number(fields?.[11] ?? 0) + Number(fields?.[12] ?? 0)
    } catch {
      // It has ended since the list was made.
      return sum
    }
  }, 0)
}

test.skipIf(process.platform !== 'linux')(
  'what waits for the end of a run that has hardly any programs does not spin meanwhile',
  async () => {
    const child = Bun.spawn([process.execPath, '-e', bareRun], { stdio: ['ignore', 'pipe', 'inherit'] })
    let folder = ''
    for await (const chunk of child.stdout) {
      folder += new TextDecoder().decode(chunk)
      if (folder.endsWith('\n')) break
    }
    const before = ticksOf(folder.trim())
    await Bun.sleep(3_000)
    const used = ticksOf(folder.trim()) - before
    child.kill('SIGKILL')
    // One that spins has a good part of the three seconds, also beside others.
    expect(used).toBeLessThan(60)
  },
  60_000,
)
