import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { ProviderConfig } from '../../src/config-file.ts'
import { at, startTestGateway, type TestGateway } from '../support/gateway.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts'

// Contract 5.2: `service_tier` is one of six words in chat completions and responses, and `flex` restricts the call to
// endpoints that have this tier, without a fallback to others.

const usual = { input_per_million: '2', output_per_million: '10' }
const withFlex = { ...usual, service_tiers: { flex: { input_per_million: '1', output_per_million: '5' } } }
const tiers = { plain: usual, flexible: withFlex }

let upstream: ScriptedUpstream
let app: TestGateway
beforeAll(async () => {
  upstream = startScriptedUpstream()
  app = await startTestGateway({
    providers: () =>
      Object.entries(tiers).map(([id, prices]): ProviderConfig => ({
        preset: 'custom',
        id,
        base_url: `${upstream.url}/${id}/v1`,
        weight: 1,
        discover: false,
        models: [
          { id: 'acme/chat', upstream: 'chat', prices },
          { id: `${id}/own`, upstream: 'own', prices },
        ],
      })),
  })
})
afterAll(async () => {
  await app.stop()
  await upstream.stop()
})

const messages = [{ role: 'user', content: 'Say hello' }]
const formats = {
  '/chat/completions': { messages },
  '/responses': { input: 'Say hello' },
  '/messages': { messages, max_tokens: 50 },
}
const paths = Object.keys(formats) as (keyof typeof formats)[]
const ask = (path: keyof typeof formats, model: string, more: object) =>
  app.post(path, { model, ...formats[path], ...more }, { headers: { 'x-headrace-metadata': 'enabled' } })

/** The endpoint of flex answers, or fails and is asked for nothing else. */
function answers(isWell: boolean): void {
  upstream.answer(() =>
    isWell
      ? Response.json({
          id: 'c1',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          service_tier: 'flex',
          choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello.' } }],
          usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
        })
      : Response.json({ error: { message: 'Out of order.' } }, { status: 500 }),
  )
}

test('a flex call goes only to endpoints with flex, and to no other when they fail', async () => {
  for (const path of paths) {
    answers(true)
    const before = upstream.seen.length
    for (let turn = 0; turn < 8; turn += 1) {
      const { status } = await ask(path, 'acme/chat', { service_tier: 'flex' })
      expect([path, status]).toEqual([path, 200])
    }
    const asked = upstream.seen.slice(before)
    expect(new Set(asked.map((seen) => seen.path))).toEqual(new Set(['/flexible/v1/chat/completions']))
    expect(new Set(asked.map(({ body }) => at(JSON.parse(body), 'service_tier')))).toEqual(new Set(['flex']))
  }
  answers(false)
  const before = upstream.seen.length
  expect((await ask('/chat/completions', 'acme/chat', { service_tier: 'flex' })).status).toBeGreaterThan(499)
  const failed = upstream.seen.slice(before).map((seen) => seen.path)
  expect(new Set(failed)).toEqual(new Set(['/flexible/v1/chat/completions']))
})

test('flex without an endpoint that has it is 404 and names the member; other tiers are only preferences', async () => {
  answers(true)
  for (const path of paths) {
    const before = upstream.seen.length
    const { status, json } = await ask(path, 'plain/own', { service_tier: 'flex' })
    expect([path, status, upstream.seen.length]).toEqual([path, 404, before])
    expect(at(json, 'error.message')).toContain('service_tier')
    expect(at(json, 'error.availability.code')).toBe('constraint_filtered')
    // The next model, which has flex, answers instead.
    const fallback = await ask(path, 'plain/own', { service_tier: 'flex', models: ['flexible/own'] })
    expect([path, fallback.status, fallback.json['model']]).toEqual([path, 200, 'flexible/own'])
  }
  const { status, json } = await ask('/chat/completions', 'plain/own', { service_tier: 'priority' })
  expect([status, at(json, 'headrace_metadata.dropped')]).toEqual([200, ['service_tier']])
})

test('another word is 400 in chat completions and responses; messages have words of their own', async () => {
  answers(true)
  for (const path of ['/chat/completions', '/responses'] as const) {
    for (const tier of ['bogus', 'FLEX', 'standard', '']) {
      const { status, json } = await ask(path, 'plain/own', { service_tier: tier })
      expect([path, tier, status]).toEqual([path, tier, 400])
      expect(JSON.stringify(json)).toContain('service_tier')
    }
    for (const tier of ['auto', 'default', 'fast', 'priority', 'scale', null])
      expect([tier, (await ask(path, 'plain/own', { service_tier: tier })).status]).toEqual([tier, 200])
  }
  expect((await ask('/messages', 'plain/own', { service_tier: 'standard_only' })).status).toBe(200)
})
