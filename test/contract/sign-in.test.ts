import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashSecret } from '../../src/access/secret.ts'
import { createBrowser, linkTokenOf, signInAs } from '../support/browser-session.ts'
import { at, startTestGateway } from '../support/gateway.ts'

// How people sign in to the console, what a browser must send for its session to count, and how sessions end.

const hour = 3_600_000
let aheadMs = 0
const clock = { nowMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() }
const logged: string[] = []
const folder = mkdtempSync(join(tmpdir(), 'headrace-sign-in-'))
const gateway = await startTestGateway({
  folder,
  logLevel: 'debug',
  trustedProxies: ['127.0.0.1'],
  hooks: { clock, writeLog: (line) => void logged.push(line) },
})
afterAll(async () => {
  await gateway.stop()
  rmSync(folder, { recursive: true, force: true })
})
const admin = await signInAs(gateway, 'admin')
const chat = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello.' }] }
const password = 'a phrase of some length'

async function invite(email: string, role = 'member') {
  const { json } = await admin.send('/headrace/members', { method: 'POST', body: { email, role } })
  return { id: String(at(json, 'data.id')), link: linkTokenOf(String(json['link'])) }
}
const signIn = (body: unknown, browser = createBrowser(gateway)) =>
  browser.send('/headrace/session', { method: 'POST', body })

test('a link signs in once, and never after a day or after another one was made', async () => {
  const { id, link } = await invite('once@example.com')
  const first = await signIn({ link })
  expect([first.status, at(first.json, 'data.person.email'), at(first.json, 'data.role')]).toEqual([
    201,
    'once@example.com',
    'member',
  ])
  expect((await signIn({ link })).status).toBe(401)
  const again = async () => {
    const { status, json } = await admin.send(`/headrace/members/${id}/link`, { method: 'POST' })
    expect(status).toBe(201)
    return linkTokenOf(String(json['link']))
  }
  const former = await again()
  const latest = await again()
  expect((await signIn({ link: former })).status).toBe(401)
  aheadMs += 24 * hour + 1
  expect((await signIn({ link: latest })).status).toBe(401)
  aheadMs = 0
  expect((await signIn({ link: latest })).status).toBe(201)
})

test('of two browsers that use one link at the same time, one is signed in', async () => {
  const { link } = await invite('race@example.com')
  const answers = await Promise.all([signIn({ link }), signIn({ link })])
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 401])
})

test('the first start’s link makes an admin, and there is one only while there are no people', async () => {
  const fresh = await startTestGateway()
  try {
    const made = await fresh.gateway.makeFirstLink()
    expect(await fresh.gateway.makeFirstLink()).toBeNull()
    const browser = createBrowser(fresh)
    const { status, json } = await browser.send('/headrace/session', {
      method: 'POST',
      body: { link: made?.token },
    })
    expect([status, at(json, 'data.role'), at(json, 'data.person.email')]).toEqual([201, 'admin', ''])
    expect(await fresh.gateway.makeFirstLink()).toBeNull()
  } finally {
    await fresh.stop()
  }
})

test('a password signs in with the email in any case, and all other sessions end when it is set', async () => {
  const { link } = await invite('pass@example.com')
  const browser = createBrowser(gateway)
  await signIn({ link }, browser)
  const set = (body: unknown, from = browser) =>
    from.send('/headrace/session/password', { method: 'POST', body })
  expect((await set({ password: 'short' })).json['error']).toMatchObject({ param: 'password' })
  const done = await set({ password })
  expect([done.status, at(done.json, 'data.person.has_password')]).toEqual([200, true])
  const elsewhere = createBrowser(gateway)
  const signed = await signIn({ email: ' Pass@Example.com ', password }, elsewhere)
  expect([signed.status, at(signed.json, 'data.opened_by')]).toEqual([201, 'password'])
  for (const body of [
    { email: 'pass@example.com', password: `${password}.` },
    { email: 'nobody@example.com', password },
  ]) {
    const { status, json } = await signIn(body)
    expect([status, at(json, 'error.message')]).toEqual([401, 'The email or the password is wrong.'])
  }
  const other = 'another phrase of some length'
  expect((await set({ password: other }, elsewhere)).status).toBe(403)
  expect((await set({ password: other, current_password: 'wrong' }, elsewhere)).status).toBe(403)
  expect((await set({ password: other, current_password: password }, elsewhere)).status).toBe(200)
  expect((await browser.send('/headrace/session')).status).toBe(401)
  expect((await elsewhere.send('/headrace/session')).status).toBe(200)
  expect((await signIn({ email: 'pass@example.com', password })).status).toBe(401)
})

test('a lost password is replaced within an hour of signing in by a link, and not later', async () => {
  const { id, link } = await invite('lost@example.com')
  const browser = createBrowser(gateway)
  await signIn({ link }, browser)
  const set = () =>
    browser.send('/headrace/session/password', { method: 'POST', body: { password: `${password}!` } })
  expect((await set()).status).toBe(200)
  const { json } = await admin.send(`/headrace/members/${id}/link`, { method: 'POST' })
  await signIn({ link: linkTokenOf(String(json['link'])) }, browser)
  expect((await set()).status).toBe(200)
  aheadMs += hour + 1000
  expect((await set()).status).toBe(403)
  aheadMs = 0
})

test('a management key is exchanged for a session, which ends with the key; an inference key is refused', async () => {
  expect((await signIn({ management_key: gateway.key })).status).toBe(403)
  expect((await signIn({ management_key: 'sk-hr-v1-nobody-has-this-key' })).status).toBe(401)
  const key = await gateway.addKey({ kind: 'management', name: 'of a browser' })
  const browser = createBrowser(gateway)
  const { status, json } = await signIn({ management_key: key }, browser)
  expect([status, at(json, 'data.role'), at(json, 'data.opened_by')]).toEqual([201, 'admin', 'key'])
  expect((await browser.send('/keys?kind=management')).status).toBe(200)
  expect(
    (await browser.send('/headrace/session/password', { method: 'POST', body: { password } })).status,
  ).toBe(403)
  // Signing in again is the same person, so that what it spent stays together.
  const again = await signIn({ management_key: key })
  expect(at(again.json, 'data.person.id')).toBe(at(json, 'data.person.id'))
  const list = (await admin.send('/keys?kind=management')).json['data'] as Record<string, unknown>[]
  const hash = list.find(({ name }) => name === 'of a browser')?.['hash']
  expect((await admin.send(`/keys/${String(hash)}`, { method: 'DELETE' })).status).toBe(200)
  expect((await browser.send('/headrace/session')).status).toBe(401)
})

test('a body that could mean several ways, or none, is refused by name', async () => {
  for (const [body, param] of [
    [{}, 'link'],
    [{ link: 'hr-link-x', management_key: 'k' }, 'link'],
    [{ email: 'a@example.com' }, 'password'],
    [{ password }, 'email'],
    [{ link: 5 }, 'link'],
    [{ token: 'x' }, 'token'],
  ] as const) {
    const { status, json } = await signIn(body)
    expect([body, status, at(json, 'error.param')]).toEqual([body, 400, param])
  }
})

test('the cookie is out of reach of scripts and other sites, and bound to the host by HTTPS', async () => {
  const { id } = await invite('cookie@example.com')
  const cookieOf = async (headers: Record<string, string>) => {
    const { json } = await admin.send(`/headrace/members/${id}/link`, { method: 'POST' })
    const body = { link: linkTokenOf(String(json['link'])) }
    const response = await gateway.request('/headrace/session', {
      method: 'POST',
      key: null,
      body,
      headers: { 'x-headrace-console': '1', ...headers },
    })
    expect(response.status).toBe(201)
    return (response.headers.get('set-cookie') ?? '').replace(/=[0-9a-z]{64};/, '=…;')
  }
  const plain = 'headrace_session=…; Path=/; HttpOnly; SameSite=Strict'
  const bound = '__Host-headrace_session=…; Path=/; Secure; HttpOnly; SameSite=Strict'
  expect(await cookieOf({ 'sec-fetch-site': 'same-origin' })).toBe(plain)
  expect(await cookieOf({ origin: 'http://gateway.test' })).toBe(plain)
  expect(await cookieOf({ 'sec-fetch-site': 'same-origin', 'x-forwarded-proto': 'https' })).toBe(bound)
  expect(await cookieOf({ origin: 'https://gateway.test' })).toBe(bound)
  // A trusted proxy that asks for another host says which one the browser asked for.
  expect(
    await cookieOf({ origin: 'http://ai.example.com:8080', 'x-forwarded-host': 'ai.example.com:8080' }),
  ).toBe('headrace_session_8080=…; Path=/; HttpOnly; SameSite=Strict')
})

test('by HTTPS a cookie without the prefix, which another site of the domain can set, does not count', async () => {
  const headers = { 'x-forwarded-proto': 'https' }
  expect((await admin.send('/headrace/session')).status).toBe(200)
  expect((await admin.send('/headrace/session', { headers })).status).toBe(401)
  const cookie = `__Host-${admin.cookie()}`
  expect((await admin.send('/headrace/session', { headers: { ...headers, cookie } })).status).toBe(200)
})

test('without our header the cookie does not count, and beside a key it is ignored', async () => {
  for (const path of ['/headrace/session', '/keys', '/key'])
    expect((await admin.send(path, { headers: { 'x-headrace-console': null } })).status).toBe(401)
  // The catalog is public; without the header the reader is anonymous.
  expect((await admin.send('/models', { headers: { 'x-headrace-console': null } })).status).toBe(200)
  const beside = { authorization: `Bearer ${gateway.key}` }
  expect((await admin.send('/keys', { headers: beside })).status).toBe(403)
  expect((await admin.send('/headrace/session', { headers: beside })).status).toBe(403)
  expect((await admin.send('/keys', { headers: { authorization: 'Bearer wrong' } })).status).toBe(401)
})

test('a request from another site, another port or an unknown place is refused', async () => {
  const change = { method: 'POST', body: { name: 'forged' } }
  const refused: [Record<string, string | null>, number][] = [
    [{ 'sec-fetch-site': 'same-site', origin: 'http://gateway.test:3000' }, 403],
    [{ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, 403],
    [{ 'sec-fetch-site': 'none' }, 403],
    [{ 'sec-fetch-site': null, origin: 'http://gateway.test:3000' }, 403],
    [{ 'sec-fetch-site': null, origin: 'null' }, 403],
    [{ 'sec-fetch-site': null, origin: 'http://gateway.test.evil.example' }, 403],
    [{ 'sec-fetch-site': null }, 403],
    // What a form or a picture of another page can send: no header of ours.
    [{ 'sec-fetch-site': 'same-site', 'x-headrace-console': null, 'content-type': 'text/plain' }, 401],
  ]
  for (const [headers, status] of refused) {
    expect([headers, (await admin.send('/keys', { ...change, headers })).status]).toEqual([headers, status])
  }
  for (const headers of [{ 'sec-fetch-site': 'same-site' }, { 'sec-fetch-site': null, origin: 'null' }])
    expect((await admin.send('/keys', { headers })).status).toBe(403)
  const own = { 'sec-fetch-site': null, origin: 'http://gateway.test' }
  expect((await admin.send('/keys', { ...change, headers: own })).status).toBe(201)
  expect((await admin.send('/keys', { headers: { 'sec-fetch-site': null } })).status).toBe(200)
  // Signing in is a change too: nobody is signed in to somebody else's account by another page.
  const { link } = await invite('forged@example.com')
  for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'x-headrace-console': null }]) {
    const { status } = await createBrowser(gateway).send('/headrace/session', {
      method: 'POST',
      body: { link },
      headers,
    })
    expect([401, 403]).toContain(status)
  }
})

test('no page of another origin may send cookies: answers and preflights never allow credentials', async () => {
  const preflight = await gateway.request('/keys', {
    method: 'OPTIONS',
    key: null,
    headers: { origin: 'http://gateway.test:3000', 'access-control-request-headers': 'x-headrace-console' },
  })
  const answer = await admin.send('/keys')
  for (const headers of [preflight.headers, answer.headers]) {
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
  }
  expect(answer.headers.get('cache-control')).toBe('no-store')
})

test('a session ends after twelve idle hours, and after seven days however much it is used', async () => {
  const browser = await signInAs(gateway, 'viewer', 'idle@example.com')
  const alive = async () => (await browser.send('/headrace/session')).status
  try {
    aheadMs = 11 * hour
    expect(await alive()).toBe(200)
    aheadMs = 22 * hour
    expect(await alive()).toBe(200)
    aheadMs = 34 * hour + 60_000
    expect(await alive()).toBe(401)
    aheadMs = 0
    const busy = await signInAs(gateway, 'viewer', 'busy@example.com')
    for (let hours = 10; hours < 168; hours += 10) {
      aheadMs = hours * hour
      expect((await busy.send('/headrace/session')).status).toBe(200)
    }
    aheadMs = 168 * hour + 60_000
    const late = await busy.send('/headrace/session')
    expect([late.status, late.headers.get('set-cookie')]).toEqual([
      401,
      expect.stringContaining('headrace_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0'),
    ])
  } finally {
    aheadMs = 0
  }
})

test('signing out ends the session itself, not only the cookie', async () => {
  const browser = await signInAs(gateway, 'member', 'out@example.com')
  const cookie = browser.cookie()
  expect((await browser.send('/headrace/session', { method: 'DELETE' })).json).toEqual({ deleted: true })
  expect(browser.cookie()).toBe('')
  const kept = { headers: { cookie } }
  expect((await browser.send('/headrace/session', kept)).status).toBe(401)
  expect((await browser.send('/chat/completions', { method: 'POST', body: chat, ...kept })).status).toBe(401)
})

test('people see and end their own sessions; admins those of everybody', async () => {
  const first = await signInAs(gateway, 'member', 'many@example.com')
  const set = { method: 'POST', body: { password } }
  await first.send('/headrace/session/password', set)
  const second = createBrowser(gateway)
  await second.send('/headrace/session', {
    method: 'POST',
    body: { email: 'many@example.com', password },
    headers: { 'user-agent': 'A browser' },
  })
  const sessions = async (from = first, query = '') =>
    (await from.send(`/headrace/sessions${query}`)).json['data'] as Record<string, unknown>[]
  const own = await sessions()
  const shown = own.map((one) => [one['is_current'], one['opened_by'], one['user_agent']].join(' '))
  expect(shown.toSorted()).toEqual(['false password A browser', 'true link '])
  expect((await first.send('/headrace/sessions?all=true')).status).toBe(403)
  const all = await sessions(admin, '?all=true&limit=100')
  expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining(own.map(({ id }) => id)))
  const others = all.find((one) => at(one, 'person.email') === 'admin@example.com')
  const end = (from: typeof second, id: unknown) =>
    from.send(`/headrace/sessions/${String(id)}`, { method: 'DELETE' })
  expect((await end(first, others?.['id'])).status).toBe(404)
  const theSecond = own.find((one) => one['opened_by'] === 'password')?.['id']
  expect((await end(first, theSecond)).status).toBe(200)
  expect((await second.send('/headrace/session')).status).toBe(401)
  await signIn({ email: 'many@example.com', password }, second)
  expect(
    (await second.send(`/headrace/sessions?member_id=${admin.memberId}`, { method: 'DELETE' })).status,
  ).toBe(403)
  const everywhere = await first.send('/headrace/sessions', { method: 'DELETE' })
  expect(everywhere.json).toEqual({ deleted: true, count: 2 })
  for (const browser of [first, second]) expect((await browser.send('/headrace/session')).status).toBe(401)
  await signIn({ email: 'many@example.com', password }, second)
  const byAdmin = `/headrace/sessions?member_id=${first.memberId}`
  expect((await admin.send(byAdmin, { method: 'DELETE' })).json).toEqual({ deleted: true, count: 1 })
  expect((await second.send('/headrace/session')).status).toBe(401)
})

test('secrets of sessions and links, and passwords, are nowhere in the data folder and in no line of the log', async () => {
  const browser = await signInAs(gateway, 'member', 'grep@example.com')
  const words = 'a phrase that is nowhere in clear'
  await browser.send('/headrace/session/password', { method: 'POST', body: { password: words } })
  const unused = await invite('unused@example.com')
  const secrets = [...admin.secrets(), ...browser.secrets(), admin.link, browser.link, unused.link, words]
  expect(secrets.every((secret) => secret.length > 30)).toBe(true)
  expect(logged.length).toBeGreaterThan(3)
  const found = [logged.join('\n')]
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name)
    if (statSync(path).isFile()) found.push(readFileSync(path, 'latin1'))
  }
  // What is stored is found, so the search sees what the gateway wrote.
  expect(found.some((text) => text.includes('grep@example.com'))).toBe(true)
  expect(found.some((text) => text.includes(hashSecret(unused.link)))).toBe(true)
  for (const secret of secrets) for (const text of found) expect(text.includes(secret)).toBe(false)
})
