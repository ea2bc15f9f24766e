import { SQL } from 'bun'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clearAfterTheEnd } from './after-the-end.ts'

/** A temporary PostgreSQL server. */
export interface TestPostgres {
  /** The server's maintenance database; a superuser without password, on loopback. */
  url: string
  /** Kills the server at once, as a crash does; `start` brings it back with its data. */
  kill(): void
  start(): void
  /** Stops the server and removes its data. */
  stop(): void
}

/** The options of the server. */
export interface TestPostgresOptions {
  /** Off by default: tests that do not crash the machine need no disk. */
  fsync?: boolean
}

const serverUser = 'postgres'

/** These servers' data need not survive a crash of the machine, or be replicated. */
const forgetful =
  '-c fsync=off -c full_page_writes=off -c wal_level=minimal -c max_wal_senders=0 -c max_wal_size=4GB -c checkpoint_timeout=1h -c jit=off'

/** Why PostgreSQL cannot be tested here, or null when it can. */
export function whyNoPostgres(): string | null {
  if (findPrograms() === null) return 'PostgreSQL is not installed'
  if (isRoot() && userIdOf(serverUser) === null)
    return `PostgreSQL does not run as root and there is no user ${serverUser}`
  return null
}

/**
 * The URL of the server that all test files of a run share: the one in `HEADRACE_TEST_POSTGRES`, otherwise one that
 * starts now and stops with this process; null when PostgreSQL cannot be tested here.
 */
export async function sharedPostgresUrl(): Promise<string | null> {
  const given = process.env.HEADRACE_TEST_POSTGRES
  if (given) return given
  if (whyNoPostgres() !== null) return null
  const server = await startPostgres()
  process.env.HEADRACE_TEST_POSTGRES = server.url
  return server.url
}

/**
 * Starts a server with empty data on a free port; it ends with this process, however that ends. Throws when PostgreSQL
 * is not installed.
 */
export async function startPostgres(options: TestPostgresOptions = {}): Promise<TestPostgres> {
  const programs = findPrograms()
  if (programs === null) throw new Error('PostgreSQL is not installed')
  const folder = mkdtempSync(join(tmpdir(), 'headrace-postgres-'))
  const userId = isRoot() ? userIdOf(serverUser) : null
  if (userId !== null) chownSync(folder, userId, userId)
  await clearAfterTheEnd(folder)
  const data = join(folder, 'data')
  const port = await sparePort()
  // No socket file: in a deep folder its path would be longer than the system allows.
  const durability = options.fsync ? '-c fsync=on' : forgetful
  const settings = `-p ${port} -c unix_socket_directories= -c listen_addresses=127.0.0.1 -c max_connections=500 ${durability}`
  const control = (...words: string[]): void =>
    run([join(programs, 'pg_ctl'), '-D', data, '-w', ...words], folder)
  const start = (): void => control('-l', join(folder, 'log'), '-o', settings, 'start')
  const makeData = [join(programs, 'initdb'), '-D', data, '-A', 'trust', '-U', serverUser]
  run([...makeData, '-N', '--no-instructions', '-E', 'UTF8', '--locale=C'], folder)
  start()
  const kill = (): void => control('-m', 'immediate', 'stop')
  return {
    url: `postgres://${serverUser}@127.0.0.1:${port}/postgres`,
    kill,
    start,
    stop() {
      try {
        if (existsSync(join(data, 'postmaster.pid'))) kill()
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
  }
}

function asServerUser(command: string[]): string[] {
  if (!isRoot()) return command
  return ['setpriv', `--reuid=${serverUser}`, `--regid=${serverUser}`, '--init-groups', ...command]
}

function run(command: string[], folder: string): void {
  const { exitCode, stderr } = Bun.spawnSync(asServerUser(command), {
    cwd: folder,
    stdout: 'ignore',
    stderr: 'pipe',
    stdin: 'ignore',
  })
  if (exitCode !== 0) throw new Error(`${command[0]} failed: ${stderr}`)
}

/** The folder of the newest installed server's programs. */
function findPrograms(): string | null {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root)
    ? readdirSync(root).toSorted((left, right) => Number(right) - Number(left))
    : []
  for (const version of versions) {
    const folder = join(root, version, 'bin')
    if (existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'pg_ctl'))) return folder
  }
  const found = Bun.which('initdb')
  return found === null ? null : join(found, '..')
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

function userIdOf(name: string): number | null {
  const { exitCode, stdout } = Bun.spawnSync(['id', '-u', name], { stderr: 'ignore' })
  return exitCode === 0 ? Number(stdout.toString()) : null
}

function sparePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}

/** A new, empty database on the shared server, as the environment of a gateway. Throws where there is no server. */
export async function freshDatabase(): Promise<{ DATABASE_URL: string }> {
  const server = await sharedPostgresUrl()
  if (server === null) throw new Error('PostgreSQL is not installed')
  const name = `headrace_prove_${crypto.randomUUID().replaceAll('-', '')}`
  const connection = new SQL({ url: server, max: 1 })
  await connection.unsafe(`create database ${name}`)
  await connection.close()
  const url = new URL(server)
  url.pathname = `/${name}`
  return { DATABASE_URL: url.href }
}
