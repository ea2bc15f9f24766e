import { chmodSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lives, serverBelow } from '../../support/after-the-end.ts'
import { readThroughBareProxy, stream } from '../../support/bare-proxy.ts'
import { starve, withBusyCores } from '../../support/busy-cores.ts'
import { whyNoPostgres } from '../../support/postgres.ts'
import { rootFolder } from '../../tidy/sources.ts'
import { runScript } from '../command.ts'
import { observation, type Check } from '../observations.ts'

const alarmRuns = 8
/** What is left over is removed by what looks every moment. */
const clearedMsMax = 15_000
const suiteMsMax = 1_800_000

export const proof = observation({
  title: 'tests pass on a busy machine and leave nothing behind; the bare proxy takes a cut usage event',
  missing: whyNoPostgres,
  async observe() {
    return [await starvedAlarms(), await brokenOff(), await cutUsage(), await wholeSuite()]
  },
})

async function starvedAlarms(): Promise<Check> {
  let failed = 0
  for (let run = 0; run < alarmRuns; run += 1) {
    const child = Bun.spawn([process.execPath, '--no-env-file', 'test', './src/core/alarms.test.ts'], {
      cwd: rootFolder,
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    await starve(child)
    if ((await child.exited) !== 0) failed += 1
  }
  return {
    name: 'the test of the alarms passes in a process that gets a core now and then',
    held: failed === 0,
    seen: `${failed} of ${alarmRuns} runs failed`,
  }
}

/** Kills a run with all its processes as soon as its database server is there. */
async function brokenOff(): Promise<Check> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-broken-'))
  chmodSync(folder, 0o755)
  const run = Bun.spawn(['node', 'bin/headrace.js', '--bun', 'test/run.ts', 'src/storage'], {
    cwd: rootFolder,
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'ignore', 'ignore'],
    detached: true,
  })
  let server: number | null = null
  while (server === null && run.exitCode === null) {
    await Bun.sleep(50)
    server = serverBelow(folder)
  }
  process.kill(-run.pid, 'SIGKILL')
  await run.exited
  const endMs = performance.now() + clearedMsMax
  const isLeft = () => (server !== null && lives(server)) || readdirSync(folder).length > 0
  while (isLeft() && performance.now() < endMs) await Bun.sleep(100)
  const isServerLeft = server !== null && lives(server)
  const left = readdirSync(folder).length
  if (server !== null && isServerLeft) process.kill(server, 'SIGQUIT')
  return {
    name: 'a run that is killed leaves no server and no folder behind',
    held: server !== null && !isServerLeft && left === 0,
    seen: `${isServerLeft ? 1 : 0} servers and ${left} folders left`,
  }
}

async function cutUsage(): Promise<Check> {
  const got = await readThroughBareProxy(stream.indexOf('"usage"') + 20)
  const name = 'the bare proxy passes on a usage event that two reads share'
  return { name, held: got === stream, seen: got === null ? 'it hung' : `${got.length} characters` }
}

async function wholeSuite(): Promise<Check> {
  const { code, output } = await withBusyCores(suiteMsMax, () =>
    runScript('test/run.ts', [], { msMax: suiteMsMax }),
  )
  const count = /^\d+ passed, \d+ failed, \d+ skipped$/m.exec(output)?.[0]
  return {
    name: 'every test passes while every core is busy with something else',
    held: code === 0,
    seen: count ?? 'no count was printed',
  }
}
