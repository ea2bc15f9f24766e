import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig, type Config } from '../../src/config.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { presets } from '../../src/providers/registry.ts'

// Who reads the metrics: those with the token, or, where there is none, programs of this machine and no proxy of it.

const folder = mkdtempSync(join(tmpdir(), 'headrace-metrics-'))
const gateways: Gateway[] = []
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function start(name: string, env: Record<string, string> = {}): Promise<Gateway> {
  const gateway = await createGateway(configOf(name, env))
  gateways.push(gateway)
  return gateway
}

function configOf(name: string, env: Record<string, string>): Config {
  const usual = { HEADRACE_DATA: join(folder, name), HEADRACE_PORT: '0', HEADRACE_LOG_LEVEL: 'silent' }
  return readConfig({ env: { ...usual, ...env }, cwd: folder, presets })
}

const token = 'the-token-of-prometheus'
const open = await start('open')
const locked = await start('locked', { HEADRACE_METRICS_TOKEN: token })

async function statusOf(gateway: Gateway, headers: Record<string, string>, peer?: string): Promise<number> {
  return (await gateway.fetch(new Request('http://gateway.test/metrics', { headers }), peer)).status
}

test('without a token only this machine reads them', async () => {
  for (const peer of ['127.0.0.1', '127.8.0.1', '::1', '::ffff:127.0.0.1'])
    expect([peer, await statusOf(open, {}, peer)]).toEqual([peer, 200])
  for (const peer of ['192.0.2.1', '10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', '1270.0.0.1', ''])
    expect([peer, await statusOf(open, {}, peer)]).toEqual([peer, 403])
})

test('a request that a proxy sent on is never from this machine', async () => {
  for (const name of ['x-forwarded-for', 'X-Forwarded-Proto', 'x-real-ip', 'Forwarded', 'via'])
    expect([name, await statusOf(open, { [name]: '127.0.0.1' })]).toEqual([name, 403])
})

test('with a token nobody reads them without it, from wherever', async () => {
  expect(await statusOf(locked, {})).toBe(401)
  for (const wrong of ['Bearer', `Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Basic ${token}`, token])
    expect([wrong, await statusOf(locked, { authorization: wrong })]).toEqual([wrong, 401])
  const authorization = `Bearer ${token}`
  expect(await statusOf(locked, { authorization }, '192.0.2.1')).toBe(200)
  expect(await statusOf(locked, { authorization, 'x-forwarded-for': '192.0.2.7' })).toBe(200)
})

test('a refusal says what to set, and not the token', async () => {
  const refused = await locked.fetch(new Request('http://gateway.test/metrics'))
  const text = await refused.text()
  expect(text).toContain('HEADRACE_METRICS_TOKEN')
  expect(text).not.toContain(token)
  expect(await (await open.fetch(new Request('http://gateway.test/metrics'), '192.0.2.1')).text()).toContain(
    'HEADRACE_METRICS_TOKEN',
  )
})

test('processes that share a port have an address of their own each, from the configured port on', async () => {
  const shared = { HEADRACE_PORT: String(freePort()), HEADRACE_SHARE_PORT: '1' }
  const first = freePort()
  const urls: string[] = []
  for (const name of ['one', 'two']) {
    const gateway = await start(name, { ...shared, HEADRACE_METRICS_PORT: String(first) })
    const { metricsUrl } = gateway.listen()
    urls.push(metricsUrl ?? '')
  }
  const ports = urls.map((url) => Number(new URL(url).port))
  expect(ports[0]).toBe(first)
  expect(ports[1]).toBeGreaterThan(first)
  for (const url of urls) {
    const answer = await fetch(url)
    expect(await answer.text()).toContain('headrace_build_info')
    expect((await fetch(url, { headers: { 'x-forwarded-for': '127.0.0.1' } })).status).toBe(403)
    expect((await fetch(url.replace('/metrics', '/v1/models'))).status).toBe(404)
  }
})

test('a shared port alone brings an address of its own, another port none', async () => {
  const shared = await start('alone', { HEADRACE_SHARE_PORT: '1' })
  const { metricsUrl } = shared.listen()
  expect((await fetch(metricsUrl ?? '')).status).toBe(200)
  const single = await start('single')
  expect(single.listen().metricsUrl).toBeNull()
})

test('a scrape of HTTP/1.0 without a Host reads them, and one with a Host that is none is told so', async () => {
  const { metricsUrl } = (await start('without-host', { HEADRACE_METRICS_PORT: '0' })).listen()
  const answer = await exchangeRaw(metricsUrl ?? '', 'GET /metrics HTTP/1.0\r\n\r\n')
  expect(answer).toContain(' 200 ')
  expect(answer).toContain('headrace_build_info')
  expect(await exchangeRaw(metricsUrl ?? '', 'GET /other HTTP/1.0\r\n\r\n')).toContain(' 404 ')
  const wrong = await exchangeRaw(
    metricsUrl ?? '',
    'GET /metrics HTTP/1.1\r\nConnection: close\r\nHost: [::1\r\n\r\n',
  )
  expect(wrong).toContain(' 400 ')
  expect(wrong).toContain('The Host header')
})

/** Sends these bytes and reads until the server closes. */
async function exchangeRaw(url: string, sent: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.end(sent)
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  return text
}

test('a port for the metrics that is taken is said to be theirs', async () => {
  const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  try {
    const gateway = await start('taken', { HEADRACE_METRICS_PORT: String(taken.port) })
    expect(() => gateway.listen()).toThrow(`For the metrics port ${taken.port} on 127.0.0.1 is taken.`)
  } finally {
    await taken.stop(true)
  }
})

function freePort(): number {
  const probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = probe
  void probe.stop(true)
  return port ?? 0
}
