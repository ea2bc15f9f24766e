import { afterEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig, type Config } from './config.ts'
import { createGateway } from './gateway.ts'
import { presets } from './providers/presets.ts'

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
