import { expect, test } from 'bun:test'
import { newId } from '../../core/ids.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import type { LogRow } from './log-row.ts'
import { sumsOf } from './log-sums.ts'
import { createRequestLogRepository } from './request-log-repository.ts'

const dayMs = 86_400_000
const nowMs = Date.UTC(2026, 10, 24)

function rowAt(organizationId: string, atMs: number): LogRow {
  return {
    organizationId,
    requestId: newId('req', atMs),
    generationId: null,
    keyId: 'key_1',
    outcome: 'answered',
    status: 200,
    errorType: null,
    operation: 'chat_completions',
    model: 'acme/large',
    provider: 'acme',
    deployment: 'acme',
    userId: null,
    sessionId: null,
    batchId: null,
    streamed: false,
    attempts: 1,
    inputTokens: 1,
    outputTokens: 1,
    firstByteMs: 1,
    totalMs: 2,
    costNanocredits: 1n,
    isEstimated: false,
    clientAddress: null,
    detailsJson: '{}',
    isKnownModel: true,
    hasTime: true,
  }
}

eachDatabase((name, _, { openFresh }) => {
  test(`on ${name}, retention deletes what is older than its time, a bounded part at once, of one organization`, async () => {
    const { database } = await openFresh()
    const repository = createRequestLogRepository(database)
    const old = Array.from({ length: 5 }, (_none, index) =>
      rowAt('org_a', nowMs - 10 * dayMs + index * 3_600_000),
    )
    const kept = [rowAt('org_a', nowMs - 7 * dayMs), rowAt('org_a', nowMs - 1)]
    const foreign = rowAt('org_b', nowMs - 10 * dayMs)
    const rows = [...old, ...kept, foreign]
    const anonymous = [nowMs - 10 * dayMs, nowMs].map((atMs) => ({
      minute: atMs / 60_000,
      clientAddress: '203.0.113.7',
      requests: 3,
    }))
    await repository.write({ rows, sums: sumsOf(rows), anonymous })
    expect([
      await repository.nextOrganization(''),
      await repository.nextOrganization('org_a'),
      await repository.nextOrganization('org_b'),
    ]).toEqual(['org_a', 'org_b', null])

    const beforeMs = nowMs - 7 * dayMs
    expect(await repository.deleteRows('org_a', beforeMs, 3)).toBe(3)
    expect(await repository.deleteRows('org_a', beforeMs, 3)).toBe(2)
    expect(await repository.deleteRows('org_a', beforeMs, 3)).toBe(0)
    const left = await database.query<{ request_id: string }>('select request_id from request_log')
    expect(left.map(({ request_id }) => request_id).toSorted()).toEqual(
      [...kept, foreign].map(({ requestId }) => requestId).toSorted(),
    )

    // Each of the five hours has a sum by the quarter, one by the hour, one of all keys and one of all models.
    expect(await repository.deleteSums('org_a', beforeMs, 100)).toBe(20)
    const hours = await database.query<{ organization_id: string; requests: number }>(
      'select organization_id, requests from request_hours order by organization_id, hour',
    )
    expect(hours.map(({ organization_id, requests }) => [organization_id, requests])).toEqual([
      ['org_a', 1],
      ['org_a', 1],
      ['org_a', 1],
      ['org_a', 1],
      ['org_b', 1],
      ['org_b', 1],
    ])
    const sums = await database.query<{ organization_id: string; minutes: number; requests: number }>(
      'select organization_id, minutes, requests from request_rollups order by organization_id, minutes, slot',
    )
    expect(
      sums.map(({ organization_id, minutes, requests }) => [organization_id, minutes, requests]),
    ).toEqual([
      ['org_a', 15, 1],
      ['org_a', 15, 1],
      ['org_a', 60, 1],
      ['org_a', 60, 1],
      ['org_b', 15, 1],
      ['org_b', 60, 1],
    ])
    expect(await repository.deleteAnonymous(beforeMs, 100)).toBe(1)
    expect(await repository.deleteAnonymous(beforeMs, 100)).toBe(0)
  })
})
