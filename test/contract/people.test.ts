import { OpenRouter } from '@openrouter/sdk'
import { afterAll, expect, test } from 'bun:test'
import { createBrowser, linkTokenOf, signInAs } from '../support/browser-session.ts'
import { at, startTestGateway, until } from '../support/gateway.ts'

// The people of an organization: the contract's list, and inviting, changing and removing, which the contract does not have.

const gateway = await startTestGateway()
afterAll(() => gateway.stop())
const admin = await signInAs(gateway, 'admin')
const chat = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello.' }] }
const change = (id: string, body: unknown) => admin.send(`/headrace/members/${id}`, { method: 'PATCH', body })
const remove = (id: string) => admin.send(`/headrace/members/${id}`, { method: 'DELETE' })
const listed = async (query = '') =>
  (await admin.send(`/organization/members${query}`)).json as {
    data: Record<string, unknown>[]
    total_count: number
  }

test('the list has the contract’s members, and the official client reads it', async () => {
  await signInAs(gateway, 'viewer', 'ann@example.com')
  const { data, total_count: total } = await listed()
  expect(total).toBe(data.length)
  expect(data[0]).toEqual({
    id: admin.memberId,
    email: 'admin@example.com',
    first_name: null,
    last_name: null,
    role: 'org:admin',
    headrace: {
      role: 'admin',
      state: 'active',
      has_password: false,
      created_at: expect.stringMatching(/^20\d\d-/),
      joined_at: expect.stringMatching(/^20\d\d-/),
      playground: { key_id: expect.stringMatching(/^key_/), limit: 10, limit_reset: 'monthly' },
    },
  })
  const client = new OpenRouter({
    apiKey: gateway.managementKey,
    serverURL: 'http://gateway.test/api/v1',
    httpClient: { request: (request: Request) => gateway.gateway.fetch(request) } as never,
  })
  const answer = await client.organization.listMembers({ limit: 10 })
  const found = 'result' in answer ? answer.result : answer
  expect(found.data.map(({ email, role }) => [email, role])).toEqual([
    ['admin@example.com', 'org:admin'],
    ['ann@example.com', 'org:member'],
  ])
})

test('an invited person is in the whole list only, until the link was used', async () => {
  const invited = await admin.send('/headrace/members', {
    method: 'POST',
    body: { email: ' Bob@Example.com ', first_name: 'Bob', role: 'member' },
  })
  expect([invited.status, at(invited.json, 'data.email'), at(invited.json, 'data.headrace.state')]).toEqual([
    201,
    'bob@example.com',
    'invited',
  ])
  const link = String(invited.json['link'])
  expect(link).toMatch(/^http:\/\/gateway\.test\/ui\/#sign-in=hr-link-[0-9a-z]{64}$/)
  const emails = async (query = '') => (await listed(query)).data.map(({ email }) => email)
  expect(await emails()).not.toContain('bob@example.com')
  expect(await emails('?include=all')).toContain('bob@example.com')
  const body = { link: linkTokenOf(link) }
  await createBrowser(gateway).send('/headrace/session', { method: 'POST', body })
  expect(await emails()).toContain('bob@example.com')
  const page = await listed('?offset=1&limit=1')
  expect([page.data.length, page.total_count]).toEqual([1, (await listed()).data.length])
})

test('what could not be a person is refused by its name', async () => {
  for (const [body, status, param] of [
    [{ role: 'viewer' }, 400, 'email'],
    [{ email: 'nobody', role: 'viewer' }, 400, 'email'],
    [{ email: 'x@example.com' }, 400, 'role'],
    [{ email: 'x@example.com', role: 'owner' }, 400, 'role'],
    [{ email: 'x@example.com', role: 'viewer', first_name: '' }, 400, 'first_name'],
    [{ email: 'ADMIN@example.com', role: 'viewer' }, 409, 'email'],
  ] as const) {
    const answer = await admin.send('/headrace/members', { method: 'POST', body })
    expect([body, answer.status, at(answer.json, 'error.param')]).toEqual([body, status, param])
  }
  expect((await listed('?limit=0')).data).toBeUndefined()
  expect((await change('member_none', { role: 'viewer' })).status).toBe(404)
  const other = await gateway.addOrganization()
  const elsewhere = await gateway.request(`/headrace/members/${admin.memberId}`, {
    method: 'DELETE',
    key: other.managementKey,
  })
  expect(elsewhere.status).toBe(404)
})

test('a changed role counts for the next request of an open session', async () => {
  const browser = await signInAs(gateway, 'viewer', 'rising@example.com')
  const calls = () => browser.send('/chat/completions', { method: 'POST', body: chat })
  expect((await calls()).status).toBe(403)
  expect(at((await change(browser.memberId, { role: 'member' })).json, 'data.headrace.role')).toBe('member')
  expect((await calls()).status).toBe(200)
  await change(browser.memberId, { role: 'viewer' })
  expect((await calls()).status).toBe(403)
})

test('the last admin who has signed in is neither demoted nor removed', async () => {
  for (const attempt of [() => change(admin.memberId, { role: 'member' }), () => remove(admin.memberId)]) {
    const { status, json } = await attempt()
    expect([status, at(json, 'error.message')]).toEqual([409, expect.stringContaining('last admin')])
  }
  // Somebody who was only invited as an admin may never come, and a management key may be deleted.
  await admin.send('/headrace/members', {
    method: 'POST',
    body: { email: 'later@example.com', role: 'admin' },
  })
  const body = { management_key: gateway.managementKey }
  await createBrowser(gateway).send('/headrace/session', { method: 'POST', body })
  expect((await remove(admin.memberId)).status).toBe(409)
  const second = await signInAs(gateway, 'admin', 'second@example.com')
  expect((await change(second.memberId, { role: 'viewer' })).status).toBe(200)
  await change(second.memberId, { role: 'admin' })
  // Both at once: one of the two stays.
  const both = await Promise.all([
    change(admin.memberId, { role: 'viewer' }),
    second.send(`/headrace/members/${second.memberId}`, { method: 'PATCH', body: { role: 'viewer' } }),
  ])
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  const restored = both[0].status === 200 ? admin.memberId : second.memberId
  const byKey = await gateway.request(`/headrace/members/${restored}`, {
    method: 'PATCH',
    key: gateway.managementKey,
    body: { role: 'admin' },
  })
  expect(byKey.status).toBe(200)
})

test('a removed person is signed out, and the email can be invited again as somebody new', async () => {
  const browser = await signInAs(gateway, 'member', 'gone@example.com')
  const { json } = await admin.send(`/headrace/members/${browser.memberId}/link`, { method: 'POST' })
  expect((await remove(browser.memberId)).json).toEqual({ deleted: true })
  expect((await browser.send('/headrace/session')).status).toBe(401)
  const body = { link: linkTokenOf(String(json['link'])) }
  expect((await createBrowser(gateway).send('/headrace/session', { method: 'POST', body })).status).toBe(401)
  expect((await remove(browser.memberId)).status).toBe(404)
  const again = await signInAs(gateway, 'viewer', 'gone@example.com')
  expect(again.memberId).not.toBe(browser.memberId)
})

test('the person of a management key is changed by the key alone', async () => {
  const { data } = await listed('?include=all')
  const ofKey = data.find((one) => at(one, 'headrace.state') === 'key')
  const id = String(ofKey?.['id'])
  for (const answer of [await change(id, { role: 'viewer' }), await remove(id)])
    expect(answer.status).toBe(409)
  expect((await change(id, { playground: { limit: 1 } })).status).toBe(200)
})

test('people change their own name and email, and nobody else’s email', async () => {
  const browser = await signInAs(gateway, 'viewer', 'name@example.com')
  const update = (body: unknown) => browser.send('/headrace/session', { method: 'PATCH', body })
  const done = await update({ first_name: ' Nina ', email: 'Nina@example.com' })
  expect(at(done.json, 'data.person')).toEqual({
    id: browser.memberId,
    email: 'nina@example.com',
    first_name: 'Nina',
    last_name: null,
    has_password: false,
  })
  expect((await update({ email: 'admin@example.com' })).status).toBe(409)
  expect((await update({ role: 'admin' })).status).toBe(400)
})

test('calls of a session are paid by a hidden key of the person, within its limit', async () => {
  const browser = await signInAs(gateway, 'member', 'play@example.com')
  const call = () => browser.send('/chat/completions', { method: 'POST', body: chat })
  const answer = await call()
  expect(answer.status).toBe(200)
  const own = async () => (await browser.send('/headrace/session')).json
  const spent = at(answer.json, 'usage.cost') as number
  await until(
    own,
    (json) => Math.abs((at(json, 'data.playground.limit_remaining') as number) - (10 - spent)) < 1e-9,
  )
  // The ledger names the person.
  const id = String(answer.json['id'])
  const generation = await browser.send(`/generation?id=${id}`)
  expect(at(generation.json, 'data.total_cost')).toBeCloseTo(spent, 9)
  const keyId = at(await own(), 'data.playground.key_id')
  const keys = (await admin.send('/keys?kind=all&include_disabled=true')).json['data'] as Record<
    string,
    unknown
  >[]
  expect(keys.map((key) => at(key, 'headrace.id'))).not.toContain(keyId)
  expect((await change(browser.memberId, { playground: { limit: 0 } })).status).toBe(200)
  const refused = await until(call, ({ status }) => status !== 200)
  expect([refused.status, at(refused.json, 'error.metadata.limit_source')]).toEqual([
    402,
    'openrouter_key_limit',
  ])
  const free = await change(browser.memberId, { playground: { limit: null } })
  expect(at(free.json, 'data.headrace.playground')).toEqual({ key_id: keyId, limit: null, limit_reset: null })
  expect((await change(browser.memberId, { playground: { limit_reset: 'daily' } })).status).toBe(400)
})

test('a person’s spend is that person’s, in the rows that reports are made from', async () => {
  const browser = await signInAs(gateway, 'member', 'spend@example.com')
  const answer = await browser.send('/chat/completions', { method: 'POST', body: chat })
  const row = await gateway.readUsage(String(answer.json['id']))
  expect([row?.['member_id'], row?.['organization_id']]).toEqual([browser.memberId, gateway.organizationId])
})

test('the hash of a hidden key opens nothing', async () => {
  const browser = await signInAs(gateway, 'member', 'hash@example.com')
  const { json } = await browser.send('/headrace/session')
  const hash = await gateway.keyHashOf(String(at(json, 'data.playground.key_id')))
  expect(hash).toMatch(/^[0-9a-f]{64}$/)
  for (const [method, path, body] of [
    ['GET', `/keys/${hash}`],
    ['PATCH', `/keys/${hash}`, { limit: 1000 }],
    ['POST', `/keys/${hash}/rotate`, {}],
    ['DELETE', `/keys/${hash}`],
  ] as const)
    expect([method, (await admin.send(path, { method, body })).status]).toEqual([method, 404])
  expect((await browser.send('/key')).status).toBe(200)
})
