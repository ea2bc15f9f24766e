import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../core/errors.ts'
import { authenticationFailuresPerMinuteMax, principalFreshMs, principalStaleMs } from '../core/limits.ts'
import { createAuthenticator } from './authenticator.ts'
import type { KeyRecord } from './key-record.ts'
import type { LoadedKey } from './key-repository.ts'
import { makeKey } from './keys.ts'
import { openPolicy } from './policy.ts'
import { organizationRates } from './rate-rules.ts'

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
  const authenticator = createAuthenticator({
    clock,
    repository: {
      loadByHash: (keyHash) => find(keyHash === key.keyHash),
      loadById: (keyId) => find(keyId === key.keyId),
    },
  })
  // In an async function what is thrown at once and what is rejected look the same.
  const ask = async (authorization: string | null = `Bearer ${secret}`, address = '10.0.0.1') =>
    authenticator.authenticate(new Headers(authorization === null ? {} : { authorization }), () => address)
  return { clock, state, key, authenticator, ask }
}

describe('who may come in', () => {
  test('a known bearer key, whatever the case of the scheme', async () => {
    const { ask, key } = setUp()
    expect(await ask()).toMatchObject({ organizationId: 'org_1', keyId: key.keyId, keyKind: 'inference' })
    expect(await ask(`bearer ${secret}`)).toMatchObject({ keyId: key.keyId })
  })

  test('without a header the text is the one of the contract, with a useless one it is another', async () => {
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

  test('no disabled key, no expired key, and no inference key of an organization that is gone', async () => {
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
    expect(await authenticator.authenticate(headers, () => '', { acceptApiKeyHeader: true })).toMatchObject({
      keyId: key.keyId,
    })
    expect(() => authenticator.authenticate(headers, () => '')).toThrow('Missing Authentication header')
  })

  test('work that goes on without its caller is known by its key, as long as the key may be used', async () => {
    const { authenticator, key, state } = setUp()
    expect(await authenticator.principalOf(key.keyId)).toMatchObject({ keyId: key.keyId })
    state.isGone = true
    expect(await authenticator.principalOf(key.keyId)).toBeNull()
    const disabled = setUp({ disabled: true })
    expect(await disabled.authenticator.principalOf(disabled.key.keyId)).toBeNull()
  })
})

describe('the cache', () => {
  test('answers at once, is read again in the background, and nobody waits for a busy key', async () => {
    const { authenticator, ask, clock, state } = setUp()
    await ask()
    const headers = new Headers({ authorization: `Bearer ${secret}` })
    for (let second = 0; second < 10; second++) {
      clock.ms += principalFreshMs / 2
      expect(authenticator.authenticate(headers, () => '')).not.toBeInstanceOf(Promise)
      await Promise.resolve()
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    expect(state.loads).toBe(11)
  })

  test('a key taken away works for two seconds at most', async () => {
    const { ask, clock, state } = setUp()
    await ask()
    state.isGone = true
    clock.ms += principalFreshMs
    await expect(ask()).rejects.toMatchObject({ status: 401 })
  })

  test('many who come at once with a new key cost one reading', async () => {
    const { ask, state } = setUp()
    await Promise.all(Array.from({ length: 50 }, () => ask()))
    expect(state.loads).toBe(1)
  })

  test('a change is seen at once, also past a reading that began before it', async () => {
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

  test('storage out of order is never a 401: known keys go on for a while, new ones hear 503', async () => {
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
  async function failUntilRefused(ask: ReturnType<typeof setUp>['ask']) {
    for (let i = 0; i < authenticationFailuresPerMinuteMax; i++)
      await ask(`Bearer guess-${i}`).catch(() => null)
  }

  test('an address that fails too often is refused unheard for the rest of its minute', async () => {
    const { ask, clock, state } = setUp()
    await failUntilRefused(ask)
    const { loads } = state
    await expect(ask('Bearer guess')).rejects.toMatchObject({
      type: 'rate_limit_exceeded',
      retryAfterSeconds: 60,
    })
    expect(state.loads).toBe(loads)
    await expect(ask('Bearer guess', '10.0.0.2')).rejects.toMatchObject({ status: 401 })
    clock.ms += 60_000
    await expect(ask('Bearer guess')).rejects.toMatchObject({ status: 401 })
  })

  test('whose key was good before is not locked out by a neighbour', async () => {
    const { ask, clock } = setUp()
    await ask()
    await failUntilRefused(ask)
    clock.ms += principalFreshMs
    expect(await ask()).toBeDefined()
  })

  test('the same wrong key again and again does not reach the database, yet counts', async () => {
    const { ask, state } = setUp()
    for (let i = 0; i < 10; i++) await ask('Bearer wrong-key').catch(() => null)
    expect(state.loads).toBe(1)
    for (let i = 10; i < authenticationFailuresPerMinuteMax; i++)
      await ask('Bearer wrong-key').catch(() => null)
    expect(state.loads).toBe(1)
    await expect(ask('Bearer wrong-key-2')).rejects.toMatchObject({ type: 'rate_limit_exceeded' })
  })
})
