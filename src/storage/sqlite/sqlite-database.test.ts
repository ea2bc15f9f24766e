import { afterAll, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nextTurn } from '../../core/turns.ts'
import type { Database, DatabaseOptions, Unit } from '../database.ts'
import { openDatabase } from '../open-database.ts'

const folder = mkdtempSync(join(tmpdir(), 'headrace-sqlite-'))
const databases: Database[] = []
const modulePath = new URL('../open-database.ts', import.meta.url).href

afterAll(async () => {
  await Promise.all(databases.map((database) => database.close()))
  rmSync(folder, { recursive: true, force: true })
})

async function open(name: string, options: Omit<DatabaseOptions, 'url'> = {}): Promise<Database> {
  const database = await openDatabase({ url: urlOf(name), ...options })
  databases.push(database)
  return database
}

function urlOf(name: string): string {
  return `sqlite:${join(folder, name)}`
}

function insert(id: string, filler = ''): Unit {
  const sql =
    'insert into usage_dead_letters (generation_id, payload_json, reason, created_at_ms) values ($1, $2, $3, 0)'
  return { name: 'insert', statements: [{ sql, params: [id, filler, 'test'] }] }
}

async function count(database: Database): Promise<number> {
  const rows = await database.query<{ count: number }>('select count(*) as count from usage_dead_letters')
  return rows[0]?.count ?? -1
}

function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  )
}

/** Starts another process that runs `script` with `database` open on the named file. */
function startProcess(name: string, script: string): Bun.Subprocess<'ignore', 'pipe', 'inherit'> {
  const source = `
    import { openDatabase } from ${JSON.stringify(modulePath)}
    const database = await openDatabase({ url: ${JSON.stringify(urlOf(name))} })
    const insert = (id) => ({ name: 'insert', statements: [{ sql: 'insert into usage_dead_letters (generation_id, payload_json, reason, created_at_ms) values ($1, $2, $3, 0)', params: [id, '', 'test'] }] })
    ${script}`
  return Bun.spawn([process.execPath, '-e', source], { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
}

/** Reads a process's output until it contains `text`. */
async function readUntil(stream: ReadableStream<Uint8Array>, text: string): Promise<string> {
  const decoder = new TextDecoder()
  let seen = ''
  for await (const chunk of stream) {
    seen += decoder.decode(chunk, { stream: true })
    if (seen.includes(text)) break
  }
  return seen
}

test('a new database opens with its schema well within a start, and faster the next time', async () => {
  const started = performance.now()
  const database = await open('start.db')
  expect(performance.now() - started).toBeLessThan(5_000)
  const [mode] = await database.query<{ journal_mode: string }>('pragma journal_mode')
  expect(mode?.journal_mode).toBe('wal')
})

test('several processes write one file without losing or refusing anything', async () => {
  const database = await open('shared.db')
  const script = (who: string): string => `
    const all = []
    for (let index = 0; index < 200; index++) all.push(database.commit(insert('${who}-' + index)))
    await Promise.all(all)
    await database.close()`
  const processes = ['a', 'b', 'c'].map((who) => startProcess('shared.db', script(who)))
  for (let index = 0; index < 100; index++) await database.commit(insert(`here-${index}`))
  expect(await Promise.all(processes.map((process) => process.exited))).toEqual([0, 0, 0])
  expect(await count(database)).toBe(700)
}, 20_000)

test('committed units survive a kill, others leave no trace, and the owner is known to be dead', async () => {
  const database = await open('killed.db')
  const process = startProcess(
    'killed.db',
    `let done = 0
    const more = async () => { for (;;) { await database.commit(insert('k-' + done)); done++; if (done === 50) console.log('owner=' + database.ownerId + ';') } }
    await more()`,
  )
  const output = await readUntil(process.stdout, ';')
  const ownerId = /owner=(\w+);/.exec(output)?.[1] ?? ''
  expect(await database.isOwnerDead(ownerId)).toBe(false)
  process.kill('SIGKILL')
  await process.exited
  expect(await database.isOwnerDead(ownerId)).toBe(true)
  const survived = await count(database)
  expect(survived).toBeGreaterThanOrEqual(50)
  await database.commit(insert('after'))
  expect(await count(database)).toBe(survived + 1)
}, 20_000)

test('a slow disk does not hold up the main loop', async () => {
  const database = await open('slow.db', { faults: { fsyncDelayMs: 300 } })
  const units = Array.from({ length: 20 }, (_, index) => database.commit(insert(`slow-${index}`)))
  const all = Promise.all(units).then(() => 'done')
  // A commit on this thread would leave it a turn or two until it is done, however busy the machine is.
  let turns = 0
  while ((await Promise.race([all, nextTurn()])) !== 'done') turns++
  expect(turns).toBeGreaterThan(50)
  expect(await count(database)).toBe(20)
})

test('another process that holds the lock delays writes but not reads', async () => {
  const database = await open('turns.db')
  const { FileLock } = await import('./file-lock.ts')
  const lock = new FileLock(join(folder, 'turns.db.lock'))
  lock.acquire()
  const done: string[] = []
  const commit = database.commit(insert('waits')).then(() => done.push('waits'))
  // Many times longer than a commit without a wait takes.
  const untilMs = performance.now() + 50
  while (performance.now() < untilMs) {
    expect(await count(database)).toBe(0)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(done).toEqual([])
  expect(database.health().queueLength).toBe(1)
  lock.close()
  await commit
  expect(await count(database)).toBe(1)
})

test('a unit that fails in a large group does not disturb its neighbours', async () => {
  const database = await open('neighbours.db')
  await database.commit(insert('taken'))
  const bug: Unit = { name: 'bug', statements: [{ sql: 'insert into nowhere values ($1)', params: [1] }] }
  const units = [insert('n-1'), insert('taken'), bug, insert('n-2'), insert('n-1'), insert('n-3')]
  const outcomes = await Promise.allSettled(units.map((unit) => database.commit(unit)))
  expect(outcomes.map((outcome) => outcome.status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
    'rejected',
    'fulfilled',
  ])
  expect(await count(database)).toBe(4)
})

test('more statements than are kept prepared still work', async () => {
  const database = await open('statements.db')
  const units = Array.from({ length: 1_200 }, (_, index): Unit => {
    const statement = {
      sql: `insert into blob_deletions (blob, due_at_ms) values ($1, ${index})`,
      params: [`s-${index}`],
    }
    return { name: 'distinct', statements: [statement, { sql: `select ${index} as value` }] }
  })
  const returned = await Promise.all(units.map((unit) => database.commit(unit)))
  expect(returned.map((rows) => rows[1]?.[0]?.value)).toEqual(units.map((_, index) => index))
  for (let index = 0; index < 1_200; index++) await database.query(`select ${index} as value`)
  expect(
    await database.query('select sum(due_at_ms) as total, count(*) as count from blob_deletions'),
  ).toEqual([{ total: 719_400, count: 1_200 }])
})

test('a file that cannot be opened is an unavailable storage, not a crash', async () => {
  expect(await failureOf(openDatabase({ url: 'sqlite:/dev/null/x/headrace.db' }))).toMatchObject({
    type: 'storage_unavailable',
  })
  expect(await failureOf(openDatabase({ url: urlOf('statements.db.owners') }))).toMatchObject({
    type: 'storage_unavailable',
  })
  // The tests may run as root, which ignores permissions, so a folder takes the place of the lock's file.
  mkdirSync(join(folder, 'locked.db.lock'))
  expect(await failureOf(openDatabase({ url: urlOf('locked.db') }))).toMatchObject({
    type: 'storage_unavailable',
    cause: { code: 'EISDIR' },
  })
})

test('the database and its log are readable by their owner alone', async () => {
  const database = await open('private.db')
  await database.commit(insert('private'))
  for (const name of ['private.db', 'private.db-wal', 'private.db-shm'])
    expect([name, (statSync(join(folder, name)).mode & 0o777).toString(8)]).toEqual([name, '600'])
})

// A small file system of our own needs the right to mount one.
const small = mountSmall()

test.skipIf(small === null)(
  'a full disk refuses writes, keeps serving reads, and recovers by itself',
  async () => {
    const mounted = small ?? ''
    const database = await openDatabase({ url: `sqlite:${join(mounted, 'full.db')}` })
    try {
      await database.commit(insert('before'))
      const filler = 'x'.repeat(200_000)
      const outcomes: unknown[] = []
      for (let index = 0; index < 40; index++)
        outcomes.push(await failureOf(database.commit(insert(`fill-${index}`, filler))))
      expect(outcomes.at(-1)).toMatchObject({ type: 'storage_unavailable' })
      expect(database.health()).toMatchObject({ ok: false, lastError: expect.stringContaining('SQLITE_') })
      const written = outcomes.filter((outcome) => outcome === null).length
      expect(await count(database)).toBe(written + 1)
      expect(Bun.spawnSync(['mount', '-o', 'remount,size=32m', mounted]).exitCode).toBe(0)
      await database.commit(insert('after', filler))
      expect(database.health()).toMatchObject({ ok: true, lastError: null })
      expect(await count(database)).toBe(written + 2)
    } finally {
      await database.close()
      Bun.spawnSync(['umount', mounted])
      rmSync(mounted, { recursive: true })
    }
  },
)

test('closing leaves the database file alone, without log, and without an owner', async () => {
  const database = await openDatabase({ url: urlOf('closed.db') })
  await database.commit(insert('one'))
  await database.close()
  expect(existsSync(join(folder, 'closed.db-wal'))).toBe(false)
  expect(readdirSync(join(folder, 'closed.db.owners'))).toEqual([])
})

function mountSmall(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || Bun.which('mount') === null) return null
  const path = mkdtempSync(join(tmpdir(), 'headrace-full-'))
  chmodSync(path, 0o700)
  const { exitCode } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', path], {
    stderr: 'ignore',
  })
  if (exitCode === 0) return path
  rmSync(path, { recursive: true })
  return null
}
