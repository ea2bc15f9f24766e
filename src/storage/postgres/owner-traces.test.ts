import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres, whyNoPostgres } from '../../../test/support/postgres.ts'
import type { TestPostgres } from '../../../test/support/postgres.ts'
import { deadOwnerKeptMs } from './postgres-database.ts'
import type { Database } from '../database.ts'
import { openDatabase } from '../open-database.ts'
import { OwnerTraces, ownerTraceKeptMs } from './owner-traces.ts'

const folder = mkdtempSync(join(tmpdir(), 'headrace-traces-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A process of its own that runs a script and prints one line; it stays until it is ended. */
async function startProcess(script: string) {
  const child = Bun.spawn([process.execPath, '--no-env-file', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { value } = await child.stdout.getReader().read()
  return {
    line: new TextDecoder().decode(value).trim(),
    signal: (name: 'SIGSTOP') => child.kill(name),
    async kill() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

const stay = 'setInterval(() => undefined, 1_000)'

function leavingTrace(ownerId: string) {
  const options = JSON.stringify({ folder, ownerId })
  return startProcess(`
    const { OwnerTraces } = await import(${JSON.stringify(join(import.meta.dir, 'owner-traces.ts'))})
    const traces = new OwnerTraces(${options})
    traces.leave()
    console.log('left')
    ${stay}
    setInterval(() => traces, 1_000)`)
}

test('a killed process is dead at once, a frozen one is not', async () => {
  const own = new OwnerTraces({ folder, ownerId: 'own' })
  own.leave()
  const [killed, frozen] = await Promise.all([leavingTrace('killed'), leavingTrace('frozen')])
  frozen.signal('SIGSTOP')
  expect(own.listDead()).toEqual([])
  await killed.kill()
  expect(own.listDead()).toEqual(['killed'])
  expect([own.isDead('killed'), own.isDead('frozen'), own.isDead('unknown')]).toEqual([true, false, false])
  own.forget(['killed'])
  expect(own.listDead()).toEqual([])
  await frozen.kill()
  own.forget(own.listDead())
  own.close()
  expect(readdirSync(folder)).toEqual([])
})

test('a trace of another machine, or one that has no lock yet, proves nothing, and is removed after a day', () => {
  const own = new OwnerTraces({ folder, ownerId: 'own', kernel: 'this' })
  for (const [ownerId, kernel] of [
    ['elsewhere', 'other'],
    ['beginning', ''],
  ] as const) {
    const path = join(folder, `${ownerId}.lock`)
    writeFileSync(path, kernel)
    expect([own.isDead(ownerId), existsSync(path)]).toEqual([false, true])
    const longAgo = (Date.now() - ownerTraceKeptMs - 1_000) / 1_000
    utimesSync(path, longAgo, longAgo)
    expect([own.isDead(ownerId), existsSync(path)]).toEqual([false, false])
  }
})

test('a folder that cannot be written keeps nobody from starting', () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  const own = new OwnerTraces({ folder: file, ownerId: 'own' })
  own.leave()
  expect(own.listDead()).toEqual([])
  own.close()
})

describe.skipIf(whyNoPostgres() !== null)('postgres', () => {
  let server: TestPostgres
  const opened: Database[] = []
  beforeAll(async () => {
    server = await startPostgres()
  }, 20_000)
  afterAll(async () => {
    await Promise.all(opened.map((database) => database.close()))
    await server.stop()
  })

  /** Waits for a lock that is free for so long that no test sees it. */
  async function open(ownersFolder?: string): Promise<Database> {
    const options = { connectionsMax: 2, ownerGraceMs: 600_000, ...(ownersFolder ? { ownersFolder } : {}) }
    const database = await openDatabase({ ...options, url: server.url })
    opened.push(database)
    return database
  }

  function startOwner(ownersFolder: string) {
    const options = JSON.stringify({ url: server.url, connectionsMax: 2, ownersFolder })
    return startProcess(`
      const { openDatabase } = await import(${JSON.stringify(join(import.meta.dir, '../open-database.ts'))})
      console.log((await openDatabase(${options})).ownerId)
      ${stay}`)
  }

  test('the next process on the same folder finds the death at once, and so do all others', async () => {
    const owners = join(folder, 'owners')
    const elsewhere = await open()
    const [first, second] = await Promise.all([startOwner(owners), startOwner(owners)])
    await first.kill()
    expect(await elsewhere.isOwnerDead(first.line)).toBe(false)
    const next = await open(owners)
    for (const each of [next, elsewhere]) {
      expect(await each.isOwnerDead(first.line)).toBe(true)
      expect(await each.isOwnerDead(second.line)).toBe(false)
    }
    // The death of a process while others run is found by any process of that machine that asks.
    await second.kill()
    expect(await elsewhere.isOwnerDead(second.line)).toBe(false)
    expect(await next.isOwnerDead(second.line)).toBe(true)
    expect(await elsewhere.isOwnerDead(second.line)).toBe(true)
    expect(readdirSync(owners)).toEqual([`${next.ownerId}.lock`])
  })

  test('the marks of the dead are removed with the first mark after an hour', async () => {
    const owners = join(folder, 'others')
    const kept = await startOwner(owners)
    await kept.kill()
    const database = await open(owners)
    const age = `update dead_owners set marked_at_ms = marked_at_ms - ${deadOwnerKeptMs + 1_000}`
    await database.commit({ name: 'test.age', statements: [{ sql: age }] })
    const died = await startOwner(owners)
    await died.kill()
    await open(owners)
    expect(await database.query('select owner_id from dead_owners')).toEqual([{ owner_id: died.line }])
  })
})
