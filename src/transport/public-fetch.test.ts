import { afterAll, expect, test } from 'bun:test'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { GatewayError } from '../core/errors.ts'
import { createPublicFetch, type FetchWish } from './public-fetch.ts'

const anySound: FetchWish = { what: 'audio', accept: 'audio/*', timeoutMs: 10_000 }

const hosts: string[] = []
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    hosts.push(request.headers.get('host') ?? '')
    const { pathname } = new URL(request.url)
    if (pathname === '/to-private') return Response.redirect('http://169.254.169.254/latest', 302)
    if (pathname === '/loop') return Response.redirect('/loop', 302)
    if (pathname === '/missing') return new Response('no', { status: 404 })
    return new Response('audio bytes', { headers: { 'content-type': 'audio/wav' } })
  },
})
afterAll(() => server.stop(true))

const name = `files.example:${server.port}`
const loopback = () => Promise.resolve(['127.0.0.1'])

async function problemOf(url: string, fetch = createPublicFetch({ resolve: loopback })): Promise<string> {
  try {
    await fetch(url, 'input_audio.url', anySound)
    return 'none'
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
}

test('a name that resolves to a private address is refused, also when only one of its addresses is private', async () => {
  expect(await problemOf(`http://${name}/a.wav`)).toContain('not public')
  const mixed = createPublicFetch({ resolve: () => Promise.resolve(['1.1.1.1', '10.0.0.1']) })
  expect(await problemOf('http://files.example/a.wav', mixed)).toContain('not public')
  expect(await problemOf(`http://127.0.0.1:${server.port}/a.wav`)).toContain('not public')
  expect(await problemOf(`http://[::1]:${server.port}/a.wav`)).toContain('not public')
})

test('other schemes, credentials and unresolvable names are refused by name', async () => {
  expect(await problemOf('file:///etc/passwd')).toContain('input_audio.url')
  expect(await problemOf('http://user:secret@files.example/a.wav')).toContain('credentials')
  const unknown = createPublicFetch({ resolve: () => Promise.reject(new Error('nope')) })
  expect(await problemOf('http://files.example/a.wav', unknown)).toContain('resolved')
})

test('a host that the operator allowed is fetched at the address that was checked, under its own name', async () => {
  const fetch = createPublicFetch({ resolve: loopback, allowedHosts: [name] })
  const file = await fetch(`http://${name}/clips/a%20b.wav?x=1`, 'input_audio.url', anySound)
  const chunks: Uint8Array[] = []
  for await (const chunk of file.body) chunks.push(chunk)
  expect(Buffer.concat(chunks).toString()).toBe('audio bytes')
  expect([file.contentType, file.name, hosts.at(-1)]).toEqual(['audio/wav', 'a b.wav', name])
})

test('a redirect to a private address is not followed, and neither is an endless one', async () => {
  const fetch = createPublicFetch({ resolve: loopback, allowedHosts: [name] })
  expect(await problemOf(`http://${name}/to-private`, fetch)).toContain('not public')
  expect(await problemOf(`http://${name}/loop`, fetch)).toContain('redirects')
  expect(await problemOf(`http://${name}/missing`, fetch)).toContain('404')
})

test('a caller who has left causes no further read, before the answer and within it', async () => {
  const closed: string[] = []
  let leaving = new AbortController()
  const slow = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (bytes: Buffer) => {
      const path = bytes.toString('latin1').split(' ')[1] ?? ''
      socket.once('close', () => closed.push(path))
      if (path === '/silent') leaving.abort()
      else socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nRIFF\r\n')
    })
  }).listen(0, '127.0.0.1')
  await once(slow, 'listening')
  const host = `127.0.0.1:${(slow.address() as AddressInfo).port}`
  const fetch = createPublicFetch({ allowedHosts: [host] })
  for (const path of ['/silent', '/begun']) {
    leaving = new AbortController()
    const wish = { what: 'image', accept: 'image/*', timeoutMs: 20_000, signal: leaving.signal } as const
    const read = async () => {
      const file = await fetch(`http://${host}${path}`, 'image_url.url', wish)
      for await (const _ of file.body) leaving.abort()
    }
    const reading = read().catch((thrown: unknown) => thrown)
    expect(await reading).toMatchObject({ type: 'invalid_request', param: 'image_url.url' })
    while (!closed.includes(path)) await Bun.sleep(5)
  }
  slow.close()
})

test('a server that breaks off in the middle is the address’s fault', async () => {
  const heads = ['Content-Length: 100000\r\n\r\nRIFF', 'Transfer-Encoding: chunked\r\n\r\n4\r\nRIFF\r\n']
  for (const head of heads) {
    const breaking = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () =>
        socket.write(`HTTP/1.1 200 OK\r\n${head}`, () => setTimeout(() => socket.destroy(), 20)),
      )
    }).listen(0, '127.0.0.1')
    await once(breaking, 'listening')
    const host = `127.0.0.1:${(breaking.address() as AddressInfo).port}`
    const file = await createPublicFetch({ allowedHosts: [host] })(
      `http://${host}/a.wav`,
      'input_audio.url',
      anySound,
    )
    const error: unknown = await Array.fromAsync(file.body).catch((thrown: unknown) => thrown)
    breaking.close()
    expect(error).toBeInstanceOf(GatewayError)
    expect(error).toMatchObject({ type: 'invalid_request', param: 'input_audio.url' })
  }
})

test('interim answers before the file are passed over, and an endless row of them is broken off', async () => {
  let sent = 0
  let interimMax = 3
  const hinting = createServer((socket) => {
    const drip = setInterval(() => {
      const isAnswer = sent === interimMax
      socket.write(
        isAnswer ? 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok' : 'HTTP/1.1 103 Early Hints\r\n\r\n',
      )
      if (isAnswer) clearInterval(drip)
      sent += 1
    }, 5)
    socket.on('error', () => {})
    socket.on('close', () => clearInterval(drip))
  }).listen(0, '127.0.0.1')
  await once(hinting, 'listening')
  const host = `127.0.0.1:${(hinting.address() as AddressInfo).port}`
  const fetch = createPublicFetch({ allowedHosts: [host] })
  const file = await fetch(`http://${host}/a.wav`, 'input_audio.url', anySound)
  expect(Buffer.concat(await Array.fromAsync(file.body)).toString()).toBe('ok')
  sent = 0
  interimMax = 1000
  expect(await problemOf(`http://${host}/a.wav`, fetch)).toContain('cannot be reached')
  hinting.close()
  expect(sent).toBeLessThan(interimMax)
})

test('an address that programs may read as different hosts is refused as a whole', async () => {
  for (const strange of [
    'http://files.example\\@127.0.0.1/a',
    'http://files.example\t@127.0.0.1/a',
    ' http://files.example/a',
    'http://files.example/a b',
  ])
    expect([strange, await problemOf(strange)]).toEqual([strange, expect.stringContaining('encode it')])
})

test('an address that is passed on to a provider is checked like a fetched one, and is sent in the form that was checked', async () => {
  const open = createPublicFetch({ resolve: () => Promise.resolve(['93.184.216.34']), allowedHosts: [name] })
  expect(await open.check('HTTPS://Files.Example:443/a/../clip.wav', 'source_url')).toEqual({
    url: 'https://files.example/clip.wav',
    isConfigured: false,
  })
  expect(await open.check(`http://${name}/a`, 'source_url')).toEqual({
    url: `http://${name}/a`,
    isConfigured: true,
  })
  const closed = createPublicFetch({ resolve: loopback })
  const refusal = await closed.check(`http://${name}/a`, 'source_url').catch((error: unknown) => error)
  expect(refusal).toMatchObject({ type: 'invalid_request', param: 'source_url' })
})
