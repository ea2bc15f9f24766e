import { expect, test } from 'bun:test'
import { randomText } from '../../core/ids.ts'
import type { Database } from '../../storage/database.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import { type CacheBounds, keepWithin } from './cache-bounds.ts'
import { type CachedAnswer, createCachedAnswerRepository } from './cached-answer-repository.ts'

const wide = { bytesMax: 1e12, organizationBytesMax: 1e12, entriesMax: 1e9 }

const answerOf = (change: Partial<CachedAnswer> = {}): CachedAnswer => ({
  key: randomText(20),
  organizationId: 'org_a',
  blob: `answers/a_${randomText(12)}`,
  bytes: 1_000,
  generationId: `gen-${randomText(12)}`,
  model: 'maker/model',
  provider: 'maker',
  providerName: 'Maker',
  endpointId: 'maker/model',
  finishReason: 'stop',
  nativeFinishReason: null,
  ttlSeconds: 300,
  ...change,
})

/** Every stored time becomes so much earlier. */
const pass = (database: Database, ms: number) =>
  database.commit({
    name: 'test.pass',
    statements: [
      {
        sql: `update cached_answers set created_at_ms = created_at_ms - cast($1 as bigint),
            expires_at_ms = expires_at_ms - cast($1 as bigint)`,
        params: [ms],
      },
    ],
  })

eachDatabase((_name, _open, { openFresh }) => {
  test('an answer is found by every process until its time is over', async () => {
    const { database } = await openFresh()
    const repository = createCachedAnswerRepository(database)
    const answer = answerOf({ ttlSeconds: 60 })
    expect(await repository.keep(answer)).toEqual([])
    expect(await repository.load(answer.key)).toMatchObject(answer)
    expect(await repository.load('another')).toBeNull()
    await pass(database, 59_000)
    expect((await repository.load(answer.key))?.ageMs).toBeGreaterThanOrEqual(59_000)
    await pass(database, 1_100)
    expect(await repository.load(answer.key)).toBeNull()
    expect(await repository.removeExpired(10)).toEqual([answer.blob])
    expect(await repository.listSizes()).toEqual([])
  })

  test('a newer answer takes the place of the one before, whose blob is free', async () => {
    const { database } = await openFresh()
    const repository = createCachedAnswerRepository(database)
    const [one, two] = [answerOf({ key: 'k' }), answerOf({ key: 'k' })]
    await repository.keep(one)
    expect(await repository.keep(two)).toEqual([one.blob])
    expect((await repository.load('k'))?.blob).toBe(two.blob)
    expect(await repository.drop('k')).toEqual([two.blob])
    expect(await repository.load('k')).toBeNull()
    const many = await Promise.allSettled(
      Array.from({ length: 8 }, () => repository.keep(answerOf({ key: 'k' }))),
    )
    expect(many.some(({ status }) => status === 'fulfilled')).toBe(true)
    expect(await repository.listSizes()).toMatchObject([{ entries: 1 }])
  })

  test('ten thousand entries are bounded by bytes, by entries and by the bytes of an organization, the oldest first', async () => {
    const { database } = await openFresh()
    const repository = createCachedAnswerRepository(database)
    const count = 10_000
    await database.commit({
      name: 'test.fill',
      statements: [
        {
          sql: `insert into cached_answers (cache_key, organization_id, blob, bytes, generation_id, model, provider,
              provider_name, endpoint_id, ttl_seconds, created_at_ms, expires_at_ms)
            values ($1, $2, $1, 1000, $1, 'm', 'p', 'P', 'e', 300, $3, 9000000000000)`,
          rows: Array.from({ length: count }, (_, index) => [
            `key-${String(index).padStart(5, '0')}`,
            index % 4 === 0 ? 'org_small' : 'org_large',
            index,
          ]),
        },
      ],
    })
    const trimAll = async (bounds: CacheBounds): Promise<string[]> => {
      const freed: string[] = []
      await keepWithin(bounds, repository, async (blobs) => void freed.push(...blobs))
      return freed
    }
    const size = async () => {
      const sizes = await repository.listSizes()
      const sum = (of: 'bytes' | 'entries') => sizes.reduce((total, each) => total + each[of], 0)
      return [sum('bytes'), sum('entries')]
    }
    expect(await trimAll(wide)).toEqual([])
    const first = await trimAll({ ...wide, bytesMax: 8_000_000 })
    expect(first).toHaveLength(2_000)
    expect(first.toSorted().at(-1)).toBe('key-01999')
    expect(await size()).toEqual([8_000_000, 8_000])
    expect(await trimAll({ ...wide, organizationBytesMax: 3_000_000 })).toHaveLength(3_000)
    expect(await size()).toEqual([5_000_000, 5_000])
    await trimAll({ ...wide, entriesMax: 100 })
    expect(await size()).toEqual([100_000, 100])
    expect(await repository.load('key-09999')).not.toBeNull()
  })
})
