import { expect, test } from 'bun:test'
import { eachDatabase } from '../../../test/support/databases.ts'
import { createUsersRepository } from './users-repository.ts'

const day = 20_000
const dayMs = 86_400_000
const organizationId = 'org_a'

eachDatabase((name, _, { openFresh }) => {
  test(`on ${name}, the largest users of a day are kept, and the rest of the day in one row, once`, async () => {
    const { database } = await openFresh()
    // Two calls of ada, one of bob, one of cid, and one that named nobody; one of bob's on the next day.
    const calls = [
      { user: 'ada', cost: 40n, atMs: 0 },
      { user: 'ada', cost: 30n, atMs: dayMs - 1 },
      { user: 'bob', cost: 60n, atMs: 1 },
      { user: 'cid', cost: 5n, atMs: 2 },
      { user: null, cost: 7n, atMs: 3 },
      { user: 'bob', cost: 1_000n, atMs: dayMs },
    ]
    await database.commit({
      name: 'usages of a test',
      statements: [
        {
          sql: `insert into organizations (organization_id, name, account_mode, created_at_ms)
            values ($1, 'A', 'tracked', 0)`,
          params: [organizationId],
        },
        ...calls.map(({ user, cost, atMs }, index) => ({
          sql: `insert into usages (day, generation_id, organization_id, key_id, operation, model, provider,
              endpoint_id, status, is_estimated, is_unpriced, input_tokens, output_tokens, cost_nanocredits,
              held_nanocredits, price_id, streamed, cancelled, user_id, created_at_ms)
            values ($1, $2, $3, 'key_1', 'chat', 'acme/large', 'acme', 'one', 'completed', 0, 0, 10, 2, $4, 0,
              'price', 0, 0, $5, $6)`,
          params: [
            day + Math.floor(atMs / dayMs),
            `gen-${index}`,
            organizationId,
            cost,
            user,
            day * dayMs + atMs,
          ],
        })),
      ],
    })
    const repository = createUsersRepository(database)
    expect(await repository.listUnkept(day, 10)).toEqual([organizationId])
    expect(await repository.listUnkept(day - 1, 10)).toEqual([])
    await repository.keepDay(organizationId, day, 2)
    // Again, as another process does at the same time: nothing changes.
    await repository.keepDay(organizationId, day, 2)
    expect(await repository.listUnkept(day, 10)).toEqual([])
    const kept = await repository.sumDays(organizationId, [{ day, bucket: 4 }])
    const shown = kept.map((sums) => [sums.bucket, sums.userId, sums.requests, sums.costNanocredits])
    expect(shown.toSorted(([, left], [, right]) => (String(left) < String(right) ? -1 : 1))).toEqual([
      [4, 'ada', 2, 70n],
      [4, 'bob', 1, 60n],
      // cid and the call without a user.
      [4, null, 2, 12n],
    ])
    const exact = await repository.sumExact(organizationId, [
      { first: 0, start: day * 96, length: 96, count: 2 },
    ])
    const bob = exact.filter(({ userId }) => userId === 'bob')
    expect(
      bob
        .map((sums) => [sums.bucket, sums.costNanocredits])
        .toSorted(([left], [right]) => Number(left) - Number(right)),
    ).toEqual([
      [0, 60n],
      [1, 1_000n],
    ])
  })
})
