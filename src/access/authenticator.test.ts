import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../core/errors.ts'
import { principalFreshMs, unknownKeyRefusalEveryMs } from '../core/limits/access.ts'
import { callerLoginOf, createAuthenticator } from './authenticator.ts'
import type { KeyRecord } from './key-record.ts'
import type { LoadedKey } from './key-repository.ts'
import { makeKey } from './keys.ts'
import { openPolicy } from './policy.ts'
import { organizationRates } from './rate-rules.ts'
import { principalStaleMs } from './principal-cache.ts'
import {
  unknownKeyLookupEveryMs,
  unknownKeyLookupInTotalEveryMs,
  unknownKeyLookupsInTotalMax,
  unknownKeyLookupsMax,
  unknownKeyRefusalsMax,
} from './unknown-keys.ts'

const secret = 'sk-hr-v1-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'

function setUp(changes: Partial<KeyRecord> = {}, organization: Partial<LoadedKey['organization']> = {}) {
  const clock = { ms: 0, nowMs: () => clock.ms, monotonicMs: () => clock.ms }
  const { key } = makeKey({ organizationId: 'org_1', kind: 'inference', name: 'k', secret }, 0)
  const state = { loads: 0, fails: false, isGone: false, gate: Promise.resolve() }
  const loaded: LoadedKey = {
    key: { ...key, ...changes },
    workspaceId: 'ws_1',
    memberId: null,
    organization: {
      accountMode: 'tracked',
      isFilteredModelCatalogEnabled: false,
      policy: openPolicy,
      rates: organizationRates,
      isDeleted: false,
      ...organization,
    },
  }
  const find = async (isWanted: boolean) => {
    state.loads += 1
    await state.gate
    if (state.fails) throw new GatewayError('storage_unavailable', 'gone')
    return isWanted && !state.isGone ? loaded : null
  }
  const wakes: { atMs: number; wake: () => void }[] = []
  const authenticator = createAuthenticator({
    clock,
    wakeAfter: (delayMs, wake) => void wakes.push({ atMs: clock.ms + delayMs, wake }),
    repository: {
      loadByHash: (keyHash) => find(keyHash === key.keyHash),
      loadById: (keyId) => find(keyId === key.keyId),
    },
  })
  // In an async function, an error that is thrown at once becomes a rejection like any other.
  const ask = async (authorization: string | null = `Bearer ${secret}`, address = '10.0.0.1') =>
    authenticator.authenticate(new Headers(authorization === null ? {} : { authorization }), {
      clientAddress: address,
    })
  /** Advances the clock and runs everything that is due by then. */
  const advance = async (passedMs: number) => {
    const endMs = clock.ms + passedMs
    for (;;) {
      await settled()
      const due = wakes
        .filter(({ atMs }) => atMs <= endMs)
        .toSorted((left, right) => left.atMs - right.atMs)[0]
      if (!due) break
      wakes.splice(wakes.indexOf(due), 1)
      clock.ms = Math.max(clock.ms, due.atMs)
      due.wake()
    }
    clock.ms = endMs
  }
  return { clock, state, key, authenticator, ask, advance }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('accepted keys', () => {
  test('are known bearer keys, whatever the case of the scheme', async () => {
    const { ask, key } = setUp()
    expect(await ask()).toMatchObject({ organizationId: 'org_1', keyId: key.keyId, keyKind: 'inference' })
    expect(await ask(`bearer ${secret}`)).toMatchObject({ keyId: key.keyId })
  })

  test('a missing header is refused with the contract’s text, an unusable header with another text', async () => {
    const { ask } = setUp()
    await expect(ask(null)).rejects.toMatchObject({
      type: 'authentication',
      message: 'Missing Authentication header',
    })
    for (const header of [
      'Bearer',
      'Bearer ',
      'Bearer unknown',
      `Basic ${secret}`,
      secret,
      `Bearer ${'x'.repeat(600)}`,
    ]) {
      const refusal = ask(header)
      await expect(refusal).rejects.toMatchObject({ type: 'authentication', status: 401 })
      await expect(refusal).rejects.not.toMatchObject({ message: 'Missing Authentication header' })
    }
  })

  test('are not disabled, not expired, and not inference keys of a deleted organization', async () => {
    await expect(setUp({ disabled: true }).ask()).rejects.toMatchObject({ status: 401 })
    await expect(setUp({}, { isDeleted: true }).ask()).rejects.toMatchObject({ status: 401 })
    expect(await setUp({ kind: 'management' }, { isDeleted: true }).ask()).toMatchObject({
      keyKind: 'management',
    })
    const { ask, clock } = setUp({ expiresAtMs: 1_000 })
    expect(await ask()).toBeDefined()
    clock.ms = 1_000
    await expect(ask()).rejects.toMatchObject({ status: 401 })
  })

  test('x-api-key counts where it is accepted and nowhere else', async () => {
    const { authenticator, key } = setUp()
    const headers = new Headers({ 'x-api-key': secret })
    expect(
      await authenticator.authenticate(headers, { clientAddress: '' }, { acceptsApiKeyHeader: true }),
    ).toMatchObject({
      keyId: key.keyId,
    })
    expect(() => authenticator.authenticate(headers, { clientAddress: '' })).toThrow(
      'Missing Authentication header',
    )
  })

  test('work that goes on without its caller has the principal of its key, as long as the key is valid', async () => {
    const { authenticator, key, state } = setUp()
    expect(await authenticator.principalOf(key.keyId)).toMatchObject({ keyId: key.keyId })
    state.isGone = true
    expect(await authenticator.principalOf(key.keyId)).toBeNull()
    const disabled = setUp({ disabled: true })
    expect(await disabled.authenticator.principalOf(disabled.key.keyId)).toBeNull()
  })
})

describe('the cache', () => {
  test('answers at once and is refreshed in the background, so that no caller waits for a busy key', async () => {
    const { authenticator, ask, clock, state } = setUp()
    await ask()
    const headers = new Headers({ authorization: `Bearer ${secret}` })
    for (let second = 0; second < 10; second++) {
      clock.ms += principalFreshMs / 2
      expect(authenticator.authenticate(headers, { clientAddress: '' })).not.toBeInstanceOf(Promise)
      await Promise.resolve()
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    expect(state.loads).toBe(11)
  })

  test('a deleted key works for two seconds at most', async () => {
    const { ask, clock, state } = setUp()
    await ask()
    state.isGone = true
    clock.ms += principalFreshMs
    await expect(ask()).rejects.toMatchObject({ status: 401 })
  })

  test('many calls at once with a new key cost one database read', async () => {
    const { ask, state } = setUp()
    await Promise.all(Array.from({ length: 50 }, () => ask()))
    expect(state.loads).toBe(1)
  })

  test('a change counts at once, even if a read that began before it ends later', async () => {
    const { ask, authenticator, key, state } = setUp()
    await ask()
    authenticator.forgetKey(key.keyHash)
    const gate = Promise.withResolvers<void>()
    state.gate = gate.promise
    const early = ask()
    await Promise.resolve()
    state.gate = Promise.resolve()
    state.isGone = true
    authenticator.forgetOrganization('org_1')
    await expect(ask()).rejects.toMatchObject({ status: 401 })
    gate.resolve()
    await early.catch(() => null)
    await expect(ask()).rejects.toMatchObject({ status: 401 })
  })

  test('a failure of storage is never a 401: known keys work for a while, new keys get 503', async () => {
    const { ask, clock, state } = setUp()
    await ask()
    state.fails = true
    clock.ms += principalStaleMs - 1
    expect(await ask()).toBeDefined()
    await expect(ask('Bearer sk-another-key')).rejects.toMatchObject({
      type: 'storage_unavailable',
      status: 503,
    })
    clock.ms += 1
    await expect(ask()).rejects.toMatchObject({ type: 'storage_unavailable' })
  })
})

describe('guessing keys', () => {
  /** Sends `count` bad keys at once; returns a list that fills with the answers as they arrive. */
  function guess(ask: ReturnType<typeof setUp>['ask'], count: number, name = 'guess') {
    const answers: unknown[] = []
    for (let i = 0; i < count; i++) {
      ask(`Bearer ${name}-${i}`).catch((error: GatewayError) => void answers.push(error.type))
    }
    return answers
  }

  test('in any minute one address gets a 401 for at most 30 keys', async () => {
    const { ask, advance } = setUp()
    const answers = guess(ask, 500)
    await advance(59_999)
    const told = answers.filter((type) => type === 'authentication').length
    expect(told).toBeLessThanOrEqual(30)
    // 15 get a 401 at once and 7 more within half a minute; then the others are refused with 429.
    expect(told).toBeGreaterThanOrEqual(22)
    expect(answers.filter((type) => type === 'rate_limit_exceeded').length).toBeGreaterThan(400)
    const elsewhere = ask('Bearer guess', '10.0.0.2')
    await expect(elsewhere).rejects.toMatchObject({ status: 401 })
  })

  test('guesses that come at once are not looked up at once', async () => {
    const { ask, state } = setUp()
    const gate = Promise.withResolvers<void>()
    state.gate = gate.promise
    guess(ask, 200)
    await settled()
    expect(state.loads).toBe(unknownKeyLookupsMax)
    gate.resolve()
  })

  test('bad keys are looked up at a bounded rate, from one address and from all together', async () => {
    const { ask, advance, state } = setUp()
    guess(ask, 1_000)
    await advance(10_000)
    expect(state.loads).toBeLessThanOrEqual(unknownKeyLookupsMax + 10_000 / unknownKeyLookupEveryMs)
    const others = setUp()
    for (let count = 0; count < 3_000; count++)
      others.ask(`Bearer guess-${count}`, `10.1.${count >> 8}.${count & 255}`).catch(() => null)
    await others.advance(1_000)
    expect(others.state.loads).toBeLessThanOrEqual(
      unknownKeyLookupsInTotalMax + 1_000 / unknownKeyLookupInTotalEveryMs,
    )
  })

  test('a good key that is new to the process is served soon, however many bad keys come beside it', async () => {
    const { ask, advance, key } = setUp()
    guess(ask, 200)
    await settled()
    const served = ask()
    await advance(unknownKeyLookupEveryMs)
    expect(await served).toMatchObject({ keyId: key.keyId })
  })

  for (const everyMs of [1_000, 100]) {
    test(`a good key is served within a tenth of a second while a new bad one comes every ${everyMs} ms`, async () => {
      const { ask, advance, clock, key } = setUp()
      const answers: { type: string; atMs: number }[] = []
      const flood = async (untilMs: number) => {
        for (; clock.ms < untilMs; await advance(everyMs)) {
          ask(`Bearer guess-${clock.ms}`).catch(
            (error: GatewayError) => void answers.push({ type: error.type, atMs: clock.ms }),
          )
        }
      }
      await flood(60_000)
      let servedAfterMs = Number.POSITIVE_INFINITY
      const sentMs = clock.ms
      const served = ask().then((principal) => {
        servedAfterMs = clock.ms - sentMs
        return principal
      })
      await flood(sentMs + 60_000)
      expect(await served).toMatchObject({ keyId: key.keyId })
      expect(servedAfterMs).toBeLessThanOrEqual(100)
      // An attacker still learns about 30 keys in the first minute and 15 in every later one, and no more.
      const told = answers.filter(({ type }) => type === 'authentication').map(({ atMs }) => atMs)
      expect(told.filter((atMs) => atMs < 60_000).length).toBeLessThanOrEqual(30)
      expect(told.filter((atMs) => atMs >= 60_000).length).toBeLessThanOrEqual(16)
      expect(told.length).toBeGreaterThanOrEqual(40)
    })
  }

  test('sending a key again while its refusal waits does not make the refusal earlier', async () => {
    const { ask, advance, authenticator } = setUp()
    guess(ask, unknownKeyRefusalsMax)
    await advance(0)
    let isTold = false
    ask('Bearer late-guess').catch(() => (isTold = true))
    await advance(100)
    // By now this process knows that the key is invalid.
    const headers = new Headers({ authorization: 'Bearer late-guess' })
    const again = authenticator.authenticate(headers, { clientAddress: '10.0.0.1' })
    expect(again).toBeInstanceOf(Promise)
    await expect(Promise.race([again, settled().then(() => 'waits')])).resolves.toBe('waits')
    await advance(unknownKeyRefusalEveryMs - 101)
    expect(isTold).toBe(false)
    await advance(1)
    expect(isTold).toBe(true)
    await expect(again).rejects.toMatchObject({ status: 401 })
  })

  test('any number of good keys is accepted at once, even beside bad ones', async () => {
    const { ask, advance, authenticator, key, state } = setUp()
    guess(ask, unknownKeyRefusalsMax + 1)
    await advance(0)
    const gate = Promise.withResolvers<void>()
    state.gate = gate.promise
    const asked = Array.from({ length: unknownKeyLookupsMax * 3 }, (_, count) => {
      authenticator.forgetKey(key.keyHash)
      return ask(undefined, `10.0.0.${1 + (count % 2)}`)
    })
    gate.resolve()
    await advance(0)
    for (const served of asked) expect(await served).toMatchObject({ keyId: key.keyId })
  })

  test('one client with one wrong key delays no other client', async () => {
    const { ask, advance, key, state } = setUp()
    for (let second = 0; second < 300; second++) {
      ask('Bearer the-one-wrong-key').catch(() => null)
      await advance(1_000)
    }
    expect(state.loads).toBeLessThanOrEqual(300_000 / principalFreshMs)
    expect(await ask()).toMatchObject({ keyId: key.keyId })
  })

  test('good keys use up no turns: any number of them is accepted at once', async () => {
    const { ask, advance, clock, authenticator, key } = setUp()
    for (let i = 0; i < unknownKeyLookupsMax * 3; i++) {
      authenticator.forgetKey(key.keyHash)
      expect(await ask()).toBeDefined()
    }
    expect(clock.ms).toBe(0)
    guess(ask, unknownKeyRefusalsMax)
    await advance(0)
    const next = ask('Bearer another-guess')
    await expect(Promise.race([next, settled().then(() => 'waits')])).resolves.toBe('waits')
    next.catch(() => null)
    await advance(unknownKeyRefusalEveryMs)
    await expect(next).rejects.toMatchObject({ status: 401 })
  })

  test('a caller whose key was good before does not wait', async () => {
    const { ask, clock } = setUp()
    await ask()
    guess(ask, 200)
    clock.ms += principalFreshMs
    expect(await ask()).toBeDefined()
  })

  test('the same wrong key again and again does not reach the database', async () => {
    const { ask, state } = setUp()
    for (let i = 0; i < 100; i++) await expect(ask('Bearer wrong-key')).rejects.toMatchObject({ status: 401 })
    expect(state.loads).toBe(1)
  })

  test('a lookup that fails in storage uses up no turn', async () => {
    const { ask, state } = setUp()
    state.fails = true
    for (let i = 0; i < unknownKeyLookupsMax * 2; i++)
      await expect(ask(`Bearer guess-${i}`)).rejects.toMatchObject({ type: 'storage_unavailable' })
  })

  test('a disabled or expired key gets the same answer as an unknown one, and the log names it', async () => {
    for (const made of [setUp({ disabled: true }), setUp({ expiresAtMs: 0 })]) {
      const refusal = await made.ask().catch((error: unknown) => error)
      expect(refusal).toMatchObject({
        status: 401,
        owner: { organizationId: 'org_1', keyId: made.key.keyId },
      })
      expect(refusal).toMatchObject({ metadata: null })
    }
    const stranger = await setUp()
      .ask('Bearer unknown')
      .catch((error: unknown) => error)
    expect(stranger).toMatchObject({ status: 401, owner: null })
  })
})

test('a key may come in its own header, so that Authorization can have a login for the provider', async () => {
  const { authenticator } = setUp()
  const headers = new Headers({ authorization: 'Bearer sk-ant-oat-1', 'x-headrace-key': secret })
  expect(await authenticator.authenticate(headers, { clientAddress: '10.0.0.1' })).toMatchObject({
    keyKind: 'inference',
  })
  expect(callerLoginOf(headers)).toBe('sk-ant-oat-1')
  // Without x-headrace-key the bearer token is the gateway's key; only a bearer token counts as a login.
  expect(callerLoginOf(new Headers({ authorization: `Bearer ${secret}` }))).toBeNull()
  expect(callerLoginOf(new Headers({ authorization: 'Basic abc', 'x-headrace-key': secret }))).toBeNull()
  // Clients that are given the key for both headers send it in both; providers must not see it.
  for (const [login, key] of [
    [secret, secret],
    ['imported-key-of-a-company', 'imported-key-of-a-company'],
    ['sk-hr-v1-of-somebody-else', secret],
  ] as const)
    expect(callerLoginOf(new Headers({ authorization: `Bearer ${login}`, 'x-headrace-key': key }))).toBeNull()
  const wrong = new Headers({ authorization: `Bearer ${secret}`, 'x-headrace-key': 'sk-hr-v1-wrong' })
  await expect(async () => authenticator.authenticate(wrong, { clientAddress: '10.0.0.1' })).toThrow(
    /unknown/,
  )
})
