import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import { captureRowOf, insertOrganization } from '../../../test/simulation/billing-fixtures.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import type { Database, Statement } from '../../storage/database.ts'
import { openDatabase } from '../../storage/open-database.ts'
import { createAccountsRepository } from './accounts-repository.ts'
import { type Accounts, createAccounts } from './accounts.ts'
import type { CaptureRow } from './capture-row.ts'
import { createInvariantsRepository } from './invariants-repository.ts'
import { checkInvariants } from './invariants.ts'
import { createLedger } from './ledger-repository.ts'
import { insertCapturePostings, insertUsages } from './capture-repository.ts'
import { createRollupRepository, insertUsageTail, type RollupRepository } from './rollup-repository.ts'
import { createRollup, rollupEveryMs, rollupPagesMax, rollupRowsMax } from './rollup.ts'

const dayMs = 86_400_000
const startMs = Date.UTC(2026, 5, 17, 12)

/** Lets other tasks run: reads of SQLite never wait, so a loop of them would block the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** The rows that a capture writes, without the leases. */
function captures(rows: readonly CaptureRow[]): Statement[] {
  const postings = insertCapturePostings(rows)
  const usages = insertUsages(rows.map((row) => ({ row, held: 0n })))
  return [usages, ...(postings === null ? [] : [postings]), insertUsageTail(rows)]
}

function commit(database: Database, rows: readonly CaptureRow[]): Promise<unknown> {
  return database.commit({ name: 'test.capture', statements: captures(rows) })
}

function accountsOn(database: Database): Accounts {
  return createAccounts(createLedger(database), createAccountsRepository(database))
}

async function findings(database: Database): Promise<unknown[]> {
  return checkInvariants(createInvariantsRepository(database))
}

/** Rolls up until the tail is empty; returns the number of units. */
async function drain(repository: RollupRepository, rowsMax = 1_000): Promise<number> {
  let units = 0
  for (;;) {
    const { position } = await repository.loadCursor()
    const tailIds = await repository.listTail(rowsMax)
    if (tailIds.length === 0) return units
    if (await repository.rollUp(position, tailIds)) units += 1
  }
}

async function requestsRolledUp(database: Database): Promise<number> {
  const [row] = await database.query<{ found: number }>(
    'select cast(coalesce(sum(requests), 0) as bigint) as found from usage_rollups',
  )
  return row?.found ?? -1
}

eachDatabase((name, _open, { openFresh }) => {
  test('shown usage is the same before, while and after it is rolled up', async () => {
    const nowExpression = `(select cast(${startMs} as bigint))`
    const { database } = await openFresh({ nowExpression })
    await insertOrganization(database, 'org_a', 'tracked')
    const agesMs = [0, 13 * 3_600_000, 4 * dayMs, 20 * dayMs, 400 * dayMs]
    for (const [index, ageMs] of agesMs.entries()) {
      const change = { createdAtMs: startMs - ageMs, model: `maker/model-${index % 2}` }
      await commit(database, [captureRowOf(`gen-${index}`, 10n ** BigInt(index), change)])
    }
    await commit(database, [captureRowOf('gen-other', 7n, { keyId: 'key_b', createdAtMs: startMs })])
    const accounts = accountsOn(database)
    const expectSame = async () => {
      // The 17th of June 2026 is a Wednesday.
      const key = { total: 11_111n, daily: 1n, weekly: 11n, monthly: 111n }
      expect(await accounts.readKeyUsage('key_a')).toEqual(key)
      expect((await accounts.readKeyUsage('key_b')).monthly).toBe(7n)
      expect((await accounts.readCredits('org_a')).totalUsage).toBe(11_118n)
      expect(await findings(database)).toEqual([])
    }
    await expectSame()
    const repository = createRollupRepository(database)
    await repository.rollUp(0, await repository.listTail(3))
    await expectSame()
    await drain(repository)
    await expectSame()
    expect(
      await database.query('select hour, cost_nanocredits from usage_rollups where hour < 490000'),
    ).toEqual([{ hour: (startMs - 400 * dayMs) / 3_600_000, cost_nanocredits: 10_000n }])
  })

  test('processes that capture, roll up and look at the same time count every call once', async () => {
    const { database: first, url } = await openFresh()
    const others = await Promise.all([openDatabase({ url }), openDatabase({ url })])
    const [second, third] = others
    const capturing = { isOver: false }
    const capture = async (database: Database, process: number): Promise<void> => {
      for (let unit = 0; unit < 40; unit++) {
        const rows = Array.from({ length: 5 }, (_, index) => {
          const createdAtMs = startMs - ((unit * 7 + index) % 50) * 3_600_000
          return captureRowOf(`gen-${process}-${unit}-${index}`, BigInt(unit + index), { createdAtMs })
        })
        await commit(database, rows)
      }
    }
    const rollUp = async (database: Database): Promise<number> => {
      let units = 0
      while (!capturing.isOver) {
        units += await drain(createRollupRepository(database), 7)
        await turn()
      }
      return units
    }
    const look = async (): Promise<unknown[]> => {
      const seen: unknown[] = []
      while (!capturing.isOver) {
        seen.push(...(await findings(third)))
        await turn()
      }
      return seen
    }
    const rolling = [rollUp(first), rollUp(second)]
    const looking = look()
    await Promise.all([capture(first, 1), capture(second, 2), capture(third, 3)])
    capturing.isOver = true
    const units = await Promise.all(rolling)
    expect(await looking).toEqual([])
    expect(Math.max(...units)).toBeGreaterThan(3)
    await drain(createRollupRepository(first))
    expect(await requestsRolledUp(first)).toBe(600)
    expect(await findings(first)).toEqual([])
    await Promise.all(others.map((database) => database.close()))
  })

  test('a row that commits after later rows were rolled up is counted too', async () => {
    const { database, url } = await openFresh()
    const repository = createRollupRepository(database)
    const late = captures([captureRowOf('gen-late', 1n, { createdAtMs: startMs - dayMs })])
    const finish = name === 'postgres' ? await holdOpen(url, late) : null
    await commit(database, [captureRowOf('gen-early', 2n, { createdAtMs: startMs })])
    expect(await drain(repository)).toBe(1)
    await (finish === null ? database.commit({ name: 'late', statements: late }) : finish())
    expect((await accountsOn(database).readKeyUsage('key_a')).total).toBe(3n)
    expect(await drain(repository)).toBe(1)
    expect(await requestsRolledUp(database)).toBe(2)
    expect((await accountsOn(database).readKeyUsage('key_a')).total).toBe(3n)
    expect(await findings(database)).toEqual([])
  })

  test('of two processes that saw the same tail one rolls it up, also when ids come back', async () => {
    const { database } = await openFresh()
    const repository = createRollupRepository(database)
    await commit(database, [captureRowOf('gen-1', 5n)])
    const { position } = await repository.loadCursor()
    const tailIds = await repository.listTail(10)
    expect(await repository.rollUp(position, tailIds)).toBe(true)
    await commit(database, [captureRowOf('gen-2', 6n)])
    expect(await repository.rollUp(position, tailIds)).toBe(false)
    expect(await requestsRolledUp(database)).toBe(1)
    // The cursor is right, but the rows with these ids no longer exist.
    const gone = await repository.rollUp((await repository.loadCursor()).position, [999, 1_000])
    expect(gone).toBe(false)
    expect(await findings(database)).toEqual([])
  })

  test('a process that never hears of its commit counts nothing twice', async () => {
    const { database, url } = await openFresh()
    const deaf = await openDatabase({
      url,
      onCommit: ({ name: unit }) => {
        if (unit === 'usage.roll_up') throw new Error('died')
      },
    })
    await commit(database, [captureRowOf('gen-1', 5n)])
    const dying = createRollup({ repository: createRollupRepository(deaf) })
    expect(await dying.round().catch((error: unknown) => error)).toMatchObject({ message: 'died' })
    await createRollup({ repository: createRollupRepository(database) }).round()
    await drain(createRollupRepository(database))
    expect(await requestsRolledUp(database)).toBe(1)
    expect(await findings(database)).toEqual([])
    await deaf.close()
  })

  test('a roll-up with lost usage, and a wrong day, are findings', async () => {
    const { database } = await openFresh()
    await commit(database, [captureRowOf('gen-1', 5n, { createdAtMs: startMs })])
    await drain(createRollupRepository(database))
    const tamper = (sql: string) => database.commit({ name: 'test.tamper', statements: [{ sql }] })
    await tamper('update usage_days set cost_nanocredits = 6')
    expect(await findings(database)).toHaveLength(2)
    await tamper('update usage_days set cost_nanocredits = 5')
    const found = {
      invariant: 'usage is what was rolled up and the tail',
      subject: expect.stringContaining('key_a'),
    }
    await tamper('update usage_quarters set input_tokens = input_tokens - 1')
    expect(await findings(database)).toMatchObject([
      { ...found, detail: expect.stringContaining('the hour exceeds its quarters') },
    ])
    // Both sums are wrong alike, so that only the usage rows tell.
    await tamper('update usage_rollups set input_tokens = input_tokens - 1')
    expect(await findings(database)).toMatchObject([
      { ...found, detail: expect.stringContaining('usages exceed roll-ups and tail') },
    ])
  })
})

/** Workspace, member and credential of a capture, unless a test changes them. */
const whose = ['ws_a', '', 'operator:maker']

test('captures of one quarter of an hour, key, model and provider add one row to the tail', () => {
  const rows = [
    captureRowOf('gen-1', 5n, { createdAtMs: startMs, source: 'estimated' }),
    captureRowOf('gen-2', 6n, { createdAtMs: startMs + 899_999 }),
    captureRowOf('gen-3', 7n, { createdAtMs: startMs + 900_000 }),
    captureRowOf('gen-4', 8n, { createdAtMs: startMs + 3_600_000 }),
  ]
  const hour = startMs / 3_600_000
  const quarter = 4 * hour
  const group = ['key_a', 'maker/model', 'maker', ...whose]
  expect(insertUsageTail(rows).rows).toEqual([
    [quarter, 'org_a', hour, ...group, 2, 20, 10, 0, 0, 0, 1, 11n],
    [quarter + 1, 'org_a', hour, ...group, 1, 10, 5, 0, 0, 0, 0, 7n],
    [quarter + 4, 'org_a', hour + 1, ...group, 1, 10, 5, 0, 0, 0, 0, 8n],
  ])
})

test('a roll-up tells workspace, member and credential apart, and not the end users of a caller', () => {
  const rows = [
    captureRowOf('gen-1', 1n, { userId: 'user-1' }),
    captureRowOf('gen-2', 1n, { userId: 'user-2' }),
    captureRowOf('gen-3', 1n, { workspaceId: 'ws_b' }),
    captureRowOf('gen-4', 1n, { memberId: 'member_b' }),
    captureRowOf('gen-5', 1n, { credentialId: 'credential_b' }),
  ]
  expect(insertUsageTail(rows).rows?.map((row) => row.slice(6, 10))).toEqual([
    [...whose, 2],
    ['ws_b', '', 'operator:maker', 1],
    ['ws_a', 'member_b', 'operator:maker', 1],
    ['ws_a', '', 'credential_b', 1],
  ])
})

/** A tail in memory that never ends, and a cursor. */
function endlessTail(idleMs: number): RollupRepository & { units: number } {
  return {
    units: 0,
    loadCursor() {
      return Promise.resolve({ position: this.units + 1, idleMs })
    },
    listTail: (limit) => Promise.resolve(Array.from({ length: limit }, (_, index) => index)),
    rollUp(_position, tailIds) {
      expect(tailIds).toHaveLength(rollupRowsMax)
      this.units += 1
      return Promise.resolve(true)
    },
  }
}

test('a round is bounded, and a round that another process has just made is not repeated', async () => {
  const endless = endlessTail(rollupEveryMs)
  await createRollup({ repository: endless }).round()
  expect(endless.units).toBe(rollupPagesMax)
  const fresh = endlessTail(10)
  await createRollup({ repository: fresh }).round()
  expect(fresh.units).toBe(0)
  // The database's clock was set back: a needless round does no harm, a missing one would.
  const ahead = endlessTail(-dayMs)
  await createRollup({ repository: ahead }).round()
  expect(ahead.units).toBe(rollupPagesMax)
})

test('a failure is reported once per streak, rounds never overlap, and stopping waits for the one that runs', async () => {
  const told: unknown[] = []
  let tick = (): void => undefined
  let isFailing = true
  const running = Promise.withResolvers<number[]>()
  const repository: RollupRepository = {
    ...endlessTail(rollupEveryMs),
    listTail: () => (isFailing ? Promise.reject(new Error('no storage')) : running.promise),
  }
  const timing = {
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
    sleep: () => Promise.resolve(),
    defer: (task: () => void) => task(),
    every: (_ms: number, task: () => void) => {
      tick = task
      return () => {
        tick = () => undefined
      }
    },
  }
  const rollup = createRollup({ repository, timing, report: (cause) => told.push(cause) })
  rollup.start()
  for (let count = 0; count < 3; count++) {
    tick()
    await turn()
  }
  expect(told).toHaveLength(1)
  isFailing = false
  tick()
  tick()
  await turn()
  const stopping = rollup.stop()
  expect(await Promise.race([stopping.then(() => 'stopped'), turn().then(() => 'waits')])).toBe('waits')
  running.resolve([])
  await stopping
  expect(told).toHaveLength(1)
})

/** Runs statements in a transaction of their own and leaves it open; returns how to commit it. */
async function holdOpen(url: string, statements: readonly Statement[]): Promise<() => Promise<void>> {
  const sql = new SQL({ url, max: 1, bigint: true })
  const connection = await sql.reserve()
  await connection.unsafe('begin')
  for (const statement of statements) {
    for (const row of statement.rows ?? []) await connection.unsafe(statement.sql, [...row])
  }
  return async () => {
    await connection.unsafe('commit')
    void connection.release()
    await sql.close()
  }
}
