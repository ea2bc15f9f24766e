import { afterAll, beforeAll, expect, test } from 'bun:test'
import { prepareGateway } from '../story/real-gateway.ts'

// What an operator does with keys and usage by command, beside a running gateway.

const gateway = prepareGateway()
beforeAll(() => gateway.start())
afterAll(() => gateway.remove())

/** Longer than the two seconds that the documentation promises: machines may be busy. */
const followMs = 7_000

async function headrace(...args: string[]): Promise<string> {
  const { code, output, errors } = await gateway.run(args)
  expect({ args, code, errors: code === 0 ? '' : errors }).toEqual({ args, code: 0, errors: '' })
  return output
}

interface Made {
  id: string
  secret: string
}

async function createKey(...options: string[]): Promise<Made> {
  const { code, output, errors } = await gateway.run(['keys', 'create', ...options])
  expect({ code, errors: code === 0 ? '' : errors }).toEqual({ code: 0, errors: '' })
  return { id: /key_\w+/.exec(errors)?.[0] ?? '', secret: output.trim() }
}

function chat(secret: string, user?: string): Promise<Response> {
  return fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'openai/gpt-4o-mini',
      max_tokens: 20,
      ...(user === undefined ? {} : { user }),
      messages: [{ role: 'user', content: 'Say hello' }],
    }),
  })
}

async function statusSoon(secret: string, wanted: number): Promise<Response> {
  const startMs = performance.now()
  for (;;) {
    const response = await chat(secret)
    if (response.status === wanted || performance.now() - startMs > followMs) return response
    await response.text()
    await Bun.sleep(50)
  }
}

test('a key that is made with an end is refused after it, and the list shows when', async () => {
  const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10)
  const { id, secret } = await createKey('--expires', day, '--name', 'until then')
  expect((await chat(secret)).status).toBe(200)
  expect(await headrace('keys')).toContain(`${day} 00:00:00`)
  await headrace('keys', 'set', id, '--expires', 'none')
  expect((await gateway.run(['keys', 'set', id, '--expires', '2020-01-01'])).code).toBe(2)
  expect((await gateway.run(['keys', 'set', id, '--expires', '2030-02-30'])).code).toBe(2)
  expect((await gateway.run(['keys', 'set', id, '--expires', '294276-01-01'])).code).toBe(2)
})

test('a rotated key has another secret, the one before works for the overlap, and its limit is one', async () => {
  const { id, secret } = await createKey('--limit', '5', '--name', 'rotated')
  expect((await chat(secret)).status).toBe(200)
  const fresh = (await headrace('keys', 'rotate', id, '--overlap', '1h')).trim()
  expect(fresh).not.toBe(secret)
  expect((await statusSoon(fresh, 200)).status).toBe(200)
  await Bun.sleep(2_500)
  expect((await chat(secret)).status).toBe(200)
  const keys = await headrace('keys')
  expect(keys.split('\n').filter((line) => line.startsWith(id))).toHaveLength(1)
  const seen = await Promise.all(
    [secret, fresh].map(async (one) => {
      const answer = await fetch(`${gateway.baseUrl}/key`, { headers: { authorization: `Bearer ${one}` } })
      return ((await answer.json()) as { data: { usage: number; limit: number } }).data
    }),
  )
  expect(seen[0]?.limit).toBe(5)
  expect(seen[0]?.usage).toBe(seen[1]?.usage ?? -1)
  const last = (await headrace('keys', 'rotate', id, '--overlap', '0')).trim()
  expect((await statusSoon(fresh, 401)).status).toBe(401)
  expect((await chat(last)).status).toBe(200)
  // Without an overlap nothing that was before works, also what an earlier overlap had left.
  expect((await statusSoon(secret, 401)).status).toBe(401)
  await headrace('keys', 'delete', id)
  for (const one of [secret, last]) expect((await statusSoon(one, 401)).status).toBe(401)
})

test('a key with a limit of tokens a minute is refused once its calls have used them', async () => {
  const { secret } = await createKey('--tokens-per-minute', '10')
  expect((await chat(secret)).status).toBe(200)
  const refused = await chat(secret)
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await refused.text()).toContain('this key may use 10 tokens a minute')
})

test('usage is summed by day, key, model, user and provider, and as exact lines for a spreadsheet', async () => {
  const { id, secret } = await createKey('--name', 'shop, "north"')
  for (const user of ['anna', 'anna', '=SUM(A1)']) await (await chat(secret, user)).text()
  const csv = await headrace('usage', '--by', 'day,key,model,user,provider', '--since', '7d', '--csv')
  const [head, ...lines] = csv.trim().split('\n')
  expect(head).toBe(
    'day,key,key_name,model,user,provider,requests,input_tokens,output_tokens,audio_seconds,characters,estimated,unpriced,cost_usd,cached_tokens,cache_write_tokens,cache_write_hour_tokens',
  )
  const today = new Date().toISOString().slice(0, 10)
  const own = lines.filter((line) => line.includes(id))
  expect(own).toHaveLength(2)
  expect(own.find((line) => line.includes(',anna,'))).toMatch(
    new RegExp(`^${today},${id},"shop, ""north""",openai/gpt-4o-mini,anna,sandbox,2,\\d+,\\d+,0,0,0,0,`),
  )
  expect(own.some((line) => line.includes(",'=SUM(A1),"))).toBe(true)
  const table = await headrace('usage', '--by', 'model', '--since', '1d')
  expect(table).toContain('openai/gpt-4o-mini')
  expect(table).toMatch(/\d+ calls since /)
  expect((await gateway.run(['usage', '--by', 'moon'])).errors).toContain('--by takes day, key, model')
})
