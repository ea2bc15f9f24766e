import { afterAll, expect, test } from 'bun:test'
import { createCallbackSender } from './callback-sender.ts'

const received: { path: string; body: string; host: string | null }[] = []
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { pathname } = new URL(request.url)
    received.push({ path: pathname, body: await request.text(), host: request.headers.get('host') })
    if (pathname === '/moved') return new Response(null, { status: 302, headers: { location: '/taken' } })
    if (pathname === '/slow') return new Promise(() => undefined)
    return new Response('ok', { status: pathname === '/broken' ? 500 : 200 })
  },
})
afterAll(() => server.stop(true))
const host = `127.0.0.1:${server.port}`
const own = createCallbackSender({ allowedHosts: [host], timeoutMs: 300 })
const post = (path: string) => own.post(`http://${host}${path}`, '{}', {})

test('a receiver takes a post by a status of 2xx, and redirects are not followed', async () => {
  expect(await post('/taken')).toEqual({ status: 200, problem: null })
  expect(await post('/broken')).toEqual({ status: 500, problem: 'the receiver answered 500' })
  expect((await post('/moved')).problem).toBe('the receiver answered 302; redirects are not followed')
  expect((await post('/slow')).problem).toBe('the receiver did not answer within 0.3 s')
  expect(received.map(({ path }) => path)).toEqual(['/taken', '/broken', '/moved', '/slow'])
  const nobody = createCallbackSender({ allowedHosts: ['127.0.0.1:1'] })
  expect(await nobody.post('http://127.0.0.1:1/', '{}', {})).toEqual({
    status: null,
    problem: 'the receiver cannot be reached',
  })
})

test('addresses that are not public, not https or not plain are refused', async () => {
  const open = createCallbackSender({ resolve: async () => ['93.184.215.14'] })
  expect(await open.check('https://hooks.example.com/x')).toBeNull()
  for (const [url, problem] of [
    ['http://hooks.example.com/x', 'must begin with https://'],
    ['ftp://hooks.example.com/x', 'must begin with https://'],
    ['https://user:word@hooks.example.com/x', 'must not carry credentials'],
    ['https://hooks.example.com/a b', 'is not an address'],
    ['hooks', 'is not an address'],
    ['https://127.0.0.1/x', 'is not a public address'],
    ['https://[::1]/x', 'is not a public address'],
    ['https://169.254.169.254/latest', 'is not a public address'],
  ] as const)
    expect(await open.check(url)).toBe(problem)
  const mixed = createCallbackSender({ resolve: async () => ['93.184.215.14', '10.0.0.8'] })
  expect(await mixed.check('https://hooks.example.com/x')).toBe('is not a public address')
  const unknown = createCallbackSender({ resolve: async () => Promise.reject(new Error('none')) })
  expect(await unknown.check('https://hooks.example.com/x')).toBe('has a host name that cannot be resolved')
})

test('a name that turned private after its check is not posted to', async () => {
  let addresses = ['93.184.215.14']
  const sender = createCallbackSender({ resolve: async () => addresses })
  const url = `https://rebinding.example.com:${server.port}/rebound`
  expect(await sender.check(url)).toBeNull()
  addresses = ['127.0.0.1']
  expect(await sender.post(url, '{}', {})).toEqual({
    status: null,
    problem: 'callback_url is not a public address',
  })
  expect(received.filter(({ path }) => path === '/rebound')).toEqual([])
})

test('a post goes to the address that was checked, under the name of the caller', async () => {
  const named = `hooks.example.com:${server.port}`
  const sender = createCallbackSender({ allowedHosts: [named], resolve: async () => ['127.0.0.1'] })
  expect(await sender.post(`http://${named}/named`, '{"a":1}', {})).toEqual({ status: 200, problem: null })
  expect(received.at(-1)).toEqual({ path: '/named', body: '{"a":1}', host: named })
})
