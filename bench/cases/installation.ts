import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { npmWaitMs } from '../harness/bounds.ts'
import { median } from '../harness/figures.ts'
import { commandOf, environmentOf, isReady } from '../harness/headrace.ts'
import { sparePort, start, untilReady } from '../harness/processes.ts'
import { atMost, fact, notRun, type Report } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import type { World } from '../harness/world.ts'

const root = join(import.meta.dir, '../..')

/** From the command to the first yes of `/readyz`: with an empty folder, and again. */
export async function startTimes(world: World, report: Report, scale: Scale): Promise<void> {
  const first: number[] = []
  const second: number[] = []
  for (let round = 0; round < scale.rounds; round += 1) {
    const home = join(world.folder, `start-${round}`)
    mkdirSync(home)
    first.push(await startOnce(world, home))
    second.push(await startOnce(world, home))
  }
  for (const [what, times] of [
    ['first', first],
    ['second', second],
  ] as const) {
    const value = median(times)
    report.rows.push(
      atMost(`start, ${what} time`, `${Math.round(value)} ms until ready`, {
        value,
        limit: 500,
        unit: ' ms',
      }),
    )
  }
}

async function startOnce(world: World, home: string): Promise<number> {
  const port = sparePort()
  const env = environmentOf(home, port, { upstreams: world.upstreams, isPrepaid: true })
  const startedMs = performance.now()
  const running = start({
    name: 'start',
    command: commandOf([]),
    cwd: home,
    env,
    logFile: join(home, 'output.log'),
  })
  try {
    await untilReady(running, () => isReady(port))
    return performance.now() - startedMs
  } finally {
    await running.stop()
  }
}

/** What `npm ci --omit=dev` brings. Needs npm's registry or cache. */
export async function installed(world: World, report: Report, scale: Scale): Promise<void> {
  if (scale.isQuick) {
    report.rows.push(notRun('installed', 'only in the full run'))
    return
  }
  const home = join(world.folder, 'installed')
  mkdirSync(home)
  for (const file of ['package.json', 'package-lock.json', '.npmrc', 'bin'])
    if (existsSync(join(root, file))) cpSync(join(root, file), join(home, file), { recursive: true })
  const npm = Bun.spawn(
    ['npm', 'ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'],
    {
      cwd: home,
      stdout: 'ignore',
      stderr: 'ignore',
      timeout: npmWaitMs,
    },
  )
  if ((await npm.exited) !== 0) {
    report.rows.push(notRun('installed', 'npm could not install'))
    return
  }
  const lock = JSON.parse(readFileSync(join(home, 'node_modules/.package-lock.json'), 'utf8')) as {
    packages: object
  }
  const count = Object.keys(lock.packages).length
  const bytes = Number((await Bun.$`du -sb ${home}/node_modules`.text()).split('\t')[0])
  rmSync(home, { recursive: true })
  report.rows.push(
    atMost('installed packages', String(count), { value: count, limit: 60 }),
    atMost('installed size', `${Math.round(bytes / 1e6)} MB`, {
      value: bytes / 1e6,
      limit: 200,
      unit: ' MB',
    }),
    fact('installed with', 'npm ci --omit=dev --ignore-scripts'),
  )
}
