import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import type { Socket, TCPSocketListener } from 'bun'
import { startPostgres, whyNoPostgres } from '../../../test/support/postgres.ts'
import type { TestPostgres } from '../../../test/support/postgres.ts'
import { outcomeOf } from '../commit-once.ts'
import { UniqueViolation } from '../database.ts'
import type { Database, DatabaseOptions, Unit } from '../database.ts'
import { openDatabase } from '../open-database.ts'
import { Signals } from '../signals.ts'
import { OwnerLock, postgresOwnerPauseMs } from './owner-lock.ts'
import { Pool } from './pool.ts'
import { SignalConnection } from './signal-connection.ts'

const reason = whyNoPostgres()
if (reason !== null) console.warn(`skipped on postgres: ${reason}`)

function insert(id: string): Unit {
  const sql = 'insert into blob_deletions (blob, due_at_ms) values ($1, $2)'
  return { name: 'insert', statements: [{ sql, params: [id, 0] }] }
}

function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  )
}

describe.skipIf(reason !== null)('postgres', () => {
  let server: TestPostgres
  const opened: Database[] = []
  const proxies: Proxy[] = []

  beforeAll(async () => {
    server = await startPostgres()
    await (await open(server.url)).close()
  }, 60_000)

  afterAll(async () => {
    await Promise.all(opened.map((database) => database.close()))
    for (const proxy of proxies) proxy.stop()
    server.stop()
  })

  async function open(url: string, options: Omit<DatabaseOptions, 'url'> = {}): Promise<Database> {
    const database = await openDatabase({ connectionsMax: 4, ownerGraceMs: 0, ...options, url })
    opened.push(database)
    return database
  }

  function proxyTo(): Proxy {
    const proxy = new Proxy(Number(new URL(server.url).port))
    proxies.push(proxy)
    return proxy
  }

  test('a signal reaches other processes', async () => {
    const [here, there] = await Promise.all([open(server.url), open(server.url)])
    const heard = Promise.withResolvers<void>()
    there.listen('work', heard.resolve)
    here.notify('work')
    await heard.promise
    expect(here.health().ok).toBe(true)
  })

  test('a connection lost during the commit leaves it unknown, and a second commit shows the outcome', async () => {
    const proxy = proxyTo()
    const database = await open(proxy.url(server.url))
    proxy.cutAfter('commit\0')
    const failure = await failureOf(database.commit(insert('uncertain')))
    expect(failure).toMatchObject({ type: 'storage_unavailable' })
    expect(outcomeOf(failure).type).toBe('unknown')
    expect(database.health().ok).toBe(false)
    expect(await failureOf(database.commit(insert('uncertain')))).toBeInstanceOf(UniqueViolation)
  })

  test('a connection lost before the commit is only tried again', async () => {
    const proxy = proxyTo()
    const database = await open(proxy.url(server.url))
    proxy.cutAfter('blob_deletions')
    await database.commit(insert('tried-again'))
    expect(proxy.cuts).toBe(1)
    expect(
      await database.query('select due_at_ms from blob_deletions where blob = $1', ['tried-again']),
    ).toEqual([{ due_at_ms: 0 }])
  })

  test('a process that was frozen in the middle of a transaction only tries it again', async () => {
    const proxy = proxyTo()
    const database = await open(proxy.url(server.url))
    proxy.freezeAfter('frozen-unit', 300)
    const impatient = { sql: 'set local idle_in_transaction_session_timeout = 50' }
    await database.commit({ name: 'frozen', statements: [impatient, ...insert('frozen-unit').statements] })
    expect(proxy.freezes).toBe(1)
    expect(database.health()).toMatchObject({ ok: true, lastError: null })
    expect(
      await database.query('select due_at_ms from blob_deletions where blob = $1', ['frozen-unit']),
    ).toEqual([{ due_at_ms: 0 }])
  })

  test('units that deadlock all succeed in the end', async () => {
    const databases = await Promise.all([open(server.url), open(server.url)])
    await databases[0]?.commit({
      name: 'rows',
      statements: [...insert('dead-a').statements, ...insert('dead-b').statements],
    })
    const sql = 'update blob_deletions set due_at_ms = due_at_ms + 1 where blob = $1'
    const order = (ids: string[]): Unit => ({
      name: 'cross',
      statements: ids.map((id) => ({ sql, params: [id], expect: 1 })),
    })
    const all = databases.flatMap((database, index) =>
      Array.from({ length: 10 }, () =>
        database.commit(order(index === 0 ? ['dead-a', 'dead-b'] : ['dead-b', 'dead-a'])),
      ),
    )
    await Promise.all(all)
    const rows = await databases[0]?.query(`select due_at_ms from blob_deletions where blob like 'dead-%'`)
    expect(rows).toEqual([{ due_at_ms: 20 }, { due_at_ms: 20 }])
  }, 30_000)

  test('a network that drops all packets is given up, and a fresh connection works', async () => {
    const proxy = proxyTo()
    const pool = new Pool({ url: proxy.url(server.url), connectionsMax: 1, patienceMs: 2_000 })
    const ask = (): Promise<unknown> => pool.use<unknown>((sql) => sql.unsafe('select 1 as one'))
    await ask()
    proxy.isStalled = true
    expect(await failureOf(ask())).toMatchObject({ code: 'ERR_POSTGRES_CONNECTION_CLOSED' })
    proxy.isStalled = false
    expect(Array.from((await ask()) as unknown[])).toEqual([{ one: 1 }])
    await pool.close()
  })

  test('a server that is gone is an unavailable storage at once, and recovery needs no restart', async () => {
    const database = await open(server.url)
    const other = await open(server.url)
    const woken = Promise.withResolvers<void>()
    server.kill()
    const started = performance.now()
    expect(await failureOf(database.query('select 1 as one'))).toMatchObject({ type: 'storage_unavailable' })
    expect(await failureOf(database.commit(insert('gone')))).toMatchObject({ type: 'storage_unavailable' })
    expect(performance.now() - started).toBeLessThan(10_000)
    expect(database.health()).toMatchObject({ ok: false, queueLength: expect.any(Number) })
    expect(await database.isOwnerDead(other.ownerId)).toBe(false)
    database.listen('anything', woken.resolve)
    server.start()
    await database.commit(insert('back'))
    expect(await database.query('select blob from blob_deletions where blob = $1', ['back'])).toEqual([
      { blob: 'back' },
    ])
    expect(database.health()).toMatchObject({ ok: true, lastError: null })
    // Signals may have been missed meanwhile, therefore every listener is called.
    await woken.promise
    // Both processes take their ids again; without a grace time they look dead to each other until then.
    const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
    while (await database.isOwnerDead(other.ownerId)) await nextTurn()
    while (await other.isOwnerDead(database.ownerId)) await nextTurn()
  }, 20_000)

  test('a process that only reads also notices that the server is gone, and that it is back', async () => {
    const database = await open(server.url)
    await database.query('select 1 as one')
    expect(database.health().ok).toBe(true)
    server.kill()
    await failureOf(database.query('select 1 as one'))
    expect(database.health().ok).toBe(false)
    server.start()
    // Only a question makes the process look again, because a gateway that is not ready serves no reads.
    const deadline = performance.now() + 15_000
    while (!database.health().ok && performance.now() < deadline) await Bun.sleep(20)
    expect(database.health()).toMatchObject({ ok: true, lastError: null })
  }, 20_000)

  test('signals arrive again after the network lost one', async () => {
    const proxy = proxyTo()
    const signals = new Signals()
    const connection = new SignalConnection(proxy.url(server.url), signals, 200)
    await connection.open()
    proxy.isStalled = true
    connection.notify('work')
    await Bun.sleep(300)
    proxy.isStalled = false
    await Bun.sleep(300)
    const sender = await open(server.url)
    const heard = Promise.withResolvers<string>()
    signals.listen('work', () => heard.resolve('heard'))
    const sending = setInterval(() => sender.notify('work'), 50)
    const silence = Bun.sleep(15_000).then(() => 'nothing')
    expect(await Promise.race([heard.promise, silence])).toBe('heard')
    clearInterval(sending)
    await connection.close()
  }, 30_000)

  test('an owner asks for its lost lock one at a time, however long the server is gone', async () => {
    const proxy = proxyTo()
    const lock = new OwnerLock({ url: proxy.url(server.url), ownerId: 'owner_of_test', graceMs: 0 })
    await lock.take()
    const takes = spyOn(lock, 'take')
    const startMs = performance.now()
    proxy.stop()
    while (takes.mock.calls.length < 5) await Bun.sleep(postgresOwnerPauseMs / 4)
    // However late a busy machine wakes it, it never asks more often than once a pause.
    const pauses = (performance.now() - startMs) / postgresOwnerPauseMs
    expect(takes.mock.calls.length).toBeLessThanOrEqual(Math.ceil(pauses) + 1)
    await lock.close()
  })

  test('a lost connection is not a death: others wait before they believe it', async () => {
    const patient = await open(server.url, { ownerGraceMs: 60_000 })
    const other = await open(server.url)
    await other.close()
    expect(await patient.isOwnerDead(other.ownerId)).toBe(false)
    expect(await (await open(server.url)).isOwnerDead(other.ownerId)).toBe(true)
  })

  test('an owner seen without its lock after each of two outages is not dead', async () => {
    const proxy = proxyTo()
    const [watcher, admin] = [await open(server.url, { ownerGraceMs: 300 }), await open(server.url)]
    const owner = await open(proxy.url(server.url))
    const cutEverybodyOff = async () => {
      proxy.isStalled = true
      const others = `select pid, pg_terminate_backend(pid) from pg_stat_activity
        where pid <> pg_backend_pid() and application_name = 'headrace' and query like '%pg_advisory_lock%'`
      const pids = (await admin.query<{ pid: number }>(others)).map(({ pid }) => pid)
      const left = `select pid from pg_stat_activity where pid in (${pids.join()})`
      while ((await admin.query(left)).length > 0) await Bun.sleep(5)
    }
    await cutEverybodyOff()
    expect(await watcher.isOwnerDead(owner.ownerId)).toBe(false)
    proxy.isStalled = false
    for (const { ownerId } of [owner, watcher]) while (await admin.isOwnerDead(ownerId)) await Bun.sleep(20)
    await Bun.sleep(300)
    await cutEverybodyOff()
    expect(await watcher.isOwnerDead(owner.ownerId)).toBe(false)
    proxy.isStalled = false
  }, 30_000)

  test('an owner whose lock was free before this process lost its own is not dead', async () => {
    const pool = new Pool({ url: server.url, connectionsMax: 1, patienceMs: 5_000 })
    const lockOf = async (ownerId: string) => {
      const lock = new OwnerLock({ url: server.url, ownerId, graceMs: 200 })
      await lock.take()
      return lock
    }
    const [watcher, owner] = [await lockOf('watcher_of_test'), await lockOf('watched_of_test')]
    const isDead = () => watcher.isDead('watched_of_test', pool)
    await owner.giveBack()
    expect(await isDead()).toBe(false)
    await Bun.sleep(250)
    // The server has ended the watcher's session, and the watcher has not seen that yet.
    await watcher.giveBack()
    expect(await isDead()).toBe(false)
    await watcher.take()
    await Bun.sleep(250)
    expect(await isDead()).toBe(true)
    await Promise.all([watcher.close(), owner.close(), pool.close()])
  })

  test('a server that refuses us is reported at the start', async () => {
    const failure = await failureOf(
      openDatabase({ url: server.url.replace('/postgres', '/nowhere').replace('//postgres', '//nobody') }),
    )
    expect(failure).toMatchObject({ type: 'storage_unavailable' })
    expect(await failureOf(openDatabase({ url: 'postgres://nobody@127.0.0.1:1/nowhere' }))).toMatchObject({
      type: 'storage_unavailable',
    })
  }, 20_000)

  test('a pooler that has no connection left is an unavailable storage, whatever it calls that', async () => {
    const fields = 'SFATAL\0VFATAL\0CXX000\0Mmax clients reached\0\0'
    const refusal = Buffer.alloc(5 + fields.length)
    refusal.write('E', 0)
    refusal.writeInt32BE(4 + fields.length, 1)
    refusal.write(fields, 5)
    const pooler = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: { data: (client) => void client.end(refusal) },
    })
    const failure = await failureOf(openDatabase({ url: `postgres://anybody@127.0.0.1:${pooler.port}/any` }))
    expect(failure).toMatchObject({ type: 'storage_unavailable', cause: { code: 'XX000' } })
    pooler.stop(true)
  })
})

interface Upstream {
  upstream: Promise<Socket | null>
}

/** A connection in the middle that can be cut or stalled. */
class Proxy {
  isStalled = false
  cuts = 0
  freezes = 0
  #cutAfter: string | null = null
  #freeze: { after: string; ms: number } | null = null
  readonly #listener: TCPSocketListener<Upstream>

  constructor(port: number) {
    this.#listener = Bun.listen<Upstream>({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        open: (client) => {
          client.data = { upstream: this.#connect(client, port) }
        },
        data: async (client, bytes) => {
          const isCut = this.#cutAfter !== null && bytes.includes(this.#cutAfter)
          const upstream = await client.data.upstream
          if (!this.isStalled) upstream?.write(bytes)
          if (this.#freeze !== null && bytes.includes(this.#freeze.after)) this.#freezeNow(this.#freeze.ms)
          if (!isCut) return
          // The server has the commit; its answer is lost.
          this.#cutAfter = null
          this.cuts++
          client.terminate()
        },
        close: async (client) => {
          const upstream = await client.data.upstream
          upstream?.end()
        },
      },
    })
  }

  async #connect(client: Socket<Upstream>, port: number): Promise<Socket | null> {
    try {
      return await Bun.connect({
        hostname: '127.0.0.1',
        port,
        socket: {
          data: (_, bytes) => void (this.isStalled || client.write(bytes)),
          close: () => void client.end(),
        },
      })
    } catch {
      client.terminate()
      return null
    }
  }

  /** Cuts the next connection whose client sends these bytes, right after passing them on. */
  cutAfter(text: string): void {
    this.#cutAfter = text
  }

  /** Freezes this process once, right after passing these bytes on. */
  freezeAfter(after: string, ms: number): void {
    this.#freeze = { after, ms }
  }

  #freezeNow(ms: number): void {
    this.#freeze = null
    this.freezes++
    Bun.sleepSync(ms)
  }

  url(serverUrl: string): string {
    const url = new URL(serverUrl)
    url.port = String(this.#listener.port)
    return url.href
  }

  stop(): void {
    this.#listener.stop(true)
  }
}
