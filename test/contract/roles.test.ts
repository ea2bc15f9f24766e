import { afterAll, expect, test } from 'bun:test'
import { createBrowser, signInAs, type TestBrowser } from '../support/browser-session.ts'
import { at, readAnswer, startTestGateway, type Answer } from '../support/gateway.ts'
import { whoMay } from './role-expectations.ts'

// Every endpoint for every kind of caller, against a table that was written by hand.

const gateway = await startTestGateway()
afterAll(() => gateway.stop())
const admin = await signInAs(gateway, 'admin')
const member = await signInAs(gateway, 'member')
const viewer = await signInAs(gateway, 'viewer')

const names = {
  s: 'a stranger',
  v: 'a viewer',
  m: 'a member',
  a: 'an admin',
  k: 'an inference key',
  g: 'a management key',
}
type Letter = keyof typeof names
const letters = Object.keys(names) as Letter[]

/** A call without content: whoever may make it gets another answer than 401 and 403, mostly 400 or 404. */
async function call(
  letter: Letter,
  line: string,
  browsers: Record<'v' | 'm' | 'a', TestBrowser>,
): Promise<Answer> {
  const [method = '', template = ''] = line.split(' ')
  const path = template.replaceAll(/\{\w+\}/g, 'none')
  const body = method === 'GET' || method === 'DELETE' ? undefined : {}
  if (letter === 'k' || letter === 'g') {
    const key = letter === 'k' ? gateway.key : gateway.managementKey
    return readAnswer(await gateway.request(path, { method, key, body }))
  }
  const browser = letter === 's' ? createBrowser(gateway) : browsers[letter]
  return browser.send(path, { method, body })
}

const ends: ReadonlySet<string> = new Set(['DELETE /headrace/session', 'DELETE /headrace/sessions'])
let counter = 0

/** Routes that end the session of whoever calls them get people of their own. */
async function peopleFor(line: string): Promise<Record<'v' | 'm' | 'a', TestBrowser>> {
  if (!ends.has(line)) return { v: viewer, m: member, a: admin }
  const as = (role: 'viewer' | 'member' | 'admin') =>
    signInAs(gateway, role, `${role}${counter++}@example.com`)
  return { v: await as('viewer'), m: await as('member'), a: await as('admin') }
}

for (const [line, allowed] of Object.entries(whoMay)) {
  test(`${line} is for ${letters
    .filter((letter) => allowed.includes(letter))
    .map((letter) => names[letter])
    .join(', ')}`, async () => {
    const people = await peopleFor(line)
    const found = await Promise.all(
      letters.map(async (letter) => {
        const { status, json } = await call(letter, line, people)
        const isAllowed = status !== 401 && status !== 403
        expect([letter, status < 500, isAllowed || typeof at(json, 'error.message') === 'string']).toEqual([
          letter,
          true,
          true,
        ])
        return isAllowed ? letter : ''
      }),
    )
    expect(found.join('')).toBe(letters.filter((letter) => allowed.includes(letter)).join(''))
  })
}

test('the table has every endpoint that the description of the API has, and no other', async () => {
  const { json } = await gateway.get('//openapi.json', { key: null })
  const described = Object.entries(json['paths'] as Record<string, Record<string, unknown>>).flatMap(
    ([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(Object.keys(whoMay).toSorted()).toEqual(described.toSorted())
})

test('a session shows what its role may call, and that is what the table says', async () => {
  for (const [letter, browser] of [
    ['v', viewer],
    ['m', member],
    ['a', admin],
  ] as const) {
    const { json } = await browser.send('/headrace/session')
    const allowed = (at(json, 'data.allowed') as string[]).map((line) =>
      line.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, '{$1}'),
    )
    const expected = Object.keys(whoMay).filter(
      (line) => whoMay[line]?.includes(letter) && line !== 'POST /headrace/session',
    )
    expect(allowed.toSorted()).toEqual(expected.toSorted())
  }
})

test('a refused person changes nothing, whatever the body says', async () => {
  const list = async () => (await admin.send('/keys?kind=all&include_disabled=true')).text
  const members = async () => (await admin.send('/organization/members?include=all')).text
  const before = [await list(), await members()]
  for (const browser of [viewer, member, createBrowser(gateway)]) {
    const attempts: [string, string, unknown][] = [
      ['POST', '/keys', { name: 'mine', headrace: { kind: 'management' } }],
      ['PATCH', '/organization/settings', { is_filtered_model_catalog_enabled: true }],
      ['POST', '/headrace/members', { email: 'friend@example.com', role: 'admin' }],
      ['PATCH', `/headrace/members/${viewer.memberId}`, { role: 'admin' }],
      ['PATCH', `/headrace/members/${viewer.memberId}`, { playground: { limit: null } }],
      ['DELETE', `/headrace/members/${admin.memberId}`, undefined],
      ['POST', `/headrace/members/${admin.memberId}/link`, {}],
    ]
    for (const [method, path, body] of attempts)
      expect([401, 403]).toContain((await browser.send(path, { method, body })).status)
  }
  expect([await list(), await members()]).toEqual(before)
  const { json } = await admin.send('/organization/settings')
  expect(at(json, 'data.is_filtered_model_catalog_enabled')).toBe(false)
})

test('below /openai/v1 the roles are the same', async () => {
  const chat = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello.' }] }
  const statuses = async (browser: TestBrowser) => [
    (await browser.send('//openai/v1/chat/completions', { method: 'POST', body: chat })).status,
    (await browser.send('//openai/v1/batches')).status,
    (await browser.send('//openai/v1/files/file_none/content')).status,
  ]
  expect(await statuses(viewer)).toEqual([403, 200, 403])
  expect(await statuses(member)).toEqual([200, 200, 404])
  expect(await statuses(createBrowser(gateway))).toEqual([401, 401, 401])
})
