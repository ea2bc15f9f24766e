import { afterEach, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { Database } from 'bun:sqlite'
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eachDatabase } from '../test/support/databases.ts'
import { readConfig, type Config } from './config.ts'
import { createGateway } from './gateway.ts'
import { type Core, restoreLearned } from './gateway-core.ts'
import { presets } from './providers/registry.ts'
import { FileLock } from './storage/sqlite/file-lock.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function configOf(env: Record<string, string> = {}): Config {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-start-'))
  folders.push(folder)
  const quiet = { HEADRACE_DATA: join(folder, 'data'), HEADRACE_LOG_LEVEL: 'silent' }
  return readConfig({ env: { ...quiet, ...env }, cwd: folder, presets })
}

/** Files of a data folder that this process has open. */
function openFilesOf({ dataFolder }: Config): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`)
      return path.startsWith(dataFolder) ? [path] : []
    } catch {
      return []
    }
  })
}

test('a start goes on without the learned figures of models when they cannot be read', async () => {
  const lines: string[] = []
  const config = { ...configOf(), logLevel: 'warn' as const }
  const first = await createGateway(config)
  await first.stop()
  const database = new Database(join(config.dataFolder, 'headrace.db'))
  database.run('alter table model_stats rename to lost_stats')
  database.close()
  const second = await createGateway(config, { writeLog: (line) => lines.push(line) })
  expect((await second.fetch(new Request('http://gateway.test/healthz'))).status).toBe(200)
  await second.stop()
  expect(lines.join('')).toContain('learned figures')
})

test('learned figures are read again when the database closes the connection under the first read', async () => {
  let reads = 0
  const warned: string[] = []
  const accounts = {
    restoreLearning: async () => {
      reads += 1
      if (reads === 1) throw new Error('Connection closed')
    },
  }
  const core = { money: { accounts, learning: null }, log: { warn: (line: string) => warned.push(line) } }
  await restoreLearned(core as unknown as Core)
  expect([reads, warned]).toEqual([2, []])
})

/** Starts that fail at different steps, each on a new folder. */
const failures: [string, () => Config][] = [
  [
    'the bootstrap keys are one',
    () => {
      const config = configOf()
      const key = 'one-key-for-everything'
      return { ...config, bootstrap: { ...config.bootstrap, key, managementKey: key } }
    },
  ],
  [
    'a provider is not known',
    () => ({ ...configOf(), providers: [{ preset: 'nobody', weight: 1, models: [] }] }),
  ],
  [
    'the folder of uploads cannot be made',
    () => {
      const config = configOf()
      mkdirSync(config.dataFolder, { recursive: true })
      writeFileSync(join(config.dataFolder, 'spool'), '')
      return config
    },
  ],
  [
    'the owner id cannot be taken',
    () => {
      const config = configOf()
      mkdirSync(config.dataFolder, { recursive: true })
      writeFileSync(join(config.dataFolder, 'headrace.db.owners'), '')
      return config
    },
  ],
]

test.skipIf(process.platform !== 'linux').each(failures)(
  'a start that fails because %s leaves nothing open',
  async (_, make) => {
    const config = make()
    const outcome = await createGateway(config).then(
      () => 'started',
      () => 'refused',
    )
    expect(outcome).toBe('refused')
    expect(openFilesOf(config)).toEqual([])
    expect(readdirSync(config.dataFolder).filter((name) => /-(wal|shm)$/.test(name))).toEqual([])
  },
)

test('credits for a first start that was long ago are not silently nothing', async () => {
  const config = configOf()
  await (await createGateway(config)).stop()
  const lines: string[] = []
  const again = {
    ...config,
    bootstrap: { ...config.bootstrap, creditsNanocredits: 5n },
    logLevel: 'warn' as const,
  }
  const gateway = await createGateway(again, { writeLog: (line) => lines.push(line) })
  await gateway.stop()
  expect(gateway.bootstrapped.accountMode).toBe('tracked')
  expect(lines.join('')).toContain('HEADRACE_BOOTSTRAP_CREDITS counts at the first start only')
})

/** Takes what every write needs; returns how to let it go. */
async function hangUp(url: string): Promise<() => Promise<void>> {
  if (url.startsWith('sqlite:')) {
    const lock = new FileLock(`${url.slice('sqlite:'.length)}.lock`)
    lock.acquire()
    return async () => lock.close()
  }
  const sql = new SQL(url)
  const connection = await sql.reserve()
  await connection.unsafe('begin')
  await connection.unsafe('lock table leases, usages, model_stats in exclusive mode')
  return () => sql.close({ timeout: 0 })
}

eachDatabase((_, _open, { openFresh }) => {
  test('storage that hangs does not keep a gateway that stops', async () => {
    const { url } = await openFresh()
    const key = 'a-key-for-the-call-before-the-end'
    const env = { DATABASE_URL: url, HEADRACE_BOOTSTRAP_KEY: key, HEADRACE_BOOTSTRAP_CREDITS: '1' }
    const gateway = await createGateway(configOf(env), { storageStopMs: 200 })
    const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] }
    const answer = await gateway.fetch(
      new Request('http://gateway/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    )
    expect(answer.status).toBe(200)
    await answer.text()
    const letGo = await hangUp(url)
    const startMs = performance.now()
    await gateway.stop()
    expect(performance.now() - startMs).toBeLessThan(5_000)
    await letGo()
  })
})
