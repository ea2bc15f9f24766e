import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

// What a caller who leaves is noticed by comes by the clock, so one stop alone could come at a lucky moment.
const stops = 5

test('calls that a stop cuts off hold no money afterwards', async () => {
  const left: unknown[] = []
  for (let stop = 0; stop < stops; stop += 1) left.push(...(await leasesAfterAStop()))
  expect(left).toEqual([])
})

/** The leases that are left in the database after a stop that has cut off two calls. */
async function leasesAfterAStop(): Promise<unknown[]> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-cut-'))
  const gateway = await startTestGateway({
    folder,
    credits: '10',
    hooks: { callsStopMs: 50, writeLog: () => undefined },
  })
  const url = gateway.listen()
  await gateway.admin('faults', [{ match: { path: '/chat/completions' }, fault: 'latency=60000' }])
  const calls = [false, true].map((stream) => call(`${url}/chat/completions`, gateway.key, stream))
  while ((await askedCalls(gateway)) < calls.length) await Bun.sleep(5)
  await gateway.stop()
  await Promise.all(calls)
  const database = new Database(join(folder, 'headrace.db'), { readonly: true })
  const leases = database.query('select * from leases').all()
  database.close()
  rmSync(folder, { recursive: true, force: true })
  return leases
}

/** Calls that have arrived at the provider. */
async function askedCalls(gateway: TestGateway): Promise<number> {
  const { last_requests: asked } = (await gateway.admin('counters')) as { last_requests: { path: string }[] }
  return asked.filter(({ path }) => path.endsWith('/chat/completions')).length
}

function call(url: string, key: string, stream: boolean): Promise<unknown> {
  const body = JSON.stringify({
    model: 'openai/gpt-4o-mini',
    stream,
    messages: [{ role: 'user', content: 'hello' }],
  })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return fetch(url, { method: 'POST', headers, body }).then(
    (answer) => answer.text().catch(() => null),
    () => null,
  )
}
