import { afterAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { buildConsole } from '../../src/http/console/build-console.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

// The files of the console below /ui: how they are built, found, compressed and kept, and what they may do.

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; require-trusted-types-for 'script'; connect-src 'self'; media-src 'self' blob:; font-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
const fixture = join(import.meta.dir, 'fixtures/console')
const folder = mkdtempSync(join(tmpdir(), 'headrace-console-files-'))
const source = join(folder, 'dashboard')
const cache = join(folder, 'cache')
cpSync(fixture, source, { recursive: true })
const nowhere = join(folder, 'nowhere')
const places = { source, lock: nowhere, packaged: nowhere, cache }
const gateway = await startTestGateway({
  basePath: '/a/b',
  hooks: { writeLog: () => undefined, consolePlaces: places },
})
afterAll(async () => {
  await gateway.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function open(path: string, headers: Record<string, string> = {}, from: TestGateway = gateway) {
  const response = await from.request(`/${path}`, { key: null, headers })
  const bytes = new Uint8Array(await response.arrayBuffer())
  return { status: response.status, headers: response.headers, bytes, text: new TextDecoder().decode(bytes) }
}
const assetsOf = (html: string) =>
  [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? '')

test('the root and /ui lead to /ui/, below the base path', async () => {
  for (const path of ['/a/b', '/a/b/', '/a/b/ui']) {
    const { status, headers } = await open(path)
    expect([path, status, headers.get('location')]).toEqual([path, 302, '/a/b/ui/'])
  }
})

test('the page knows the base path, and so do the addresses in it, at every depth of its own routes', async () => {
  const root = await open('/a/b/ui/')
  expect([root.status, root.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(root.text).toContain('<meta name="headrace-base-path" content="/a/b"')
  const assets = assetsOf(root.text)
  expect(assets.length).toBe(2)
  for (const address of assets)
    expect(address).toMatch(/^\/a\/b\/ui\/assets\/[\w-]+-[0-9a-z]{8}\.(?:js|css)$/)
  for (const path of ['keys', 'requests/gen-1-x', 'batches/batch_1/items/'])
    expect((await open(`/a/b/ui/${path}`)).text).toBe(root.text)
})

test('every answer has the whole policy, and nothing of it is a guess of the browser', async () => {
  const script = assetsOf((await open('/a/b/ui/')).text).find((address) => address.endsWith('.js')) ?? ''
  for (const path of ['/a/b/ui', '/a/b/ui/', script, '/a/b/ui/assets/none-00000000.js']) {
    const { headers } = await open(path)
    expect([path, headers.get('content-security-policy')]).toEqual([path, policy])
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('access-control-allow-origin')).toBeNull()
    expect(headers.get('x-request-id')).toMatch(/^req_/)
  }
})

test('a file whose name has its hash is kept for ever, and comes compressed as the browser asks', async () => {
  const assets = assetsOf((await open('/a/b/ui/')).text)
  const script = assets.find((address) => address.endsWith('.js')) ?? ''
  const plain = await open(script)
  expect(plain.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(plain.headers.get('vary')).toBe('accept-encoding')
  const brotli = await open(script, { 'accept-encoding': 'gzip, deflate, br, zstd' })
  expect(brotli.headers.get('content-encoding')).toBe('br')
  expect(brotliDecompressSync(brotli.bytes).toString()).toBe(plain.text)
  const gzip = await open(script, { 'accept-encoding': 'br;q=0, gzip' })
  expect(gzip.headers.get('content-encoding')).toBe('gzip')
  expect(gunzipSync(gzip.bytes).toString()).toBe(plain.text)
  expect((await open(script, { 'accept-encoding': 'brother' })).headers.get('content-encoding')).toBeNull()
  const known = await open(script, { 'if-none-match': plain.headers.get('etag') ?? '' })
  expect([known.status, known.bytes.length]).toEqual([304, 0])
  const styles = assets.find((address) => address.endsWith('.css')) ?? ''
  expect((await open(styles)).headers.get('content-type')).toBe('text/css; charset=utf-8')
})

test('the page and workers, whose names stay, are asked for again each time', async () => {
  for (const path of ['/a/b/ui/', '/a/b/ui/assets/add.worker.js']) {
    const { status, headers } = await open(path)
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-cache'])
    const again = await open(path, { 'if-none-match': headers.get('etag') ?? '' })
    expect(again.status).toBe(304)
  }
})

test('only the files of the build are given, whatever the path says', async () => {
  for (const path of [
    '/a/b/ui/assets/none.js',
    '/a/b/ui/assets/%2e%2e/console-files.json',
    '/a/b/ui/console-files.json',
    '/a/b/ui/..%2f..%2fpackage.json',
    '/a/b/ui/index.html.gz',
    '/a/b/ui/index.html',
  ])
    expect([path, (await open(path)).status]).toEqual([path, 404])
  expect((await open('/ui/')).status).toBe(404)
})

test('a change of the source is built at the next request, and an unchanged one is not built again', async () => {
  const before = await open('/a/b/ui/')
  const builds = () => readdirSync(cache).toSorted()
  const known = builds()
  await open('/a/b/ui/')
  expect(builds()).toEqual(known)
  writeFileSync(join(source, 'src/look.css'), 'main { padding: 8px; }')
  const after = await open('/a/b/ui/')
  expect(assetsOf(after.text)).not.toEqual(assetsOf(before.text))
  expect(builds().length).toBe(known.length + 1)
  // Another process finds the build that this one made.
  const madeAtMs = builds()
  const second = await startTestGateway({ hooks: { writeLog: () => undefined, consolePlaces: places } })
  expect(assetsOf((await open('/ui/', {}, second)).text).map((address) => `/a/b${address}`)).toEqual(
    assetsOf(after.text),
  )
  expect(builds()).toEqual(madeAtMs)
  await second.stop()
})

test('source that cannot be built is told in plain words with 503, and works again once it is mended', async () => {
  const path = join(source, 'src/view.ts')
  const good = await Bun.file(path).text()
  writeFileSync(path, 'export const broken = (')
  const { status, headers, text } = await open('/a/b/ui/')
  expect([status, headers.get('content-type'), headers.get('retry-after')]).toEqual([
    503,
    'text/plain; charset=utf-8',
    '5',
  ])
  expect(text).toContain('view.ts')
  writeFileSync(path, good)
  expect((await open('/a/b/ui/')).status).toBe(200)
})

test('an installation without source gives the files that came with it', async () => {
  const packaged = join(folder, 'dist')
  await buildConsole({ source: fixture, out: packaged, brotliQuality: 1 })
  const installed = await startTestGateway({
    hooks: {
      writeLog: () => undefined,
      consolePlaces: { source: nowhere, lock: nowhere, packaged, cache: join(folder, 'unused') },
    },
  })
  const page = await open('/ui/', {}, installed)
  expect(page.status).toBe(200)
  for (const address of assetsOf(page.text)) expect((await open(address, {}, installed)).status).toBe(200)
  await installed.stop()
})

test('without any console the root is a plain page, as for an API alone', async () => {
  const bare = await startTestGateway({
    hooks: { writeLog: () => undefined, consolePlaces: { source: nowhere, packaged: nowhere } },
  })
  const home = await open('/', {}, bare)
  expect([home.status, home.text]).toEqual([200, expect.stringContaining('is running')])
  expect((await open('/ui/', {}, bare)).status).toBe(404)
  await bare.stop()
})
