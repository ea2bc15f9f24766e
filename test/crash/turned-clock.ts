import type { GatewayProcess } from './gateway-process.ts'
import { addOrganization } from './people.ts'
import { createWorld, model, type World } from './world.ts'
import type { DialectName } from '../../src/storage/dialect.ts'

/** What was promised and what came of it. */
export interface ClockResult {
  figures: string[]
  problems: string[]
}

/** Organization whose creation time is by how much the database's clock is off. */
const offsetRow = 'clock_offset'
const offsetSql = `(select coalesce(max(created_at_ms), 0) from organizations where organization_id = '${offsetRow}')`
const clockSql: Record<DialectName, string> = {
  sqlite: `(cast(unixepoch('subsec') * 1000 as integer) + ${offsetSql})`,
  postgres: `(cast(extract(epoch from clock_timestamp()) * 1000 as bigint) + ${offsetSql})`,
}
const hourMs = 3_600_000
const callsPerPhase = 60

/**
 * Sets the database's clock back by an hour and then forward by two while two gateways take calls, and kills one while the
 * clock is back. Calls have to go on, nobody may be charged twice, and what the killed one held has to return although its
 * lease, by the clock, has an hour to go.
 */
export async function proveTurnedClock(name: DialectName): Promise<ClockResult> {
  const world = await createWorld({ database: name, credits: '100' })
  try {
    const problems: string[] = []
    const plan = { nowExpression: clockSql[name] }
    const [one, two] = [await world.start(plan), await world.start(plan)]
    // Between 500 and 600 of these calls' holds: enough for everything here, too little to waste.
    const { key, organizationId } = await addOrganization(world.database, 20_000_000n)
    const answered: string[] = []
    const before = await callAll([one, two], key, answered)
    await turnClock(world, -hourMs)
    const back = await callAll([one, two], key, answered)
    await callHanging(world, one, key)
    one.signal('SIGKILL')
    await one.ended
    const returnSeconds = await untilReturned(world, organizationId)
    await turnClock(world, hourMs)
    await Bun.sleep(2_000)
    const forward = await callAll([two], key, answered)
    two.signal('SIGTERM')
    await two.ended
    problems.push(...(await world.findings()))
    const answers = `${before}, ${back} and ${forward} of ${callsPerPhase}`
    if (before + back + forward !== 3 * callsPerPhase) problems.push(`calls failed: ${answers}`)
    if (returnSeconds === null) problems.push('what the killed process held never returned')
    const charged = await countUsages(world, organizationId)
    if (charged !== answered.length) problems.push(`${charged} usages of ${answered.length} answers`)
    const figures = [
      `${name}: clock set back an hour, then forward two: ${answers} calls answered before, after and after that, ${charged} usages; the leases of a killed process returned after ${returnSeconds?.toFixed(1)} s`,
    ]
    return { figures, problems }
  } finally {
    await world.remove()
  }
}

async function turnClock(world: World, offsetMs: number): Promise<void> {
  await world.database.commit({
    name: 'test.clock',
    statements: [
      {
        sql: `insert into organizations (organization_id, name, account_mode, created_at_ms)
          values ($1, 'Clock', 'tracked', $2)
          on conflict (organization_id) do update set created_at_ms = excluded.created_at_ms`,
        params: [offsetRow, offsetMs],
      },
    ],
  })
}

/** How many of the calls were answered, spread over the gateways, a few at once. */
async function callAll(
  gateways: readonly GatewayProcess[],
  key: string,
  answered: string[],
): Promise<number> {
  let count = 0
  for (let start = 0; start < callsPerPhase; start += 10) {
    const calls = Array.from({ length: 10 }, (_, index) =>
      chat(gateways[index % gateways.length], key, 'turn'),
    )
    for (const response of await Promise.all(calls)) {
      await response.text()
      if (response.status !== 200) continue
      answered.push(response.headers.get('x-generation-id') ?? '')
      count += 1
    }
  }
  return count
}

/** A call that holds credits and is never answered, as far as its gateway knows. */
async function callHanging(world: World, gateway: GatewayProcess, key: string): Promise<void> {
  await world.setFaults([{ match: { body_contains: 'hanging' }, fault: 'hang' }])
  void chat(gateway, key, 'hanging').catch(() => undefined)
  await Bun.sleep(1_500)
}

/** Seconds until no lease but those of the living is open. */
async function untilReturned(world: World, organizationId: string): Promise<number | null> {
  const startMs = performance.now()
  while (performance.now() - startMs < 30_000) {
    const rows = await world.database.query<{ owner_id: string }>(
      `select distinct l.owner_id from leases l join budgets b on b.budget_id = l.budget_id
       where l.state <> 'closed' and b.organization_id = $1`,
      [organizationId],
    )
    const dead = await Promise.all(rows.map(({ owner_id }) => world.database.isOwnerDead(owner_id)))
    if (!dead.includes(true)) return (performance.now() - startMs) / 1000
    await Bun.sleep(100)
  }
  return null
}

async function countUsages(world: World, organizationId: string): Promise<number> {
  const [row] = await world.database.query<{ usages: number }>(
    'select count(*) as usages from usages where organization_id = $1',
    [organizationId],
  )
  return Number(row?.usages)
}

function chat(gateway: GatewayProcess | undefined, key: string, content: string): Promise<Response> {
  return fetch(`${gateway?.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }], max_tokens: 20 }),
  })
}
