import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, readConfig } from '../../src/config.ts'
import { presets } from '../../src/providers/registry.ts'
import { at, startTestGateway, type TestGateway } from '../support/gateway.ts'

// Azure in each form of its address, with a key in each of its ways; the simulated one refuses what the form does not have.

const folder = mkdtempSync(join(tmpdir(), 'headrace-azure-'))
const prices = { input_per_million: '1', output_per_million: '1' }
const older = '/openai/deployments'
const forms = [
  {
    form: 'v1',
    ending: '/openai/v1',
    query: {},
    chat: '/openai/v1/chat/completions',
    embeddings: '/openai/v1/embeddings',
    responses: '/openai/v1/responses',
  },
  {
    form: 'older',
    ending: '/openai',
    query: { 'api-version': '2024-10-21' },
    chat: `${older}/gpt-4o-mini/chat/completions`,
    embeddings: `${older}/text-embedding-3-small/embeddings`,
    responses: null,
  },
  {
    form: 'foundry',
    ending: '/models',
    query: { 'api-version': '2024-05-01-preview' },
    chat: '/models/chat/completions',
    // The documents name only chat.
    embeddings: null,
    responses: null,
  },
]
const keys = [
  { key: 'own', more: {}, header: 'api-key', value: 'simulated-key' },
  { key: 'bearer', more: { key_form: 'bearer' }, header: 'authorization', value: 'Bearer simulated-key' },
]
const ways = forms.flatMap((form) => keys.map((key) => ({ ...form, ...key, id: `${form.form}-${key.key}` })))

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway({
    credits: '50',
    providers: (url) => [
      ...ways.map(({ id, ending, query, more }) => ({
        id,
        preset: 'azure',
        base_url: `${url}/p/${id}${ending}`,
        api_key: 'simulated-key',
        query,
        ...more,
        weight: 1,
        models: [
          { id: `openai/chat-${id}`, upstream: 'gpt-4o-mini', prices },
          {
            id: `openai/vectors-${id}`,
            upstream: 'text-embedding-3-small',
            modality: 'embedding' as const,
            prices,
          },
        ],
      })),
      {
        id: 'refused',
        preset: 'azure',
        base_url: `${url}/p/refused/openai/v1`,
        api_key: 'bad-key-of-azure',
        weight: 1,
        models: [{ id: 'openai/refused', upstream: 'gpt-4o-mini', prices }],
      },
    ],
  })
})
afterAll(async () => {
  await gateway.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** The last request of a mount: its path, and the header with its key. */
async function lastOf(mount: string) {
  const { last_requests: requests } = await gateway.admin(`counters?mount=${mount}`)
  const last = (requests as { path: string; headers: Record<string, string> }[]).at(-1)
  const { 'api-key': own, authorization } = last?.headers ?? {}
  const sent = { ...(own ? { 'api-key': own } : {}), ...(authorization ? { authorization } : {}) }
  return { path: last?.path, sent }
}

describe.each(ways)('Azure asked as $id', ({ id, header, value, ...paths }) => {
  const sent = { [header]: value }
  const messages = [{ role: 'user', content: 'Say hello' }]

  test('answers chat, whole and streamed', async () => {
    const whole = await gateway.post('/chat/completions', { model: `openai/chat-${id}`, messages })
    expect([whole.status, at(whole.json, 'choices.0.message.content')]).toEqual([
      200,
      'Hello! You said: "Say hello". How can I help?',
    ])
    expect(await lastOf(id)).toEqual({ path: paths.chat, sent })
    const body = { model: `openai/chat-${id}`, messages, stream: true }
    const { status, text } = await gateway.post('/chat/completions', body)
    const events = text.split('\n\n').filter((event) => event.startsWith('data: {'))
    const said = events.map((event) => at(JSON.parse(event.slice(6)), 'choices.0.delta.content') ?? '')
    expect([status, said.join('')]).toEqual([200, 'Hello! You said: "Say hello". How can I help?'])
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true)
    expect(await lastOf(id)).toEqual({ path: paths.chat, sent })
  })

  if (paths.embeddings !== null)
    test('answers embeddings', async () => {
      const { status, json } = await gateway.post('/embeddings', {
        model: `openai/vectors-${id}`,
        input: 'a',
      })
      expect([status, (at(json, 'data.0.embedding') as number[]).length]).toEqual([200, 1536])
      expect(await lastOf(id)).toEqual({ path: paths.embeddings, sent })
    })

  if (paths.responses !== null)
    test('answers responses', async () => {
      const body = { model: `openai/chat-${id}`, input: 'Say hello' }
      const { status, json } = await gateway.post('/responses', body)
      expect([status, at(json, 'output.0.content.0.text')]).toEqual([
        200,
        'Hello! You said: "Say hello". How can I help?',
      ])
      expect(await lastOf(id)).toEqual({ path: paths.responses, sent })
    })
})

test('a key that Azure refuses is not the caller’s fault, and is not shown to the caller', async () => {
  const messages = [{ role: 'user', content: 'hello' }]
  const { status, text } = await gateway.post('/chat/completions', { model: 'openai/refused', messages })
  expect(status).toBeGreaterThanOrEqual(500)
  expect(text).not.toContain('bad-key')
  expect((await lastOf('refused')).path).toBe('/openai/v1/chat/completions')
})

function problemsWith(provider: Record<string, unknown>): readonly string[] {
  writeFileSync(join(folder, 'headrace.config.json'), JSON.stringify({ providers: [provider] }))
  try {
    readConfig({ env: {}, cwd: folder, presets })
    return []
  } catch (error) {
    return error instanceof ConfigError ? error.problems : [String(error)]
  }
}

const azureRefusal =
  'providers.0.base_url: of preset "azure" it must end with /openai/v1 or /openai or /models or /anthropic, which says how it is asked; write it as in https://HOST/openai/v1'

test('the bare address of a resource of Azure is refused at start, and the message names a valid one', () => {
  const bare = { preset: 'azure', base_url: 'https://r.openai.azure.com', api_key: 'k' }
  expect(problemsWith(bare)).toEqual([azureRefusal])
})

test.each([
  ['https://r.openai.azure.com/', [azureRefusal]],
  ['https://r.services.ai.azure.com/v1', [azureRefusal]],
  ['https://proxy.example/myopenai', [azureRefusal]],
  ['https://r.openai.azure.com/openai/deployments/ours', [azureRefusal]],
  ['https://r.openai.azure.com/openai/v1', []],
  ['https://r.openai.azure.com/openai/', []],
  ['https://r.services.ai.azure.com/models', []],
  ['https://r.services.ai.azure.com/anthropic', []],
  ['http://proxy.example:8080/team/openai/v1/', []],
])('a start with %s as the address of Azure', (base_url, problems) => {
  expect(problemsWith({ preset: 'azure', base_url, api_key: 'k' })).toEqual(problems)
})
