import { afterAll, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { at, startTestGateway, until } from '../support/gateway.ts'

// Anthropic's list of models, as its SDK and Claude Code read it: `data[].id` and `display_name`, pages by ids.

const gateway = await startTestGateway()
afterAll(() => gateway.stop())
const client = new Anthropic({
  baseURL: gateway.listen().replace(/\/v1$/, ''),
  authToken: gateway.key,
  apiKey: null,
  maxRetries: 0,
})
const headers = { 'anthropic-version': '2023-06-01' }
// Until the simulator's own listing is read, the catalog has what the price package knows.
await until(
  () => gateway.get('/models'),
  ({ text }) => text.includes('openai/gpt-4.1-mini') && !text.includes('openai/codex-mini'),
)

test('the official client lists every model that writes text, page by page', async () => {
  const seen: { id: string; display_name: string; created_at: string }[] = []
  for await (const model of client.models.list({ limit: 2 })) seen.push(model)
  const { json } = await gateway.get('/models?output_modalities=text')
  const wanted = (json['data'] as { id: string; name: string }[]).filter(({ id }) => !id.endsWith(':batch'))
  expect(seen.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id))
  expect(seen.map(({ display_name: name }) => name)).toEqual(wanted.map(({ name }) => name))
  for (const { created_at: created } of seen) expect(Number.isNaN(Date.parse(created))).toBe(false)
  expect(seen.length).toBeGreaterThan(3)
})

test('the request of Claude Code is answered whole, and without the header the public list stays as it is', async () => {
  const { status, json } = await gateway.get('/models?limit=1000', { headers })
  expect([status, json['has_more']]).toEqual([200, false])
  expect(at(json, 'data.0.type')).toBe('model')
  expect(typeof at(json, 'data.0.display_name')).toBe('string')
  const usual = await gateway.get('/models')
  expect(at(usual.json, 'data.0.display_name')).toBeUndefined()
  expect(usual.headers.get('vary')).toContain('anthropic-version')
})

test('a page before an id ends where it begins', async () => {
  const ids = async (query: string) =>
    ((await gateway.get(`/models?${query}`, { headers })).json['data'] as { id: string }[]).map(
      ({ id }) => id,
    )
  const all = await ids('limit=1000')
  expect(await ids(`limit=2&before_id=${encodeURIComponent(String(all[3]))}`)).toEqual(all.slice(1, 3))
  expect(await ids(`limit=2&after_id=${encodeURIComponent(String(all[3]))}`)).toEqual(all.slice(4, 6))
})

test.each([
  ['limit=0', 'limit'],
  ['limit=1001', 'limit'],
  ['limit=x', 'limit'],
  ['after_id=nobody/nothing', 'after_id'],
  ['before_id=nobody/nothing', 'before_id'],
])('%s is refused by name', async (query, param) => {
  const { status, json } = await gateway.get(`/models?${query}`, { headers })
  expect([status, at(json, 'error.param')]).toEqual([400, param])
})
