import { beforeAll, expect, test } from 'bun:test'
import { eachDatabase } from '../../test/support/databases.ts'
import { createEarlierSchema } from '../../test/support/earlier-schema.ts'
import { AssertionError } from '../core/assert.ts'
import { GuardFailed, UniqueViolation } from './database.ts'
import type { Database, SqlValue, Statement, Unit } from './database.ts'
import { listMigrations } from './migrations.ts'
import { openDatabase } from './open-database.ts'

const insertRate = 'insert into rate_windows (rate_id, tat_us, updated_at_ms) values ($1, $2, $3)'
const insertPosting =
  'insert into postings (day, transaction_id, account, amount_nanocredits, created_at_ms, kind, reference) values ($1, $2, $3, $4, $5, $6, $7)'

eachDatabase((_name, open, { openFresh, createEmpty }) => {
  let db: Database

  beforeAll(async () => {
    db = await open()
  })

  const countRates = async (prefix: string): Promise<number> => {
    const rows = await db.query<{ count: number }>(
      `select count(*) as count from rate_windows where rate_id like $1`,
      [`${prefix}%`],
    )
    return rows[0]?.count ?? -1
  }

  test('a commit that resolved is visible to the next read', async () => {
    for (let round = 0; round < 20; round++) {
      await db.commit(rate(`visible-${round}`, round))
      expect(await countRates(`visible-${round}`)).toBe(1)
      await db.commit({
        name: 'clear',
        statements: [{ sql: 'delete from rate_windows where rate_id like $1', params: ['visible-%'] }],
      })
    }
  })

  test('every statement gives back its own returned rows, in order', async () => {
    const returned = await db.commit({
      name: 'returning',
      statements: [
        { sql: `${insertRate} returning rate_id, tat_us`, params: ['ret-a', 1, 2] },
        { sql: 'update rate_windows set tat_us = 7 where rate_id = $1', params: ['ret-a'] },
        { sql: 'select tat_us from rate_windows where rate_id = $1', params: ['ret-a'] },
      ],
    })
    expect(returned).toEqual([[{ rate_id: 'ret-a', tat_us: 1 }], [], [{ tat_us: 7 }]])
  })

  test('a unit is real as a whole or not at all', async () => {
    const broken = db.commit({
      name: 'half',
      statements: [statement('half-1'), statement('half-2'), statement('half-1')],
    })
    expect(await failureOf(broken)).toBeInstanceOf(UniqueViolation)
    expect(await countRates('half-')).toBe(0)
  })

  test('units that arrive together stand or fall alone', async () => {
    await db.commit(rate('group-7', 0))
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) => db.commit(rate(`group-${index}`, index))),
    )
    expect(outcomes.map((outcome) => outcome.status === 'fulfilled')).toEqual(
      outcomes.map((_, index) => index !== 7),
    )
    expect(await countRates('group-')).toBe(50)
  })

  test('a failing guard undoes its own unit and names itself', async () => {
    const guarded = (id: string, tat: number): Unit => ({
      name: 'take',
      statements: [
        statement(id),
        {
          sql: 'update rate_windows set tat_us = tat_us + 1 where rate_id = $1 and tat_us = $2',
          params: [id, tat],
          expect: 1,
          guard: 'free',
        },
      ],
    })
    const outcomes = await Promise.allSettled([
      db.commit(guarded('guard-a', 0)),
      db.commit(guarded('guard-b', 5)),
      db.commit(rate('guard-c', 0)),
      db.commit(guarded('guard-d', 0)),
    ])
    expect(outcomes.map((outcome) => outcome.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
    const reason: unknown = outcomes[1]?.status === 'rejected' ? outcomes[1].reason : null
    expect(reason).toBeInstanceOf(GuardFailed)
    expect(reason).toMatchObject({ guard: 'free', unit: 'take' })
    expect(await countRates('guard-')).toBe(3)
  })

  test('of fifty conditional updates of one budget only as many win as fit', async () => {
    await db.commit(rate('budget', 0))
    const take: Statement = {
      sql: 'update rate_windows set tat_us = tat_us + 10 where rate_id = $1 and tat_us + 10 <= 105',
      params: ['budget'],
      expect: 1,
      guard: 'enough',
    }
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, () => db.commit({ name: 'take', statements: [take] })),
    )
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled').length).toBe(10)
    expect(await db.query('select tat_us from rate_windows where rate_id = $1', ['budget'])).toEqual([
      { tat_us: 100 },
    ])
  })

  test('a unique violation names the table and the constraint alike on both databases', async () => {
    await db.commit(rate('unique', 0))
    expect(await failureOf(db.commit(rate('unique', 0)))).toMatchObject({
      table: 'rate_windows',
      constraint: 'rate_windows_pkey',
    })
    await db.commit(part('part-1', 1))
    expect(await failureOf(db.commit(part('part-2', 1)))).toMatchObject({
      table: 'parts',
      constraint: 'parts_batch_id_sequence_key',
    })
  })

  test('a wrong statement is a bug, not an unavailable storage', async () => {
    const failure = await failureOf(
      db.commit({ name: 'bug', statements: [{ sql: 'insert into nowhere (a) values ($1)', params: [1] }] }),
    )
    expect(failure).toBeInstanceOf(Error)
    expect(failure).not.toHaveProperty('type')
    expect(db.health()).toEqual({ ok: true, queueLength: 0, lastError: null })
  })

  test('nanocredits are bigints, every other integer is a number, and nothing loses a digit', async () => {
    const amount = 9_007_199_254_740_993n
    await db.commit({
      name: 'post',
      statements: [
        { sql: insertPosting, params: [20_000, 'tx-1', 'cash', amount, 1_795_215_264_680, 'grant', null] },
      ],
    })
    const rows = await db.query(
      `select amount_nanocredits, created_at_ms, reference, 3 as small, 3 as zero_nanocredits,
        (select sum(amount_nanocredits) from postings where transaction_id = $1) as sum_nanocredits,
        (select count(*) from postings where transaction_id = $1) as count
      from postings where transaction_id = $1`,
      ['tx-1'],
    )
    expect(rows).toEqual([
      {
        amount_nanocredits: amount,
        created_at_ms: 1_795_215_264_680,
        reference: null,
        small: 3,
        zero_nanocredits: 3n,
        sum_nanocredits: amount,
        count: 1,
      },
    ])
    const inexact = db.query('select amount_nanocredits as amount from postings where transaction_id = $1', [
      'tx-1',
    ])
    expect(await failureOf(inexact)).toBeInstanceOf(AssertionError)
  })

  test('bytes, booleans, text of any script and nulls come back as they went in', async () => {
    const bytes = new Uint8Array([0, 1, 254, 255])
    const text = `a'b"c\\ 漢字 🌊 \n`
    await db.commit({
      name: 'values',
      statements: [
        { sql: 'insert into blob_deletions (blob, due_at_ms) values ($1, $2)', params: [text, true] },
        part('part-bytes', 90, bytes),
      ].flatMap((entry) => ('statements' in entry ? entry.statements : [entry])),
    })
    expect(await db.query('select blob, due_at_ms from blob_deletions where blob = $1', [text])).toEqual([
      { blob: text, due_at_ms: 1 },
    ])
    const rows = await db.query<{ inline_body: Uint8Array }>(
      'select inline_body from parts where part_id = $1',
      ['part-bytes'],
    )
    expect(rows).toEqual([{ inline_body: bytes }])
    expect(rows[0]?.inline_body.constructor).toBe(Uint8Array)
  })

  test('a bulk insert writes every row, keeps what follows the values, and counts', async () => {
    const rows = Array.from({ length: 2_500 }, (_, index): SqlValue[] => [
      20_000 + (index % 3),
      `bulk-${index}`,
      'cash',
      index % 2 === 0 ? BigInt(index) : index,
      1,
      'capture',
      index % 3 === 0 ? null : `ref "${index}" \u{1F30A}`,
    ])
    const sql = `${insertPosting} on conflict (day, transaction_id, account) do nothing`
    await db.commit({ name: 'bulk', statements: [{ sql, rows, expect: 2_500, guard: 'all' }] })
    await db.commit({ name: 'bulk', statements: [{ sql, rows, expect: 0, guard: 'none' }] })
    const found = await db.query(
      `select count(*) as count, sum(amount_nanocredits) as sum_nanocredits, count(reference) as named from postings where transaction_id like 'bulk-%'`,
    )
    expect(found).toEqual([{ count: 2_500, sum_nanocredits: 3_123_750n, named: 1_666 }])
    expect(await db.query('select reference from postings where transaction_id = $1', ['bulk-1'])).toEqual([
      { reference: 'ref "1" \u{1F30A}' },
    ])
  })

  test('a bulk insert carries bytes, and values that are no parameters', async () => {
    const sql = `insert into parts (part_id, batch_id, segment_ordinal, epoch, sequence, item_count, inline_body, bytes, created_at_ms)
      values ($1, $2, 0, 1, $3, 1, $4, 1, now_ms()) returning part_id`
    const bytes = new Uint8Array([222, 173])
    const [returned] = await db.commit({
      name: 'bulk',
      statements: [
        {
          sql,
          rows: [
            ['bulk-p1', 'bulk-b', 1, bytes],
            ['bulk-p2', 'bulk-b', 2, null],
          ],
        },
      ],
    })
    expect(returned).toEqual([{ part_id: 'bulk-p1' }, { part_id: 'bulk-p2' }])
    expect(
      await db.query(`select inline_body from parts where batch_id = 'bulk-b' order by sequence`),
    ).toEqual([{ inline_body: bytes }, { inline_body: null }])
  })

  test('a bulk insert without rows touches nothing', async () => {
    expect(await db.commit({ name: 'none', statements: [{ sql: insertRate, rows: [], expect: 0 }] })).toEqual(
      [[]],
    )
  })

  test('the clock is the database’s own, or the one the test put in its place', async () => {
    const before = Date.now()
    const [row] = await db.query<{ now: number }>('select now_ms() as now')
    expect(Math.abs((row?.now ?? 0) - before)).toBeLessThan(5_000)
    const frozen = await open({ nowExpression: '(select 12345 + 0)' })
    expect(await frozen.query('select now_ms() as now')).toEqual([{ now: 12_345 }])
    await frozen.commit({
      name: 'clock',
      statements: [
        { sql: 'insert into blob_deletions (blob, due_at_ms) values ($1, now_ms())', params: ['clock'] },
      ],
    })
    expect(await frozen.query('select due_at_ms from blob_deletions where blob = $1', ['clock'])).toEqual([
      { due_at_ms: 12_345 },
    ])
  })

  test('locked rows are skipped where rows can be locked', async () => {
    await db.commit(rate('skip', 0))
    const sql = `update rate_windows set tat_us = 1 where rate_id in
      (select rate_id from rate_windows where rate_id = $1 limit 1 {{for_update_skip_locked}}) returning rate_id`
    expect(await db.commit({ name: 'lease', statements: [{ sql, params: ['skip'] }] })).toEqual([
      [{ rate_id: 'skip' }],
    ])
  })

  test('a test can fail a unit between its commit and its answer', async () => {
    const hooked = await open({
      onCommit: (unit) => {
        if (unit.name === 'doomed') throw new Error('the process died here')
      },
    })
    expect(
      String(await failureOf(hooked.commit({ name: 'doomed', statements: [statement('doomed')] }))),
    ).toContain('died here')
    expect(await countRates('doomed')).toBe(1)
  })

  test('a listener hears its own channel until it stops listening', async () => {
    const heard = Promise.withResolvers<void>()
    let others = 0
    const stopOther = db.listen('other', () => others++)
    const stop = db.listen('work', heard.resolve)
    db.notify('work')
    await heard.promise
    stop()
    stopOther()
    expect(others).toBe(0)
  })

  test('a living owner is not dead; a closed owner and an unknown one are', async () => {
    const other = await open()
    expect(other.ownerId).not.toBe(db.ownerId)
    expect(await db.isOwnerDead(db.ownerId)).toBe(false)
    expect(await db.isOwnerDead(other.ownerId)).toBe(false)
    await other.close()
    expect(await db.isOwnerDead(other.ownerId)).toBe(true)
    expect(await db.isOwnerDead('owner_never')).toBe(true)
  })

  test('a closed database refuses and closes only once', async () => {
    const other = await open()
    const last = other.commit(rate('last', 0))
    await Promise.all([other.close(), other.close()])
    expect(await last).toEqual([[]])
    expect(await failureOf(other.query('select 1 as one'))).toMatchObject({ type: 'storage_unavailable' })
    expect(await failureOf(other.commit(rate('after', 0)))).toMatchObject({ type: 'storage_unavailable' })
  })

  test('a database that is up to date is opened again without change', async () => {
    const { database, url } = await openFresh()
    const before = await database.query('select version, name, applied_at_ms from schema_migrations')
    await database.close()
    const again = await openDatabase({ url, migrate: false })
    expect(await again.query('select version, name, applied_at_ms from schema_migrations')).toEqual(before)
    await again.close()
  })

  test('a newer schema, and an older one without leave to migrate, refuse to start with one clear line', async () => {
    const { database, url } = await openFresh()
    await database.commit({
      name: 'future',
      statements: [
        {
          sql: 'insert into schema_migrations (version, name, applied_at_ms) values (99, $1, 0)',
          params: ['future'],
        },
      ],
    })
    expect(String(await failureOf(openDatabase({ url })))).toMatch(
      /^SchemaMismatch: The database has schema version 99, this program needs \d+: start a newer version\.$/,
    )
    await database.commit({
      name: 'past',
      statements: [{ sql: 'delete from schema_migrations', params: [] }],
    })
    expect(String(await failureOf(openDatabase({ url, migrate: false })))).toMatch(
      /schema version 0.*start a gateway on it, which brings it up to date\.$/,
    )
  })

  test('an older database is migrated once, with its keys, however many processes open it at once', async () => {
    const url = await createEmpty()
    await createEarlierSchema(url, 1, [
      "insert into organizations (organization_id, name, account_mode, created_at_ms) values ('o', 'o', 'tracked', 5)",
      `insert into api_keys (key_hash, key_id, organization_id, kind, name, label, limit_reset, created_at_ms)
        values ('h', 'k', 'o', 'inference', 'k', 'k', 'daily', 7)`,
    ])
    const options = { url, connectionsMax: 2, ownerGraceMs: 0 }
    const others = await Promise.all([1, 2, 3].map(() => openDatabase(options)))
    const keys = await others[0]?.query('select key_id, limit_since_ms, workspace_id from api_keys')
    expect(keys).toEqual([{ key_id: 'k', limit_since_ms: 7, workspace_id: 'ws_o' }])
    expect(await others[0]?.query('select version from schema_migrations order by version')).toEqual(
      listMigrations().map(({ version }) => ({ version })),
    )
    await Promise.all(others.map((other) => other.close()))
  })

  test('many processes may open an empty database at once', async () => {
    const { database, url } = await openFresh({ migrate: true })
    const others = await Promise.all(
      Array.from({ length: 4 }, () => openDatabase({ url, connectionsMax: 2 })),
    )
    const versions = listMigrations().map(({ version }) => ({ version }))
    expect(await database.query('select version from schema_migrations order by version')).toEqual(versions)
    await Promise.all(others.map((other) => other.close()))
  })
})

/** `expect().rejects` would hold up the loop that has to bring the answer. */
function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  )
}

function statement(id: string, tat = 0): Statement {
  return { sql: insertRate, params: [id, tat, 0] }
}

function rate(id: string, tat: number): Unit {
  return { name: 'rate', statements: [statement(id, tat)] }
}

function part(id: string, sequence: number, body: Uint8Array | null = null): Unit {
  const sql =
    'insert into parts (part_id, batch_id, segment_ordinal, epoch, sequence, item_count, inline_body, bytes, created_at_ms) values ($1, $2, 0, 1, $3, 1, $4, 1, 0)'
  return { name: 'part', statements: [{ sql, params: [id, 'batch_1', sequence, body] }] }
}
