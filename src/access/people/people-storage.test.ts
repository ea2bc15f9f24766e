import { expect, test } from 'bun:test'
import { eachDatabase } from '../../../test/support/databases.ts'
import { sessionIdleMs } from '../../core/limits/access.ts'
import type { Database } from '../../storage/database.ts'
import { createAuthenticator } from '../authenticator.ts'
import { bootstrap } from '../bootstrap.ts'
import { createKeyRepository } from '../key-repository.ts'
import { createKeys } from '../keys.ts'
import { createOrganizationRepository } from '../organization-repository.ts'
import { createMemberRepository } from './member-repository.ts'
import { createMembers } from './members.ts'
import { createPasswords } from './password.ts'
import { createSessionRepository } from './session-repository.ts'
import { createSessions, type OpenedSession } from './sessions.ts'
import { createSignIn } from './sign-in.ts'

const place = { address: '192.0.2.1', userAgent: 'A browser' }
const nothing = { creditsNanocredits: null, key: null, managementKey: null }

/** The parts of one process on a database, with a clock of its own. */
function processOn(database: Database) {
  let aheadMs = 0
  const woken: (() => void)[] = []
  // The turns of guesses count by the second clock, which stands still: however busy the machine is, no turn comes back.
  const clock = { nowMs: () => Date.now() + aheadMs, monotonicMs: () => 0 }
  const wakeAfter = (_: number, wake: () => void) => void woken.push(wake)
  const keyRepository = createKeyRepository(database)
  const repository = createMemberRepository(database)
  const authenticator = createAuthenticator({ repository: keyRepository, clock })
  const keys = createKeys({ repository: keyRepository, clock, onChange: () => undefined })
  const members = createMembers({ repository, keyRepository, keys, clock })
  const sessionRepository = createSessionRepository(database)
  const principalOf = (keyId: string) => authenticator.principalOf(keyId)
  const sessions = createSessions({
    repository: sessionRepository,
    members: repository,
    principalOf,
    clock,
    wakeAfter,
  })
  const signIn = createSignIn({
    repository,
    members,
    sessions,
    passwords: createPasswords(),
    ownerOf: (key) =>
      authenticator.authenticate(new Headers({ 'x-headrace-key': key }), { clientAddress: '' }),
    clock,
    wakeAfter,
  })
  const forward = (ms: number) => void (aheadMs += ms)
  return { keyRepository, keys, members, sessions, signIn, clock, forward, woken }
}

eachDatabase((name, _, { openFresh }) => {
  async function start() {
    const { database, url } = await openFresh()
    const one = processOn(database)
    const organizations = createOrganizationRepository(database)
    const made = await bootstrap(nothing, { organizations, keys: one.keyRepository, clock: one.clock })
    const invite = (email: string, role: 'admin' | 'member' = 'member') =>
      one.members.invite({
        organizationId: made.organizationId,
        email,
        firstName: null,
        lastName: null,
        role,
      })
    const join = async (email: string, role: 'admin' | 'member' = 'member') => {
      const { token, member } = await invite(email, role)
      return { ...(await one.signIn.byLink(token, place)), member }
    }
    const personOf = async ({ secret }: OpenedSession) =>
      (await one.sessions.authenticate(secret, () => '')).member
    return { ...one, ...made, database, url, invite, join, personOf }
  }

  test(`on ${name}, of two processes that make the first link at once, one makes it`, async () => {
    const { members, organizationId, database } = await start()
    const other = processOn(database).members
    const links = await Promise.all([
      members.makeFirstLink(organizationId),
      other.makeFirstLink(organizationId),
    ])
    expect(links.filter((link) => link !== null).length).toBe(1)
    expect(await members.makeFirstLink(organizationId)).toBeNull()
    const { total } = await members.list({ organizationId, isWhole: true, offset: 0, limit: 10 })
    expect(total).toBe(1)
  })

  test(`on ${name}, a link opens one session, whichever process is asked`, async () => {
    const { signIn, invite, database } = await start()
    const other = processOn(database).signIn
    const { token } = await invite('a@example.com')
    const opened = await Promise.allSettled([signIn.byLink(token, place), other.byLink(token, place)])
    expect(opened.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  test(`on ${name}, two admins who remove each other at once leave one`, async () => {
    const { members, organizationId, join, database } = await start()
    const other = processOn(database).members
    for (let round = 0; round < 5; round++) {
      const first = await join(`first${round}@example.com`, 'admin')
      const second = await join(`second${round}@example.com`, 'admin')
      const removed = await Promise.allSettled([
        members.remove(organizationId, first.member.memberId),
        other.remove(organizationId, second.member.memberId),
      ])
      const { members: left } = await members.list({ organizationId, isWhole: false, offset: 0, limit: 100 })
      expect(left.filter(({ role }) => role === 'admin').length).toBeGreaterThan(0)
      expect(removed.filter(({ status }) => status === 'rejected').length).toBe(round === 0 ? 1 : 0)
    }
  })

  test(`on ${name}, a session that was not used in time is gone for every process, and its row with the next one`, async () => {
    const { join, personOf, forward, sessions, database } = await start()
    const session = await join('idle@example.com')
    expect((await personOf(session)).email).toBe('idle@example.com')
    forward(sessionIdleMs + 1_000)
    // Every refusal uses a turn of the address up; another process has its own.
    await expect(sessions.authenticate(session.secret, () => '192.0.2.9')).rejects.toThrow('Sign in again')
    const rows = () => database.query('select session_id from sessions')
    expect((await rows()).length).toBe(1)
    await join('next@example.com')
    expect((await rows()).length).toBe(1)
  })

  test(`on ${name}, a use is noted once a minute, not at every request`, async () => {
    const { join, personOf, forward, database } = await start()
    const session = await join('busy@example.com')
    const lastUsed = async () => {
      const [row] = await database.query<{ last_used_at_ms: number }>('select last_used_at_ms from sessions')
      return row?.last_used_at_ms ?? 0
    }
    const openedAtMs = await lastUsed()
    forward(59_000)
    await personOf(session)
    expect(await lastUsed()).toBe(openedAtMs)
    forward(2_000)
    await personOf(session)
    expect(await lastUsed()).toBeGreaterThanOrEqual(openedAtMs + 61_000)
  })

  test(`on ${name}, wrong passwords are told at the turns of their address, and the right one goes through at once`, async () => {
    const { join, signIn, sessions, woken } = await start()
    const session = await join('guess@example.com')
    const password = 'a phrase of some length'
    const { member, session: stored } = await sessions.authenticate(session.secret, () => '')
    await signIn.setPassword({ member, session: stored, password })
    const told: string[] = []
    const guess = (secret: string, address = place.address) =>
      signIn.byPassword({ email: 'guess@example.com', password: secret }, { ...place, address })
    const wrong = (count: number) =>
      Array.from({ length: count }, (__, index) =>
        guess(`wrong ${index}`).catch(() => void told.push('wrong')),
      )
    const waiting = wrong(14)
    const { secret } = await guess(password)
    expect((await sessions.authenticate(secret, () => '')).member.email).toBe('guess@example.com')
    waiting.push(...wrong(6))
    while (told.length < 15) await Bun.sleep(5)
    await Bun.sleep(50)
    expect(told.length).toBe(15)
    expect(woken.length).toBeGreaterThan(0)
    // From another address the turns of the email are used up too, and the right word still goes through.
    const elsewhere = guess('wrong too', '198.51.100.7').catch(() => void told.push('elsewhere'))
    await guess(password, '198.51.100.7')
    expect(told.length).toBe(15)
    void Promise.all([...waiting, elsewhere])
  })

  test(`on ${name}, who signs in too often is told so, not of unknown keys`, async () => {
    const { signIn, sessions } = await start()
    const refusalsOf = async (ask: (count: number) => Promise<unknown>) => {
      // 15 are told that they are wrong, a thousand wait, and the oldest of these makes room for one more.
      const asked = Array.from({ length: 1_016 }, (__, count) =>
        ask(count).then(
          () => '',
          (error: unknown) => String(error),
        ),
      )
      return asked[15]
    }
    const byLink = await refusalsOf((count) => signIn.byLink(`wrong link ${count}`, place))
    expect(byLink).toContain('Too many sign-ins with a wrong link or password come from this address.')
    const bySession = await refusalsOf((count) =>
      sessions.authenticate(`ended ${count}`, () => '203.0.113.5'),
    )
    expect(bySession).toContain('Too many sessions that have ended come from this address.')
  })

  test(`on ${name}, a person's hidden key is the person's, in no list, and survives an import of keys`, async () => {
    const { join, keys, keyRepository, organizationId } = await start()
    const { member } = await join('key@example.com')
    const loaded = await keyRepository.loadById(member.keyId)
    expect([loaded?.memberId, loaded?.key.kind, loaded?.key.limitNanocredits]).toEqual([
      member.memberId,
      'playground',
      10_000_000_000n,
    ])
    const page = { offset: 0, limit: 100, includeDisabled: true, kind: 'all' } as const
    expect((await keys.list(organizationId, page)).map(({ keyId }) => keyId)).not.toContain(member.keyId)
    const hash = loaded?.key.keyHash ?? ''
    await expect(keys.loadCurrent(organizationId, hash)).rejects.toThrow('no key')
    await expect(keys.rotate(organizationId, hash, 0)).rejects.toThrow('no key')
    await expect(keys.delete(organizationId, hash)).rejects.toThrow('no key')
    expect((await keyRepository.loadById(member.keyId))?.key.keyHash).toBe(hash)
  })
})
