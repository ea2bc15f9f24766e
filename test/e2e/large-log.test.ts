import { expect, test } from 'bun:test'
import { newId } from '../../src/core/ids.ts'
import { latencyBins } from '../../src/insight/log/latency-bins.ts'
import type { LogRow } from '../../src/insight/log/log-row.ts'
import { sumsOf } from '../../src/insight/log/log-sums.ts'
import { createRequestLogRepository } from '../../src/insight/log/request-log-repository.ts'
import { type Search, searchRequests } from '../../src/insight/log/request-search.ts'
import {
  createRequestSearchRepository,
  type LogFilter,
} from '../../src/insight/log/request-search-repository.ts'
import { type Spend, sumSpend } from '../../src/insight/spend/spend.ts'
import { createSumsRepository } from '../../src/insight/spend/sums-repository.ts'
import { cutSpan } from '../../src/insight/spend/time-buckets.ts'
import type { Database } from '../../src/storage/database.ts'
import { eachDatabase } from '../support/databases.ts'

// An overview, pages, and a filter that nothing passes, on rows that the log wrote itself: sums are right and a search ends.
// `npm run prove -- large-log` measures ten million rows that the database made. `HEADRACE_LOG_ROWS` makes more here.

const size = Number(process.env['HEADRACE_LOG_ROWS'] ?? 20_000)
const isTimed = size >= 1_000_000
const days = 30
const dayMs = 86_400_000
const endMs = Date.UTC(2026, 10, 24)
const fromMs = endMs - days * dayMs
const organizationId = 'org_large'
const keys = Array.from({ length: 12 }, (_, index) => `key_${index}`)
const models = Array.from({ length: 8 }, (_, index) => `maker/model-${index}`)
const costOf = (index: number) => BigInt(1_000 + (index % 977))
const fillingMs = 3_600_000

function rowOf(index: number): LogRow {
  const atMs = fromMs + Math.floor((index * days * dayMs) / size)
  const isFailed = index % 50 === 0
  return {
    organizationId,
    requestId: newId('req', atMs),
    generationId: null,
    keyId: keys[index % keys.length] ?? '',
    outcome: isFailed ? 'failed' : 'answered',
    status: isFailed ? 502 : 200,
    errorType: isFailed ? 'provider_failed' : null,
    operation: 'chat_completions',
    model: models[Math.floor(index / 7) % models.length] ?? '',
    provider: 'maker',
    deployment: 'maker',
    userId: null,
    sessionId: null,
    batchId: null,
    streamed: false,
    attempts: 1,
    inputTokens: 100,
    outputTokens: 20,
    firstByteMs: 120,
    totalMs: 200 + (index % 1_000),
    costNanocredits: isFailed ? null : costOf(index),
    isEstimated: false,
    clientAddress: null,
    detailsJson: '{}',
    isKnownModel: true,
    hasTime: true,
  }
}

const usageGroup = ['organization_id', 'key_id', 'model', 'provider'] as const

/** Fills the log, its sums, and the roll-ups of the ledger as if each answered call had been charged. */
async function fill(database: Database): Promise<{ cost: bigint; requests: number }> {
  const repository = createRequestLogRepository(database)
  const chunk = 20_000
  let cost = 0n
  let requests = 0
  for (let start = 0; start < size; start += chunk) {
    const rows = Array.from({ length: Math.min(chunk, size - start) }, (_, index) => rowOf(start + index))
    await repository.write({ rows, sums: sumsOf(rows), anonymous: [] })
    const usage = new Map<string, { place: number[]; group: string[]; requests: number; cost: bigint }>()
    for (const [index, row] of rows.entries()) {
      if (row.costNanocredits === null) continue
      cost += row.costNanocredits
      requests += 1
      const atMs = fromMs + Math.floor(((start + index) * days * dayMs) / size)
      const quarter = Math.floor(atMs / 900_000)
      const group = [row.organizationId, row.keyId, row.model ?? '', row.provider ?? '']
      const name = `${quarter} ${group.join(' ')}`
      const known = usage.get(name) ?? { place: [quarter], group, requests: 0, cost: 0n }
      known.requests += 1
      known.cost += row.costNanocredits
      usage.set(name, known)
    }
    const statements = (['usage_quarters', 'usage_rollups'] as const).map((table) => ({
      sql: `insert into ${table} (${usageGroup.join(', ')}, ${table === 'usage_quarters' ? 'quarter' : 'hour'}, requests,
          input_tokens, output_tokens, reasoning_tokens, audio_milliseconds, characters, cost_nanocredits, estimated_count)
        values ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0, 0, $9, 0)
        on conflict (organization_id, ${table === 'usage_quarters' ? 'quarter' : 'hour'}, key_id, model, provider,
          workspace_id, member_id, credential_id) do update set requests = ${table}.requests + excluded.requests,
          cost_nanocredits = ${table}.cost_nanocredits + excluded.cost_nanocredits`,
      rows: merged([...usage.values()], table === 'usage_quarters' ? 1 : 4),
    }))
    await database.commit({ name: 'test.fill', statements })
  }
  return { cost, requests }
}

/** Rows of a table: PostgreSQL takes each key once in a statement. */
function merged(
  sums: readonly { place: number[]; group: string[]; requests: number; cost: bigint }[],
  quarters: number,
) {
  const rows = new Map<string, { group: string[]; place: number; requests: number; cost: bigint }>()
  for (const { place, group, requests, cost } of sums) {
    const at = Math.floor((place[0] ?? 0) / quarters)
    const name = `${at} ${group.join(' ')}`
    const known = rows.get(name) ?? { group, place: at, requests: 0, cost: 0n }
    known.requests += requests
    known.cost += cost
    rows.set(name, known)
  }
  return [...rows.values()].map(({ group, place, requests, cost }) => [
    ...group,
    place,
    requests,
    requests * 100,
    requests * 20,
    cost,
  ])
}

/** Calls of each group, counted without the database. */
function countsBy(nameOf: (row: LogRow) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (let index = 0; index < size; index++) {
    const name = nameOf(rowOf(index))
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

function requestsOf({ groups }: Spend): Record<string, number> {
  return Object.fromEntries(groups.map(({ id, requests }) => [id, requests]))
}

const noFilter: LogFilter = {
  organizationId,
  outcomes: [],
  statuses: [],
  models: [],
  providers: [],
  keyIds: [],
  userId: null,
  sessionId: null,
  batchId: null,
  errorTypes: [],
  operations: [],
}

/** The longest of a few runs after one that fills the caches, and what the last one returned. */
async function timed<T>(run: () => Promise<T>): Promise<{ ms: number; value: T }> {
  let value = await run()
  let ms = 0
  for (let times = 0; times < 3; times++) {
    const startedMs = performance.now()
    value = await run()
    ms = Math.max(ms, performance.now() - startedMs)
  }
  return { ms, value }
}

eachDatabase((name, _open, { openFresh }) => {
  test(
    `on ${name}, an overview and any page of ${isTimed ? 'a large' : 'the'} log come in time, and sums are exact in every zone`,
    async () => {
      const { database } = await openFresh()
      const filled = await fill(database)
      const sums = createSumsRepository(database)
      const figures: string[] = []
      for (const zone of ['UTC', 'Europe/Berlin', 'Asia/Kolkata']) {
        const buckets = cutSpan({ fromMs, toMs: endMs, bucket: 'day', zone })
        const { ms, value } = await timed(() =>
          sumSpend({ organizationId, buckets, by: 'model', filters: [], top: 8 }, sums),
        )
        figures.push(`overview ${zone} ${ms.toFixed(0)} ms`)
        expect([value.total.costNanocredits, value.total.chargedRequests]).toEqual([
          filled.cost,
          filled.requests,
        ])
        expect(value.groups.reduce((sum, group) => sum + group.costNanocredits, 0n)).toBe(filled.cost)
        for (const group of value.groups)
          expect(group.overTime.reduce((sum, cell) => sum + cell.costNanocredits, 0n)).toBe(
            group.costNanocredits,
          )
        expect([value.total.requests, value.total.errors]).toEqual([size, size / 50])
        expect(requestsOf(value)).toEqual(countsBy(({ model }) => model ?? ''))
        const byKey = await sumSpend({ organizationId, buckets, by: 'key_id', filters: [], top: 20 }, sums)
        expect(requestsOf(byKey)).toEqual(countsBy(({ keyId }) => keyId))
        expect(byKey.total.costNanocredits).toBe(filled.cost)
        const [column, values] = ['key_id' as const, keys.slice(0, 1)]
        const ofKey = await sumSpend(
          {
            organizationId,
            buckets,
            by: 'model',
            filters: [{ column, isNegated: false, values }],
            top: 20,
          },
          sums,
        )
        expect(ofKey.total.requests).toBe(countsBy(({ keyId }) => keyId)[keys[0] ?? ''] ?? 0)
        if (isTimed) expect(ms).toBeLessThanOrEqual(500)
      }
      const repository = createRequestSearchRepository(database)
      const base: Search = { filter: noFilter, fromMs, toMs: endMs, order: 'desc', limit: 50, cursor: null }
      const searches: Readonly<Record<string, Partial<Search>>> = {
        'first page': {},
        'deep page': { cursor: newId('req', fromMs + dayMs) },
        failures: { filter: { ...noFilter, outcomes: ['failed'] } },
        'no match': { filter: { ...noFilter, models: ['nobody/none'] } },
      }
      for (const [what, more] of Object.entries(searches)) {
        const { ms, value } = await timed(() => searchRequests({ ...base, ...more }, repository))
        figures.push(`${what} ${ms.toFixed(0)} ms`)
        if (what === 'no match') expect(value.rows).toEqual([])
        else expect(value.rows).toHaveLength(50)
        if (isTimed) expect(ms).toBeLessThanOrEqual(300)
      }
      // Going on, a search without a match ends.
      let cursor: string | null = null
      let steps = 0
      do {
        const page: Awaited<ReturnType<typeof searchRequests>> = await searchRequests(
          { ...base, ...searches['no match'], cursor },
          repository,
        )
        expect(page.rows).toEqual([])
        cursor = page.cursor
        steps += 1
      } while (cursor !== null)
      console.log(`${name}, ${size} rows: ${figures.join(', ')}; no match ends after ${steps} searches`)
      expect(latencyBins).toBe(32)
    },
    fillingMs,
  )
})
