import { SQL } from 'bun'
import { describe, expect, test } from 'bun:test'
import { eachDatabase } from '../../test/support/databases.ts'
import { systemClock } from '../core/clock.ts'
import { openDatabase } from '../storage/open-database.ts'
import { principalFreshMs } from '../core/limits/access.ts'
import { createAuthenticator } from './authenticator.ts'
import { bootstrap } from './bootstrap.ts'
import type { KeyChanges } from './key-record.ts'
import { createKeyRepository } from './key-repository.ts'
import { type AdoptedKey, createKeys } from './keys.ts'
import { createOrganizationRepository } from './organization-repository.ts'
import { createOrganizations } from './organization.ts'
import { openPolicy } from './policy.ts'
import { organizationRates, unlimitedRates } from './rate-rules.ts'
import { createRateRepository } from './rate-repository.ts'

const clock = systemClock
/** An operator deletes the organization's row by hand; its keys stay. */
async function removeRow(url: string, organizationId: string): Promise<void> {
  const sql = new SQL(url)
  const isPostgres = url.startsWith('postgres')
  // The sqlite3 command does not check references by default.
  if (isPostgres) {
    await sql`alter table api_keys drop constraint api_keys_organization_id_fkey`
    await sql`alter table workspaces drop constraint workspaces_organization_id_fkey`
  } else await sql`pragma foreign_keys = off`
  await sql`delete from organizations where organization_id = ${organizationId}`
  await sql.close()
}

const nothing = { creditsNanocredits: null, key: null, managementKey: null }

eachDatabase((_, open, { openFresh }) => {
  async function fresh() {
    const { database } = await openFresh()
    const keys = createKeyRepository(database)
    const organizations = createOrganizationRepository(database)
    return { database, keys, organizations, clock }
  }
  const authenticate = async (parts: Awaited<ReturnType<typeof fresh>>, secret: string) =>
    createAuthenticator({ repository: parts.keys, clock }).authenticate(
      new Headers({ authorization: `Bearer ${secret}` }),
      { clientAddress: '' },
    )

  test('a key that was adopted once is never adopted again, also after it was rotated or deleted', async () => {
    const parts = await fresh()
    const { organizationId } = await bootstrap(nothing, parts)
    const keys = createKeys({ repository: parts.keys, clock, onChange: () => undefined })
    const adoptedKey = (keyHash: string): AdoptedKey => ({
      organizationId,
      kind: 'inference',
      name: 'of another gateway',
      keyHash,
      label: '…',
      disabled: false,
      limitNanocredits: null,
      limitReset: null,
      policy: openPolicy,
      rates: unlimitedRates,
      expiresAtMs: null,
    })
    const [kept, rotated, overlapping, deleted] = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(64)) as [
      string,
      string,
      string,
      string,
    ]
    const hashes = [kept, rotated, overlapping, deleted]
    expect(await keys.findAdopted(hashes)).toEqual({ present: new Set(), former: new Set() })
    expect(await keys.adopt(hashes.map(adoptedKey))).toEqual(new Set(hashes))
    await keys.rotate(organizationId, rotated, 0)
    await keys.rotate(organizationId, overlapping, 3_600_000)
    await keys.delete(organizationId, deleted)
    expect(await keys.findAdopted([...hashes, 'e'.repeat(64)])).toEqual({
      present: new Set([kept]),
      former: new Set([rotated, overlapping, deleted]),
    })
    expect(await keys.adopt([...hashes, 'e'.repeat(64)].map(adoptedKey))).toEqual(new Set(['e'.repeat(64)]))
    const page = { offset: 0, limit: 100, includeDisabled: true }
    const listed = await keys.list(organizationId, page)
    expect(listed.filter(({ name }) => name === 'of another gateway')).toHaveLength(4)
  })

  describe('the first start', () => {
    test('makes an organization and two keys, shown once', async () => {
      const parts = await fresh()
      const first = await bootstrap(nothing, parts)
      expect(first).toMatchObject({ isNew: true, accountMode: 'tracked' })
      expect(await authenticate(parts, first.key ?? '')).toMatchObject({
        keyKind: 'inference',
        accountMode: 'tracked',
      })
      expect(await authenticate(parts, first.managementKey ?? '')).toMatchObject({ keyKind: 'management' })
      expect(await bootstrap(nothing, parts)).toEqual({
        ...first,
        isNew: false,
        key: null,
        managementKey: null,
      })
    })

    test('makes a default workspace; a key that names no workspace belongs to it', async () => {
      const parts = await fresh()
      const { organizationId, key } = await bootstrap(nothing, parts)
      const service = createKeys({ repository: parts.keys, clock, onChange: () => undefined })
      const later = await service.create({ organizationId, kind: 'inference', name: 'later' })
      const workspaces = await parts.database.query<{ workspace_id: string }>(
        'select workspace_id from workspaces where organization_id = $1 and is_default = 1',
        [organizationId],
      )
      expect(workspaces).toHaveLength(1)
      const workspaceId = workspaces[0]?.workspace_id ?? ''
      for (const secret of [key ?? '', later.secret])
        expect(await authenticate(parts, secret)).toMatchObject({ workspaceId, memberId: null })
    })

    test('of several at once exactly one makes the organization', async () => {
      const parts = await fresh()
      const options = {
        creditsNanocredits: 5n,
        key: 'an-inference-key-of-mine',
        managementKey: 'a-management-key-of-mine',
      }
      const starts = await Promise.all(Array.from({ length: 5 }, () => bootstrap(options, parts)))
      expect(starts.filter(({ isNew }) => isNew)).toHaveLength(1)
      expect(starts.every(({ accountMode, key }) => accountMode === 'prepaid' && key === null)).toBe(true)
      expect(await authenticate(parts, 'an-inference-key-of-mine')).toMatchObject({ accountMode: 'prepaid' })
    })

    test('a later start adds newly configured keys, and refuses a configured key of another kind', async () => {
      const parts = await fresh()
      const { organizationId } = await bootstrap(nothing, parts)
      await bootstrap({ ...nothing, key: 'a-key-named-later-on' }, parts)
      await bootstrap({ ...nothing, key: 'a-key-named-later-on' }, parts)
      expect(
        await parts.keys.list(organizationId, { offset: 0, limit: 10, includeDisabled: true }),
      ).toHaveLength(3)
      await expect(
        bootstrap({ ...nothing, managementKey: 'a-key-named-later-on' }, parts),
      ).rejects.toMatchObject({
        type: 'conflict',
      })
      await expect(
        bootstrap({ ...nothing, key: 'the-same-key-twice', managementKey: 'the-same-key-twice' }, parts),
      ).rejects.toMatchObject({ type: 'conflict' })
    })
  })

  describe('keys', () => {
    test('are created, listed, changed and deleted, and listeners hear of every change', async () => {
      const parts = await fresh()
      const { organizationId } = await bootstrap(nothing, parts)
      const changed: string[] = []
      const keys = createKeys({ repository: parts.keys, clock, onChange: (hash) => changed.push(hash) })
      const { key, secret } = await keys.create({
        organizationId,
        kind: 'inference',
        name: 'mine',
        limitNanocredits: 9_007_199_254_740_993n,
        limitReset: 'weekly',
        policy: { ...openPolicy, allowedModels: ['a/x'] },
        rates: { requestsPerMinute: 7, batchesPerMinute: null, tokensPerMinute: null },
        expiresAtMs: clock.nowMs() + 60_000,
      })
      expect(await keys.load(organizationId, key.keyHash)).toEqual(key)
      expect(await authenticate(parts, secret)).toMatchObject({
        keyLimitNanocredits: 9_007_199_254_740_993n,
        constraints: { allowedModels: ['a/x'] },
        rates: {
          organization: { batchesPerMinute: 60, tokensPerMinute: null },
          key: { requestsPerMinute: 7 },
        },
      })
      const updated = await keys.update(organizationId, key.keyHash, {
        disabled: true,
        limitNanocredits: null,
      })
      expect(updated).toMatchObject({
        disabled: true,
        limitNanocredits: null,
        limitReset: 'weekly',
        name: 'mine',
      })
      expect(updated.updatedAtMs).not.toBeNull()
      await expect(authenticate(parts, secret)).rejects.toMatchObject({ status: 401 })
      expect(await keys.list(organizationId, { offset: 0, limit: 10, includeDisabled: false })).toHaveLength(
        2,
      )
      await keys.delete(organizationId, key.keyHash)
      await expect(keys.load(organizationId, key.keyHash)).rejects.toMatchObject({ status: 404 })
      expect(changed).toEqual([key.keyHash, key.keyHash, key.keyHash])
    })

    test('have a limit whose window begins anew when it is set or its reset changes, not when its amount changes', async () => {
      const parts = await fresh()
      const { organizationId } = await bootstrap(nothing, parts)
      const keys = createKeys({ repository: parts.keys, clock, onChange: () => {} })
      const { key } = await keys.create({ organizationId, kind: 'inference', name: 'mine' })
      let since = key.limitSinceMs
      const isAnew = async (changes: KeyChanges): Promise<boolean> => {
        await Bun.sleep(2)
        const { limitSinceMs, keyId } = await keys.update(organizationId, key.keyHash, changes)
        const before = since
        since = limitSinceMs
        const { principalOf } = createAuthenticator({ repository: parts.keys, clock })
        expect((await principalOf(keyId))?.keyLimitSinceMs).toBe(since)
        return since > before
      }
      expect(await isAnew({ limitNanocredits: 5n })).toBe(true)
      expect(await isAnew({ limitNanocredits: 7n, name: 'yours' })).toBe(false)
      expect(await isAnew({ limitReset: 'daily' })).toBe(true)
      expect(await isAnew({ limitReset: 'daily', limitNanocredits: 8n })).toBe(false)
      expect(await isAnew({ limitReset: 'weekly', limitNanocredits: 8n })).toBe(true)
      expect(await isAnew({ limitReset: null })).toBe(true)
      expect(await isAnew({ limitNanocredits: null })).toBe(true)
      expect(await isAnew({ name: 'mine' })).toBe(false)
    })

    test('of another organization are answered like unknown keys', async () => {
      const parts = await fresh()
      const { key } = await bootstrap(nothing, parts)
      const { keyHash } = await authenticate(parts, key ?? '')
      const keys = createKeys({ repository: parts.keys, clock, onChange: () => {} })
      await expect(keys.load('org_other', keyHash)).rejects.toMatchObject({ status: 404 })
      await expect(keys.update('org_other', keyHash, { disabled: true })).rejects.toMatchObject({
        status: 404,
      })
      await expect(keys.delete('org_other', keyHash)).rejects.toMatchObject({ status: 404 })
      expect(await authenticate(parts, key ?? '')).toBeDefined()
    })

    test('cannot be created twice from one secret', async () => {
      const parts = await fresh()
      const { organizationId, key } = await bootstrap(nothing, parts)
      const keys = createKeys({ repository: parts.keys, clock, onChange: () => {} })
      const again = keys.create({ organizationId, kind: 'inference', name: 'again', secret: key ?? '' })
      await expect(again).rejects.toMatchObject({ type: 'conflict' })
    })
  })

  describe('settings', () => {
    test('change, reach listeners, and end with their organization', async () => {
      const parts = await fresh()
      const { organizationId, managementKey } = await bootstrap(nothing, parts)
      const changed: string[] = []
      const organizations = createOrganizations({
        repository: parts.organizations,
        onChange: (id) => changed.push(id),
      })
      await organizations.updateSettings(organizationId, { isFilteredModelCatalogEnabled: true })
      expect(await organizations.load(organizationId)).toMatchObject({ isFilteredModelCatalogEnabled: true })
      expect(changed).toEqual([organizationId])
      expect(await parts.organizations.markDeleted(organizationId)).toBe(true)
      expect(await organizations.load(organizationId)).toBeNull()
      const late = organizations.updateSettings(organizationId, { isFilteredModelCatalogEnabled: false })
      await expect(late).rejects.toMatchObject({ status: 404 })
      // The management key is still accepted, so that its owner gets 404 and not 401.
      expect(await authenticate(parts, managementKey ?? '')).toMatchObject({ keyKind: 'management' })
    })
  })

  test('after its organization was removed from the database, an inference key is refused and a management key gets 404', async () => {
    const { database, url } = await openFresh()
    const parts = {
      database,
      keys: createKeyRepository(database),
      organizations: createOrganizationRepository(database),
      clock,
    }
    const { organizationId, key, managementKey } = await bootstrap(nothing, parts)
    await removeRow(url, organizationId)
    expect(await authenticate(parts, managementKey ?? '')).toMatchObject({ keyKind: 'management' })
    await expect(authenticate(parts, key ?? '')).rejects.toMatchObject({ status: 401 })
    const organizations = createOrganizations({ repository: parts.organizations, onChange: () => undefined })
    const late = organizations.updateSettings(organizationId, { isFilteredModelCatalogEnabled: false })
    await expect(late).rejects.toMatchObject({ status: 404 })
  })

  describe('rules', () => {
    test('of an organization reach a running gateway within two seconds', async () => {
      const parts = await fresh()
      const { organizationId, key } = await bootstrap(nothing, parts)
      let nowMs = 0
      const manual = { ...systemClock, monotonicMs: () => nowMs }
      const gateway = createAuthenticator({ repository: parts.keys, clock: manual })
      const headers = new Headers({ authorization: `Bearer ${key}` })
      expect(await gateway.authenticate(headers, { clientAddress: '' })).toMatchObject({
        accountMode: 'tracked',
      })
      await parts.organizations.update(organizationId, {
        accountMode: 'prepaid',
        policy: { allowedProviders: ['openai'], requireZdr: true },
        rates: { requestsPerMinute: 5 },
      })
      nowMs = principalFreshMs
      expect(await gateway.authenticate(headers, { clientAddress: '' })).toMatchObject({
        accountMode: 'prepaid',
        constraints: { allowedProviders: ['openai'], allowedModels: null, requireZdr: true },
        rates: { organization: { requestsPerMinute: 5, batchesPerMinute: 60, tokensPerMinute: null } },
      })
    })

    test('that several callers change at once are all kept', async () => {
      const parts = await fresh()
      const { organizationId, key } = await bootstrap(nothing, parts)
      const { keyHash } = await authenticate(parts, key ?? '')
      const changes = [
        { policy: { requireZdr: true } },
        { policy: { ignoredModels: ['a/b'] } },
        { rates: { batchesPerMinute: 3, tokensPerMinute: null } },
      ]
      await Promise.all(changes.map((change) => parts.organizations.update(organizationId, change)))
      await Promise.all(changes.map((change) => parts.keys.update(organizationId, keyHash, change)))
      const all = {
        policy: { requireZdr: true, ignoredModels: ['a/b'] },
        rates: { batchesPerMinute: 3, requestsPerMinute: null },
      }
      expect(await parts.organizations.load(organizationId)).toMatchObject(all)
      expect((await parts.keys.loadByHash(keyHash))?.key).toMatchObject(all)
    })

    test('that could not be read back are refused by name and change nothing', async () => {
      const parts = await fresh()
      const { organizationId } = await bootstrap(nothing, parts)
      for (const [change, param] of [
        [{ policy: { allowedModels: [] } }, 'policy.allowed_models'],
        [{ policy: { ignoredProviders: [''] } }, 'policy.ignored_providers'],
        [{ rates: { requestsPerMinute: 0 } }, 'rates.requests_per_minute'],
      ] as const) {
        await expect(parts.organizations.update(organizationId, change)).rejects.toMatchObject({ param })
      }
      expect(await parts.organizations.load(organizationId)).toMatchObject({
        policy: openPolicy,
        rates: organizationRates,
      })
    })

    test('of a deleted or unknown organization cannot be changed', async () => {
      const parts = await fresh()
      const { organizationId } = await bootstrap(nothing, parts)
      await parts.organizations.markDeleted(organizationId)
      expect(await parts.organizations.update(organizationId, { accountMode: 'prepaid' })).toBeNull()
      expect(await parts.organizations.update('org_none', {})).toBeNull()
    })
  })

  describe('rates in the database', () => {
    test('admit exactly the allowed number of calls at once, however many calls several processes make', async () => {
      const repositories = [createRateRepository(await open()), createRateRepository(await open())]
      const asked = Array.from({ length: 40 }, (_unused, index) =>
        repositories[index % 2]?.take('key:a:requests', 12),
      )
      const decisions = await Promise.all(asked)
      expect(decisions.filter((decision) => decision?.isAllowed)).toHaveLength(12)
      const waits = decisions.flatMap((decision) =>
        decision && !decision.isAllowed ? [decision.waitMs] : [],
      )
      expect(Math.max(...waits)).toBeLessThanOrEqual(5_000)
      expect(Math.min(...waits)).toBeGreaterThan(0)
    })

    test('a place that is given back can be taken again, once, and no more places than were taken', async () => {
      const repository = createRateRepository(await open())
      const take = async () => (await repository.take('key:returning:batches', 2)).isAllowed
      expect([await take(), await take(), await take()]).toEqual([true, true, false])
      await repository.giveBack('key:returning:batches', 2)
      expect([await take(), await take()]).toEqual([true, false])
      for (let i = 0; i < 10; i++) await repository.giveBack('key:returning:batches', 2)
      expect([await take(), await take(), await take(), await take()].filter(Boolean)).toHaveLength(2)
    })

    test('a look at a limit gives the same answer as taking a place, and takes none', async () => {
      const rates = createRateRepository(await open())
      expect(await rates.look('key:e:requests', 2)).toEqual({ isAllowed: true, waitMs: 0 })
      for (let count = 0; count < 5; count += 1) await rates.look('key:e:requests', 2)
      const taken = [await rates.take('key:e:requests', 2), await rates.take('key:e:requests', 2)]
      expect(taken.map(({ isAllowed }) => isAllowed)).toEqual([true, true])
      const { isAllowed, waitMs } = await rates.look('key:e:requests', 2)
      expect([isAllowed, waitMs > 0 && waitMs <= 30_000]).toEqual([false, true])
    })

    test('when the clock is set back, no caller is shut out and no caller escapes a limit', async () => {
      const { database, url } = await openFresh({ nowExpression: 'cast(7200000 as bigint)' })
      const back = await openDatabase({
        url,
        nowExpression: 'cast(3600000 as bigint)',
        ownerGraceMs: 0,
        connectionsMax: 4,
      })
      const [before, after] = [createRateRepository(database), createRateRepository(back)]
      const allowed = async (rates: typeof before) => (await rates.take('key:d:requests', 2)).isAllowed
      expect([await allowed(before), await allowed(before), await allowed(before)]).toEqual([
        true,
        true,
        false,
      ])
      expect([await allowed(after), await allowed(after), await allowed(after)]).toEqual([true, true, false])
      expect((await after.take('key:d:requests', 2)).waitMs).toBe(30_000)
      // A report that a dead process made by the earlier clock does not take a share for ever either.
      await before.exchangeUses([{ limitId: 'key:d:requests', count: 30 }], 3_000)
      const seen = await after.exchangeUses([{ limitId: 'key:d:requests', count: 1 }], 3_000)
      expect(seen.get('key:d:requests')).toEqual(new Map([[back.ownerId, 1]]))
      await back.close()
    })

    test('admit one more call when the interval has passed', async () => {
      const { database } = await openFresh({
        nowExpression: '(select coalesce(max(created_at_ms), 1) from organizations)',
      })
      const setNow = (ms: number) =>
        database.commit({
          name: 'move the clock',
          statements: [
            {
              sql: "insert into organizations (organization_id, name, account_mode, created_at_ms) values ($1, 'x', 'tracked', $2)",
              params: [`org_${ms}`, ms],
            },
          ],
        })
      const rates = createRateRepository(database)
      await setNow(1_000_000)
      const allowed = async () => (await rates.take('key:b:requests', 2)).isAllowed
      expect([await allowed(), await allowed(), await allowed()]).toEqual([true, true, false])
      expect((await rates.take('key:b:requests', 2)).waitMs).toBe(30_000)
      await setNow(1_029_999)
      expect(await allowed()).toBe(false)
      await setNow(1_030_000)
      expect([await allowed(), await allowed()]).toEqual([true, false])
      await setNow(10_000_000)
      expect([await allowed(), await allowed(), await allowed()]).toEqual([true, true, false])
    })

    test('processes learn of each other from reports, and old reports are deleted', async () => {
      const one = await open()
      const two = await open()
      await createRateRepository(one).exchangeUses([{ limitId: 'key:c:requests', count: 30 }], 3_000)
      const seen = await createRateRepository(two).exchangeUses(
        [{ limitId: 'key:c:requests', count: 10 }],
        3_000,
      )
      expect(seen.get('key:c:requests')).toEqual(
        new Map([
          [one.ownerId, 30],
          [two.ownerId, 10],
        ]),
      )
      await createRateRepository(two).removeOld()
      const still = await createRateRepository(two).exchangeUses(
        [{ limitId: 'key:c:requests', count: 1 }],
        60_000,
      )
      expect(still.get('key:c:requests')?.size).toBe(2)
    })
  })
})
