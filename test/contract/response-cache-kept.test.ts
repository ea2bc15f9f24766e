import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isThorough } from '../support/thorough.ts'
import { copyMigratedFile } from '../support/sqlite-template.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

// Reference 5.7: what is kept stays through a restart and is the same in every process; rules that change meanwhile count.

const folder = mkdtempSync(join(tmpdir(), 'headrace-kept-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Entries in a small sample, and as many as the cache must have room for. */
const entries = isThorough ? 10_000 : 60
const atOnce = 20

const start = () => startTestGateway({ folder })

async function ask(gateway: TestGateway, content: string, stream = false) {
  const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }], stream }
  const headers = { 'x-openrouter-cache': 'true', 'x-openrouter-cache-ttl': '86400' }
  const { headers: told, text } = await gateway.post('/chat/completions', body, { headers })
  return { status: told.get('x-openrouter-cache-status'), text }
}

/** How many of the calls had this status. */
async function askAll(gateway: TestGateway, status: string): Promise<number> {
  let next = 0
  let found = 0
  const caller = async () => {
    while (next < entries) {
      next += 1
      const answer = await ask(gateway, `entry ${next}`, next % 2 === 0)
      if (answer.status === status) found += 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, caller))
  return found
}

test(
  'every entry is a hit in the same process, in another one at the same time, and after a restart',
  async () => {
    await copyMigratedFile(join(folder, 'headrace.db'))
    const first = await start()
    expect(await askAll(first, 'MISS')).toBe(entries)
    expect(await askAll(first, 'HIT')).toBe(entries)
    const beside = await start()
    expect(await askAll(beside, 'HIT')).toBe(entries)
    const body = {
      model: 'openai/gpt-4o-mini',
      messages: [{ role: 'user', content: 'entry 1' }],
      stream: true,
    }
    expect(body.stream).toBe(true)
    await first.stop()
    await beside.stop()
    const again = await start()
    try {
      expect(await askAll(again, 'HIT')).toBe(entries)
    } finally {
      await again.stop()
    }
  },
  isThorough ? 600_000 : 60_000,
)

test('an answer of an endpoint that the rules forbid now is not given again', async () => {
  const gateway = await startTestGateway()
  try {
    const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'ruled' }] }
    const headers = { 'x-openrouter-cache': 'true' }
    const key = await gateway.addKey({ name: 'ruled' })
    const first = await gateway.post('/chat/completions', body, { headers, key })
    expect(first.headers.get('x-openrouter-cache-status')).toBe('MISS')
    const second = await gateway.post('/chat/completions', body, { headers, key })
    expect(second.headers.get('x-openrouter-cache-status')).toBe('HIT')
    const { data } = (await gateway.get('/keys', { key: gateway.managementKey })).json as {
      data: { name: string; hash: string }[]
    }
    const hash = data.find(({ name }) => name === 'ruled')?.hash ?? ''
    const policy = { headrace: { policy: { ignored_models: ['openai/gpt-4o-mini'] } } }
    const changed = await gateway.request(`/keys/${hash}`, {
      method: 'PATCH',
      body: policy,
      key: gateway.managementKey,
    })
    expect(changed.status).toBe(200)
    const refused = await gateway.post('/chat/completions', body, { headers, key })
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect(refused.headers.get('x-openrouter-cache-status')).toBeNull()
  } finally {
    await gateway.stop()
  }
})
