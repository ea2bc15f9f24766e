import { expect, test } from 'bun:test'
import { checkNames } from './model-checks.ts'

test('the doctor names names and aliases that no endpoint serves, and accepts the others', async () => {
  const served = new Set(['/v1/models/smart', '/v1/models/a%2Fb'])
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => new Response('{}', { status: served.has(new URL(request.url).pathname) ? 200 : 404 }),
  })
  const look = (names: Record<string, unknown>, aliases: Record<string, string>) =>
    Array.fromAsync(checkNames(`http://127.0.0.1:${server.port}/v1`, { names, aliases }))
  expect(await look({}, {})).toEqual([])
  expect(await look({ smart: {} }, { 'a/b': 'smart' })).toMatchObject([
    { level: 'ok', message: 'all are served: 1 name and 1 alias' },
  ])
  const found = await look({ smart: {}, gone: {} }, { old: 'acme/none' })
  expect(found.map(({ level, message }) => [level, message])).toEqual([
    ['problem', 'nothing serves the name "gone" now'],
    ['problem', 'nothing serves the alias "old" of acme/none now'],
  ])
})
