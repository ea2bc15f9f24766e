import { SQL } from 'bun'
import { Database as Sqlite } from 'bun:sqlite'
import { percentile } from '../../../bench/harness/figures.ts'
import { runProgram } from '../../../bench/harness/program.ts'
import { type FilledLog, fillingStatements, totalsOfSecondHalf } from '../../support/filled-log.ts'
import { startPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { prepareGateway, type RealGateway } from '../../story/real-gateway.ts'
import { combine, notRun, type Proof, type ProofResult } from '../proof.ts'
import { startSimulatorProcess } from '../simulator-process.ts'
import { atMost } from './rows.ts'

const rows = Number(process.env['HEADRACE_LOG_ROWS'] ?? 10_000_000)
/** An overview of half of them is shown beside what was before it. */
const days = 60
const dayMs = 86_400_000
const overviewMsMax = 500
const pageMsMax = 300
const addedP99MsMax = 5
/** Live calls while others look at the log: so many a second, in rounds with and without them. */
const callsPerSecond = 50
const roundSeconds = 10
const rounds = 3

const inferenceKey = 'large-log-inference-key-of-forty-characters'
const managementKey = 'large-log-management-key-of-forty-characters'
const model = 'acme/chat'

/** A gateway in a process of its own on a log of this size, on each database. */
export const proof: Proof = {
  title: `rows 3 and 4: on ${rows.toLocaleString('en-US')} logged calls an overview comes in half a second, any page in 300 ms, and live calls do not wait for either`,
  async run() {
    const results = [await prove('sqlite', null)]
    // The other takes as long again.
    console.error(results[0]?.figures.join('\n'))
    const reason = whyNoPostgres()
    if (reason !== null) return combine([...results, notRun(reason)])
    const server = await startPostgres()
    try {
      const connection = new SQL({ url: server.url, max: 1 })
      await connection.unsafe('create database large_log')
      await connection.close()
      const url = new URL(server.url)
      url.pathname = '/large_log'
      results.push(await prove('postgres', url.href))
    } finally {
      server.stop()
    }
    return combine(results)
  },
}

async function prove(name: string, postgresUrl: string | null): Promise<ProofResult> {
  const simulator = await startSimulatorProcess()
  const prices = { input_per_million: '1', output_per_million: '1' }
  const gateway = prepareGateway({
    providers: [
      {
        preset: 'custom',
        id: 'acme',
        base_url: `${simulator.url}/v1`,
        api_key: 'any',
        discover: false,
        models: [{ id: model, upstream: 'gpt-4o-mini', prices }],
      },
    ],
  })
  const env = {
    HEADRACE_BOOTSTRAP_KEY: inferenceKey,
    HEADRACE_BOOTSTRAP_MANAGEMENT_KEY: managementKey,
    HEADRACE_BOOTSTRAP_CREDITS: '100',
    ...(postgresUrl === null ? {} : { DATABASE_URL: postgresUrl }),
  }
  try {
    await gateway.start(env)
    await gateway.end('SIGTERM')
    const startedMs = performance.now()
    const log = await fill(gateway, postgresUrl)
    const filledSeconds = Math.round((performance.now() - startedMs) / 1000)
    await gateway.start(env)
    const found = [await overviews(gateway, log), await pages(gateway, log), await liveCalls(gateway, log)]
    const faults = found.flatMap((each) => each.faults)
    const figures = found.flatMap((each) => each.figures)
    return {
      status: faults.length === 0 ? 'PASS' : 'FAIL',
      figures: [`${name}, filled in ${filledSeconds} s: ${figures.join('; ')}`, ...faults],
    }
  } finally {
    await gateway.remove()
    simulator.stop()
  }
}

interface Found {
  faults: string[]
  figures: string[]
}

async function fill({ databasePath }: RealGateway, postgresUrl: string | null): Promise<FilledLog> {
  const endMs = Math.floor(Date.now() / dayMs) * dayMs
  const logOf = (organizationId: string): FilledLog => ({
    organizationId,
    keyIds: Array.from({ length: 12 }, (_, index) => `key_${index}`),
    models: Array.from({ length: 8 }, (_, index) => `maker/model-${index}`),
    fromMs: endMs - days * dayMs,
    endMs,
    rows,
  })
  const find = 'select organization_id from organizations'
  if (postgresUrl !== null) {
    const connection = new SQL({ url: postgresUrl, max: 1 })
    const [found] = (await connection.unsafe(find)) as { organization_id: string }[]
    const log = logOf(found?.organization_id ?? '')
    for (const sql of fillingStatements(log)) await connection.unsafe(sql)
    // As the server does by itself within a minute.
    await connection.unsafe('vacuum analyze')
    await connection.close()
    return log
  }
  const connection = new Sqlite(databasePath)
  // Nothing of it has to survive a crash.
  for (const pragma of ['synchronous = off', 'cache_size = -400000', 'temp_store = memory'])
    connection.run(`pragma ${pragma}`)
  const found = connection.query<{ organization_id: string }, []>(find).get()
  const log = logOf(found?.organization_id ?? '')
  for (const sql of fillingStatements(log)) connection.run(sql)
  connection.run('pragma wal_checkpoint(truncate)')
  connection.close()
  return log
}

type Json = Record<string, unknown>

async function read(gateway: RealGateway, path: string): Promise<{ ms: number; json: Json }> {
  const startedMs = performance.now()
  const response = await fetch(`${gateway.baseUrl}${path}`, {
    headers: { authorization: `Bearer ${managementKey}` },
  })
  const json = (await response.json()) as Json
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${JSON.stringify(json)}`)
  return { ms: performance.now() - startedMs, json }
}

/** The longest of a few reads after a first one, and what the last one told. */
async function longest(gateway: RealGateway, path: string): Promise<{ ms: number; json: Json }> {
  let last = await read(gateway, path)
  let ms = 0
  for (let times = 0; times < 3; times++) {
    last = await read(gateway, path)
    ms = Math.max(ms, last.ms)
  }
  return { ms, json: last.json }
}

function secondHalf({ fromMs, endMs }: FilledLog): string {
  return `from=${(fromMs + endMs) / 2}&to=${endMs}`
}

async function overviews(gateway: RealGateway, log: FilledLog): Promise<Found> {
  const found: Found = { faults: [], figures: [] }
  const span = `${secondHalf(log)}&bucket=day`
  const totals = totalsOfSecondHalf(log)
  const expected = JSON.stringify([totals.requests, totals.errors, totals.costNanocredits.toString()])
  for (const by of ['model', 'key', 'provider', 'none']) {
    for (const zone of ['UTC', 'Europe/Berlin', 'Asia/Kolkata']) {
      const { ms, json } = await longest(gateway, `/headrace/spend?${span}&by=${by}&zone=${zone}`)
      const what = `overview by ${by}, ${zone}`
      found.figures.push(`${what} ${ms.toFixed(0)} ms`)
      found.faults.push(...atMost(`milliseconds, ${what}`, Math.round(ms), overviewMsMax))
      const { total, groups } = json['data'] as { total: Json; groups: Json[] }
      const told = [total['requests'], total['errors'], total['cost_nanocredits']]
      if (JSON.stringify(told) !== expected)
        found.faults.push(`${what}: ${JSON.stringify(told)}, not ${expected}`)
      const cost = groups.reduce((sum, group) => sum + BigInt(String(group['cost_nanocredits'])), 0n)
      if (groups.length > 0 && cost !== totals.costNanocredits)
        found.faults.push(`${what}: the groups sum to ${cost}`)
    }
  }
  return found
}

function searches({ fromMs, endMs }: FilledLog): Readonly<Record<string, string>> {
  const span = `from=${fromMs}&to=${endMs}&limit=50`
  const middle = Math.floor((fromMs + endMs) / 2)
  return {
    'first page': span,
    'page in the middle': `from=${fromMs}&to=${middle}&limit=50`,
    'oldest first': `${span}&order=asc`,
    failures: `${span}&outcome=failed`,
    'one key and model': `${span}&key=key_3&model=maker/model-5`,
    'no match': `${span}&model=nobody/none`,
    'no match among failures': `${span}&error_type=nothing`,
  }
}

async function pages(gateway: RealGateway, log: FilledLog): Promise<Found> {
  const found: Found = { faults: [], figures: [] }
  for (const [what, query] of Object.entries(searches(log))) {
    const { ms, json } = await longest(gateway, `/headrace/requests?${query}`)
    found.figures.push(`${what} ${ms.toFixed(0)} ms`)
    found.faults.push(...atMost(`milliseconds, ${what}`, Math.round(ms), pageMsMax))
    const { length } = json['data'] as unknown[]
    if (length !== (what.startsWith('no match') ? 0 : 50)) found.faults.push(`${what}: ${length} rows`)
    // A small log is searched whole at once.
    if (what === 'no match' && rows > 1_000_000 && json['searched_to'] === null)
      found.faults.push(`${what}: it does not say how far it has come`)
  }
  const missing = await read(gateway, '/headrace/requests?id=gen-1760000000-nobody')
  found.figures.push(`an unknown generation ${missing.ms.toFixed(0)} ms`)
  found.faults.push(...atMost('milliseconds, an unknown generation', Math.round(missing.ms), pageMsMax))
  const all = await walk(gateway, log)
  found.figures.push(
    `no match goes on to its end in ${all.searches} searches, the longest ${all.ms.toFixed(0)} ms`,
  )
  found.faults.push(...atMost('milliseconds, a search that goes on', Math.round(all.ms), pageMsMax))
  return found
}

/** A search without a match, to its end. */
async function walk(gateway: RealGateway, log: FilledLog): Promise<{ searches: number; ms: number }> {
  const query = searches(log)['no match'] ?? ''
  let cursor: unknown = ''
  let count = 0
  let ms = 0
  while (cursor !== null) {
    const more = cursor === '' ? '' : `&cursor=${String(cursor)}`
    const page = await read(gateway, `/headrace/requests?${query}${more}`)
    ms = Math.max(ms, page.ms)
    cursor = page.json['next_cursor']
    count += 1
  }
  return { searches: count, ms }
}

/** Times of live calls, with somebody who looks at the log without a pause and without. */
async function liveCalls(gateway: RealGateway, log: FilledLog): Promise<Found> {
  await callSteadily(gateway)
  const quiet: number[] = []
  const watched: number[] = []
  let looks = 0
  for (let round = 0; round < rounds; round++) {
    quiet.push(...(await callSteadily(gateway)))
    const looking = { isOver: false }
    const looker = look(gateway, log, looking)
    watched.push(...(await callSteadily(gateway)))
    looking.isOver = true
    looks += await looker
  }
  const at = (times: readonly number[], share: number) => percentile(times, share)
  const added = at(watched, 0.99) - at(quiet, 0.99)
  return {
    faults: added <= addedP99MsMax ? [] : [`live calls' p99 grew by ${added.toFixed(1)} ms`],
    figures: [
      `${quiet.length} live calls: p50 ${at(quiet, 0.5).toFixed(1)}, p99 ${at(quiet, 0.99).toFixed(1)} ms; with ${looks} looks at the log meanwhile p50 ${at(watched, 0.5).toFixed(1)}, p99 ${at(watched, 0.99).toFixed(1)} ms`,
    ],
  }
}

async function look(gateway: RealGateway, log: FilledLog, state: { isOver: boolean }): Promise<number> {
  const paths = [
    `/headrace/spend?${secondHalf(log)}&bucket=day&by=model&zone=Europe/Berlin`,
    ...Object.values(searches(log)).map((query) => `/headrace/requests?${query}`),
  ]
  let looks = 0
  while (!state.isOver) {
    await read(gateway, paths[looks % paths.length] ?? '')
    looks += 1
  }
  return looks
}

async function callSteadily({ baseUrl }: RealGateway): Promise<number[]> {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello.' }], max_tokens: 20 })
  const { failures, lastMs } = await runProgram<{ failures: number; lastMs: number[] }>('open-loop.ts', {
    port: Number(new URL(baseUrl).port),
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${inferenceKey}` },
    body,
    rate: callsPerSecond,
    seconds: roundSeconds,
  })
  if (failures > 0) throw new Error(`${failures} live calls failed`)
  return lastMs
}
