import { describe, expect, test } from 'bun:test'
import type { Principal, Rates } from '../canonical/principal.ts'
import type { RateRepository, RateUse } from './rate-repository.ts'
import { createRateGate } from './rates.ts'
import { createSharedRates } from './shared-rates.ts'

const none: Rates = { requestsPerMinute: null, batchesPerMinute: null, tokensPerMinute: null }

function principalWith(organization: Partial<Rates>, key: Partial<Rates> = {}): Principal {
  const rates = { organization: { ...none, ...organization }, key: { ...none, ...key } }
  return { organizationId: 'org_1', keyId: 'key_1', rates } as Principal
}

/** Reports of all processes by limit, as the database would keep them. */
function board() {
  const limits = new Map<string, Map<string, number>>()
  const repositoryOf = (ownerId: string) => ({
    exchangeUses: async (uses: readonly RateUse[]) => {
      for (const { limitId, count } of uses) {
        const owners = limits.get(limitId) ?? new Map<string, number>()
        limits.set(limitId, owners.set(ownerId, count))
      }
      return limits
    },
    removeOld: async () => {},
  })
  return { limits, repositoryOf }
}

function setUp() {
  const clock = { ms: 0, nowMs: () => 0, monotonicMs: () => clock.ms }
  const taken: string[] = []
  const looked: string[] = []
  const given: string[] = []
  const answer = { isAllowed: true, waitMs: 0 }
  const repository: RateRepository = {
    ...board().repositoryOf('me'),
    take: async (limitId) => {
      taken.push(limitId)
      return { ...answer }
    },
    look: async (limitId) => {
      looked.push(limitId)
      return { ...answer }
    },
    giveBack: async (limitId) => void given.push(limitId),
  }
  const gate = createRateGate({ repository, ownerId: 'me', clock })
  return { clock, taken, looked, given, answer, gate }
}

describe('the gate', () => {
  test('makes no query when there is no limit', () => {
    const { gate, taken } = setUp()
    expect(gate.admitRequest(principalWith({ batchesPerMinute: 1, tokensPerMinute: null }))).toBeUndefined()
    expect(gate.admitBatch(principalWith({ requestsPerMinute: 1 }))).toBeUndefined()
    expect(taken).toEqual([])
  })

  test('small limits are the database’s, each under its own name', async () => {
    const { gate, taken } = setUp()
    await gate.admitRequest(principalWith({ requestsPerMinute: 5 }, { requestsPerMinute: 3 }))
    await gate.admitBatch(principalWith({ batchesPerMinute: 60, tokensPerMinute: null }))
    expect(taken).toEqual(['key:key_1:requests', 'organization:org_1:requests', 'organization:org_1:batches'])
  })

  test('a refusal names the limit and the time, and the database is not asked again before that time', async () => {
    const { gate, taken, answer, clock } = setUp()
    Object.assign(answer, { isAllowed: false, waitMs: 2_500 })
    const principal = principalWith({}, { requestsPerMinute: 3 })
    const refused = async () => gate.admitRequest(principal)
    await expect(refused()).rejects.toMatchObject({
      type: 'rate_limit_exceeded',
      status: 429,
      retryAfterSeconds: 3,
      message: 'Rate limit exceeded: this key may send 3 requests a minute. Try again in 3 s.',
      metadata: { limit_source: 'key_requests', limit_per_minute: 3 },
    })
    await refused().catch(() => null)
    expect(taken).toHaveLength(1)
    clock.ms += 2_500
    Object.assign(answer, { isAllowed: true, waitMs: 0 })
    await refused()
    expect(taken).toHaveLength(2)
  })

  test('a call that the key’s limit refuses takes nothing from the organization’s limit', async () => {
    const { gate, taken, answer } = setUp()
    Object.assign(answer, { isAllowed: false, waitMs: 60_000 })
    const principal = principalWith({ requestsPerMinute: 5 }, { requestsPerMinute: 1 })
    for (let attempt = 0; attempt < 10; attempt++) await gate.admitRequest(principal)?.catch(() => null)
    expect(taken).toEqual(['key:key_1:requests'])
  })

  test('a limit that was raised is asked again at once', async () => {
    const { gate, taken, answer } = setUp()
    Object.assign(answer, { isAllowed: false, waitMs: 60_000 })
    await gate.admitRequest(principalWith({}, { requestsPerMinute: 1 }))?.catch(() => null)
    Object.assign(answer, { isAllowed: true, waitMs: 0 })
    await gate.admitRequest(principalWith({}, { requestsPerMinute: 100 }))
    expect(taken).toHaveLength(2)
  })

  test('a batch that was not created gives back its place in every limit', async () => {
    const { gate, given, taken, answer, clock } = setUp()
    const principal = principalWith(
      { batchesPerMinute: 5, tokensPerMinute: null },
      { batchesPerMinute: 3, tokensPerMinute: null },
    )
    await gate.admitBatch(principal)
    Object.assign(answer, { isAllowed: false, waitMs: 60_000 })
    await gate.admitBatch(principal)?.catch(() => null)
    await gate.giveBackBatch(principal)
    expect(given).toEqual(['key:key_1:batches', 'organization:org_1:batches'])
    // The remembered refusal no longer counts.
    Object.assign(answer, { isAllowed: true, waitMs: 0 })
    await gate.admitBatch(principal)
    expect(taken).toHaveLength(5)
    const many = principalWith({ batchesPerMinute: 1_000, tokensPerMinute: null })
    for (let i = 0; i < 1_000; i++) await gate.admitBatch(many)
    await gate.giveBackBatch(many)
    expect(gate.admitBatch(many)).toBeUndefined()
    expect(() => gate.admitBatch(many)).toThrow('1000 batches a minute')
    expect(clock.ms).toBe(0)
    gate.stop()
  })

  test('looking whether a batch would be admitted uses up nothing', async () => {
    const { gate, taken, looked, answer } = setUp()
    const principal = principalWith(
      { batchesPerMinute: 5, tokensPerMinute: null },
      { batchesPerMinute: 3, tokensPerMinute: null },
    )
    await gate.lookAtBatch(principal)
    expect([looked, taken]).toEqual([['key:key_1:batches', 'organization:org_1:batches'], []])
    Object.assign(answer, { isAllowed: false, waitMs: 2_500 })
    await expect(gate.lookAtBatch(principal)).rejects.toMatchObject({ status: 429, retryAfterSeconds: 3 })
    const many = principalWith({ batchesPerMinute: 200, tokensPerMinute: null })
    for (let count = 0; count < 500; count += 1) await gate.lookAtBatch(many)
    for (let count = 0; count < 200; count += 1) await gate.admitBatch(many)
    expect(() => gate.lookAtBatch(many)).toThrow('200 batches a minute')
    expect(() => gate.admitBatch(many)).toThrow('200 batches a minute')
    gate.stop()
  })

  test('large limits are granted from memory after the first time', async () => {
    const { gate, taken } = setUp()
    const principal = principalWith({ requestsPerMinute: 1_000 })
    await gate.admitRequest(principal)
    for (let i = 1; i < 1_000; i++) expect(gate.admitRequest(principal)).toBeUndefined()
    expect(() => gate.admitRequest(principal)).toThrow('this organization may send 1000 requests a minute')
    expect(taken).toEqual([])
    gate.stop()
  })
})

describe('shares', () => {
  const clock = { ms: 0, nowMs: () => 0, monotonicMs: () => clock.ms }

  async function grantAll(rates: ReturnType<typeof createSharedRates>, attempts: number): Promise<number> {
    let granted = 0
    for (let i = 0; i < attempts; i++) if ((await rates.take('l', 600)) === 0) granted += 1
    return granted
  }

  test('follow recent use, and their sum stays the limit', async () => {
    const { repositoryOf } = board()
    const one = createSharedRates({ repository: repositoryOf('one'), ownerId: 'one', clock })
    const two = createSharedRates({ repository: repositoryOf('two'), ownerId: 'two', clock })
    await one.take('l', 600)
    await two.take('l', 600)
    for (let second = 0; second < 60; second++) {
      for (let i = 0; i < 90; i++) await one.take('l', 600)
      for (let i = 0; i < 10; i++) await two.take('l', 600)
      await Promise.all([one.divide(), two.divide()])
      clock.ms += 1_000
    }
    // The saved-up calls are used up: from here on both processes together get ten a second, the busier one
    // most of them.
    const granted = { one: 0, two: 0 }
    for (let second = 0; second < 60; second++) {
      granted.one += await grantAll(one, 90)
      granted.two += await grantAll(two, 10)
      await Promise.all([one.divide(), two.divide()])
      clock.ms += 1_000
    }
    expect(granted.one + granted.two).toBeLessThanOrEqual(620)
    expect(granted.one + granted.two).toBeGreaterThan(540)
    expect(granted.one).toBeGreaterThan(granted.two * 4)
    one.stop()
    two.stop()
  })

  test('stay as they are while the database cannot answer', async () => {
    const failures: unknown[] = []
    const repository = {
      exchangeUses: async () => {
        throw new Error('gone')
      },
      removeOld: async () => {},
    }
    const rates = createSharedRates({
      repository,
      ownerId: 'me',
      clock,
      onFailure: (error) => failures.push(error),
    })
    expect(await rates.take('l', 600)).toBe(0)
    await rates.divide()
    expect(rates.take('l', 600)).toBe(0)
    expect(failures).toHaveLength(2)
    rates.stop()
  })

  test('survive a database that is away for an hour, even without a listener for failures', async () => {
    const gone = () => Promise.reject(new Error('gone'))
    const rates = createSharedRates({
      repository: { exchangeUses: gone, removeOld: gone },
      ownerId: 'me',
      clock,
    })
    expect(await rates.take('l', 600)).toBe(0)
    for (let round = 0; round < 3_600; round++) await rates.divide()
    expect(rates.take('l', 600)).toBe(0)
    rates.stop()
  })
})
