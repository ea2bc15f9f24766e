import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { tlsEnvironment } from '../../test/support/test-tls.ts'

test('the suite of both clients passes under TLS', async () => {
  const file = join(import.meta.dirname, 'http-client.test.ts')
  const process = Bun.spawn([Bun.argv[0] ?? '', 'test', '--timeout', '30000', file], {
    env: { ...Bun.env, ...tlsEnvironment },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const said = await new Response(process.stderr).text()
  expect({ code: await process.exited, said: /\n\s*(\d+) fail/.exec(said)?.[1] ?? said }).toEqual({
    code: 0,
    said: '0',
  })
}, 120_000)
