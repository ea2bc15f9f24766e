import { afterAll, describe, expect, test } from 'bun:test'
import { HTTPClient, OpenRouter } from '@openrouter/sdk'
import { CohereClientV2 } from 'cohere-ai'
import {
  at,
  customProvider,
  sandboxProvider,
  startTestGateway,
  until,
  type Answer,
  type TestGateway,
} from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// `POST /rerank` of the public contract: the requests to providers, the answer, its cost and the refusals.

const upstream = startScriptedUpstream()
const stopped: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const stop of stopped) await stop()
  await upstream.stop()
})

const bySearches = { search_units_per_thousand: '2' }
const byTokens = { input_per_million: '0.05' }
const rerankers = [
  { id: 'acme/searches', modality: 'rerank' as const, prices: bySearches },
  { id: 'acme/tokens', modality: 'rerank' as const, prices: byTokens },
  { id: 'acme/both', modality: 'rerank' as const, prices: { ...bySearches, input_per_million: '50' } },
  { id: 'acme/unpriced', modality: 'rerank' as const },
]

interface Host {
  preset: string
  /** Where the simulator has it. */
  below: string
  models?: { id: string; upstream: string }[]
}

const hosts: readonly Host[] = [
  { preset: 'cohere', below: 'cohere' },
  { preset: 'jina', below: 'jina/v1' },
  { preset: 'voyage', below: 'voyage/v1' },
  {
    preset: 'together',
    below: 'together/v1',
    models: [{ id: 'together/rank', upstream: 'Salesforce/Llama-Rank-V1' }],
  },
  { preset: 'tei', below: 'tei', models: [{ id: 'tei/own', upstream: 'any' }] },
  {
    preset: 'vllm',
    below: 'own-reranker/v1',
    models: [{ id: 'vllm/bge', upstream: 'BAAI/bge-reranker-v2-m3' }],
  },
]

async function start(options: Parameters<typeof startTestGateway>[0] = {}): Promise<TestGateway> {
  const gateway = await startTestGateway({
    providers: (url) => [
      ...hosts.map(({ preset, below, models = [] }) => ({
        preset,
        base_url: `${url}/p/main/${below}`,
        api_key: 'key-1',
        weight: 1,
        discover: false,
        models: models.map(({ id, upstream: name }) => ({ id, upstream: name, modality: 'rerank' as const })),
      })),
      customProvider(upstream.url, rerankers),
    ],
    ...options,
  })
  stopped.push(() => gateway.stop())
  return gateway
}

const gateway = await start()

const query = 'How does a mill wheel turn?'
const documents = [
  'Bread is made of flour.',
  'A mill wheel will turn when water falls on it.',
  'The wheel of a mill.',
]
const ask = (change: Record<string, unknown> = {}, on: TestGateway = gateway): Promise<Answer> =>
  on.post('/rerank', { model: 'cohere/rerank-v3.5', query, documents, ...change })

/** An answer of the scripted provider with these scores, in Cohere's or in Jina's form. */
function answerWith(scores: readonly number[], more: Record<string, unknown>): void {
  upstream.answer(() =>
    Response.json({
      results: scores.map((score, index) => ({ index, relevance_score: score })),
      ...more,
    }),
  )
}

async function rowOf(answer: Answer, on: TestGateway = gateway): Promise<Record<string, unknown>> {
  const path = `/generation?id=${answer.headers.get('x-generation-id')}`
  const { json } = await until(
    () => on.get(path),
    ({ status }) => status === 200,
  )
  return at(json, 'data') as Record<string, unknown>
}

describe('an answer', () => {
  test('has the documents by falling relevance, the provider, and the cost', async () => {
    const answer = await ask()
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      id: answer.headers.get('x-generation-id'),
      model: 'cohere/rerank-v3.5',
      provider: 'Cohere',
      results: [
        { index: 1, relevance_score: expect.any(Number), document: { text: documents[1] } },
        { index: 2, relevance_score: expect.any(Number), document: { text: documents[2] } },
        { index: 0, relevance_score: expect.any(Number), document: { text: documents[0] } },
      ],
      usage: {
        search_units: 1,
        cost: 0.002,
        cost_details: {
          upstream_inference_cost: 0.002,
          upstream_inference_prompt_cost: 0.002,
          upstream_inference_completions_cost: 0,
        },
        is_byok: false,
      },
    })
    expect(answer.headers.get('x-provider-name')).toBe('Cohere')
  })

  test.each([
    'cohere/rerank-v3.5',
    'jina/jina-reranker-v3',
    'voyageai/rerank-2.5',
    'together/rank',
    'tei/own',
    'vllm/bge',
  ])('of %s has as many results as were asked for, with their documents', async (model) => {
    const { status, json } = await ask({ model, top_n: 2 })
    expect([status, json['error']]).toEqual([200, undefined])
    expect(at(json, 'results.0')).toMatchObject({ index: 1, document: { text: documents[1] } })
    expect(at(json, 'results')).toHaveLength(2)
  })

  test('has all documents where more are asked for than there are', async () => {
    for (const model of ['cohere/rerank-v3.5', 'voyageai/rerank-2.5', 'tei/own'])
      expect(at((await ask({ model, top_n: 9 })).json, 'results')).toHaveLength(3)
  })

  test('leaves the documents out where the caller does not want them', async () => {
    const { json } = await ask({ return_documents: false, top_n: 1 })
    expect(json['results']).toEqual([{ index: 1, relevance_score: expect.any(Number) }])
  })

  test('shows objects with what the contract has of them, and their providers are sent the text', async () => {
    const objects = [{ text: documents[1], title: 'water' }, documents[0]]
    const { status, json } = await ask({ documents: objects })
    expect(status).toBe(200)
    expect(at(json, 'results.0')).toMatchObject({ index: 0, document: { text: documents[1] } })
    expect(Object.keys(at(json, 'results.0.document') as object)).toEqual(['text'])
  })

  test('keeps every letter of a document', async () => {
    answerWith([0.5, 0.75], { usage: { total_tokens: 9 } })
    const odd = ['"quoted" \\ back\u2028slash 😀', '\u00e9\ud83d\ude00 [x], {y}']
    const { json } = await ask({ model: 'acme/tokens', documents: odd })
    expect(at(json, 'results.0.document.text')).toBe(odd[1])
    expect(at(json, 'results.1.document.text')).toBe(odd[0])
  })
})

describe('an invoice in nanocredits', () => {
  const nanocreditsOf = async (answer: Answer, on: TestGateway = gateway) =>
    at(await rowOf(answer, on), 'headrace.cost_nanocredits')

  test('counts one search unit of a hundred documents as 2,000,000, and two of a hundred and one', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `document ${index}`)
    expect(await nanocreditsOf(await ask({ documents: many(100) }))).toBe('2000000')
    const answer = await ask({ documents: many(101) })
    expect(at(answer.json, 'usage')).toMatchObject({ search_units: 2, cost: 0.004 })
    const row = await rowOf(answer)
    expect(row).toMatchObject({ api_type: 'rerank', total_cost: 0.004, tokens_prompt: 0 })
    expect(row['headrace']).toMatchObject({
      search_units: 2,
      cost_nanocredits: '4000000',
      is_estimated: false,
    })
  })

  test('counts tokens at Voyage as the provider counted them: 3 × 7 and 6 + 12 + 5 at 50 nanocredits', async () => {
    const answer = await ask({ model: 'voyageai/rerank-2.5' })
    expect(at(answer.json, 'usage')).toMatchObject({ total_tokens: 44, cost: 0.0000022 })
    expect(await nanocreditsOf(answer)).toBe('2200')
  })

  test('charges nothing for a self-hosted server, and marks its tokens as estimated', async () => {
    const answer = await ask({ model: 'tei/own' })
    const row = await rowOf(answer)
    expect(row['headrace']).toMatchObject({ cost_nanocredits: '0', is_estimated: true, is_unpriced: false })
    expect(at(answer.json, 'usage.total_tokens')).toBeGreaterThan(10)
  })

  test('counts search units at a self-hosted server when they have a price, whatever the server reports', async () => {
    const presets = ['tei', 'vllm', 'llamacpp']
    const own = await startTestGateway({
      providers: () =>
        presets.map((preset) => ({
          preset,
          base_url: upstream.url,
          weight: 1,
          discover: false,
          models: [{ id: `${preset}/own`, upstream: 'any', modality: 'rerank' as const, prices: bySearches }],
        })),
    })
    stopped.push(() => own.stop())
    for (const preset of presets)
      for (const report of [{}, { usage: { total_tokens: 44 } }, { usage: { search_units: 1 } }]) {
        const scores = [0.1, 0.2, 0.3].map((score, index) => ({ index, score }))
        if (preset === 'tei') upstream.answer(() => Response.json(scores))
        else answerWith([0.1, 0.2, 0.3], report)
        const answer = await ask({ model: `${preset}/own` }, own)
        expect(at(answer.json, 'usage')).toMatchObject({ search_units: 1, cost: 0.002 })
      }
  })

  test('counts what the provider reported where both units have a price', async () => {
    answerWith([0.1, 0.2, 0.3], { meta: { billed_units: { search_units: 1 } } })
    const searched = await rowOf(await ask({ model: 'acme/both' }))
    expect(searched['headrace']).toMatchObject({ cost_nanocredits: '2000000', is_estimated: false })
    answerWith([0.1, 0.2, 0.3], { usage: { total_tokens: 44 } })
    const counted = await rowOf(await ask({ model: 'acme/both' }))
    expect(counted['headrace']).toMatchObject({ cost_nanocredits: '2200000', is_estimated: false })
  })

  test('takes the larger of what a document is cut into: 1,000 tokens are two pieces of a unit', async () => {
    const long = Array.from({ length: 60 }, () => 'wheel '.repeat(400))
    const answer = await ask({ documents: long })
    // 2,400 bytes are 600 of the simulator's tokens, and two pieces each.
    expect(at(answer.json, 'usage.search_units')).toBe(2)
    expect(await nanocreditsOf(await ask({ documents: long, max_tokens_per_doc: 400 }))).toBe('2000000')
  })

  test('estimates what a provider does not count, or counts beyond belief', async () => {
    for (const meta of [{}, { billed_units: { search_units: 0 } }, { billed_units: { search_units: 900 } }]) {
      answerWith([0.1, 0.2, 0.3], { meta })
      const row = await rowOf(await ask({ model: 'acme/searches' }))
      expect(row['headrace']).toMatchObject({
        search_units: 1,
        cost_nanocredits: '2000000',
        is_estimated: true,
      })
    }
    answerWith([0.1, 0.2, 0.3], { usage: { total_tokens: 900_000 } })
    const row = await rowOf(await ask({ model: 'acme/tokens' }))
    expect(row['headrace']).toMatchObject({ is_estimated: true, reported: { input_tokens: 900_000 } })
    expect(Number(row['tokens_prompt'])).toBeLessThan(200)
  })
})

describe('money', () => {
  test('is held before the call and captured after it: the balance falls by the cost of the call', async () => {
    const prepaid = await start({ credits: '0.01' })
    const answer = await ask({}, prepaid)
    expect(answer.status).toBe(200)
    const { json } = await until(
      () => prepaid.get('/credits'),
      ({ json: credits }) => Number(at(credits, 'data.total_usage')) > 0,
    )
    expect(json['data']).toEqual({ total_credits: 0.01, total_usage: 0.002 })
  })

  test('that does not cover the search units refuses the call before the provider is asked', async () => {
    const poor = await start({ credits: '0.003' })
    const two = Array.from({ length: 101 }, (_, index) => `document ${index}`)
    const refused = await ask({ model: 'acme/searches', documents: two }, poor)
    expect(refused.status).toBe(402)
    expect(at(refused.json, 'error.message')).toContain('0.003 credits are available')
    const dear = await ask(
      { model: 'acme/tokens', query: 'x'.repeat(3_000), documents: Array(200).fill('y'.repeat(900)) },
      poor,
    )
    expect(dear.status).toBe(402)
    expect(upstream.seen.filter(({ body }) => body.includes('document 100'))).toEqual([])
    expect((await ask({}, poor)).status).toBe(200)
  })

  test('has no bound without a price, so that prepaid accounts are refused and tracked ones are not', async () => {
    answerWith([0.1, 0.2, 0.3], { meta: { billed_units: { search_units: 1 } } })
    const prepaid = await start({ credits: '5' })
    const refused = await ask({ model: 'acme/unpriced' }, prepaid)
    expect(refused.status).toBe(404)
    expect(at(refused.json, 'error.message')).toContain('has no known price for search units')
    const served = await ask({ model: 'acme/unpriced' })
    expect(served.status).toBe(200)
    expect(at(served.json, 'usage.cost')).toBeUndefined()
    expect((await rowOf(served))['headrace']).toMatchObject({ is_unpriced: true, search_units: 1 })
  })
})

describe('a request', () => {
  test.each([
    ['no model', { model: undefined }, 'model'],
    ['no query', { query: undefined }, 'query'],
    ['an empty query', { query: '' }, 'query'],
    ['a query that is no text', { query: 7 }, 'query'],
    ['a query of more than 65,536 bytes', { query: 'x'.repeat(65_600) }, 'query'],
    ['no documents', { documents: undefined }, 'documents'],
    ['documents of null', { documents: null }, 'documents'],
    ['an empty list', { documents: [] }, 'documents'],
    ['documents that are no list', { documents: 'one' }, 'documents'],
    ['a number among the documents', { documents: ['a', 7] }, 'documents[1]'],
    ['a list among the documents', { documents: [['a']] }, 'documents[0]'],
    ['an object without text', { documents: ['a', { title: 'b' }] }, 'documents[1]'],
    ['an object whose text is none', { documents: [{ text: 5 }] }, 'documents[0]'],
    ['more than 10,000 documents', { documents: Array(10_001).fill('a') }, 'documents'],
    ['top_n of 0', { top_n: 0 }, 'top_n'],
    ['top_n of 1.5', { top_n: 1.5 }, 'top_n'],
    ['max_tokens_per_doc of 0', { max_tokens_per_doc: 0 }, 'max_tokens_per_doc'],
    ['return_documents that is no boolean', { return_documents: 'yes' }, 'return_documents'],
    ['an unknown preference', { provider: { onyl: ['cohere'] } }, 'provider'],
    ['too long a session', { session_id: 'x'.repeat(257) }, 'session_id'],
  ])('with %s is refused by name', async (_, change, param) => {
    const { status, json } = await ask(change)
    expect(status).toBe(400)
    expect(json['error']).toMatchObject({ code: 400, error_type: 'invalid_request' })
    expect(String(at(json, 'error.param'))).toStartWith(param)
  })

  test('for a model of another kind is refused with the path for that kind, and the other way round', async () => {
    const other = await startTestGateway()
    stopped.push(() => other.stop())
    const chat = await ask({ model: 'openai/gpt-4o-mini' }, other)
    expect(chat.status).toBe(400)
    expect(at(chat.json, 'error.message')).toContain('is a language model; ask it at POST /chat/completions')
    const messages = [{ role: 'user', content: 'x' }]
    const rank = await other.post('/chat/completions', { model: 'cohere/rerank-v3.5', messages })
    expect(at(rank.json, 'error.message')).toContain('is a rerank model; ask it at POST /rerank')
  })

  test('of more documents than the provider takes is refused with its bound, and so is a picture', async () => {
    const many = await ask({ model: 'voyageai/rerank-2.5', documents: Array(1_001).fill('a') })
    expect([many.status, at(many.json, 'error.param')]).toEqual([400, 'documents'])
    expect(at(many.json, 'error.message')).toContain('takes 1000')
    const image = await ask({ documents: ['a', { image: 'data:image/png;base64,AAAA' }] })
    expect([image.status, at(image.json, 'error.param')]).toEqual([400, 'documents[1]'])
  })

  test('is sent without the gateway’s own members, under each provider’s names', async () => {
    await gateway.admin('reset', { mount: 'main' })
    const own = {
      user: 'ann',
      session_id: 's',
      trace: { trace_id: 't' },
      provider: { allow_fallbacks: false },
    }
    for (const model of ['cohere/rerank-v3.5', 'voyageai/rerank-2.5', 'tei/own', 'jina/jina-reranker-v3'])
      expect((await ask({ model, top_n: 1, max_tokens_per_doc: 99, ...own })).status).toBe(200)
    const { last_requests: asked } = await gateway.admin('counters?mount=main')
    const bodies = (asked as { body: string }[]).map(({ body }) => JSON.parse(body))
    expect(bodies).toEqual([
      { model: 'rerank-v3.5', query, documents, top_n: 1, max_tokens_per_doc: 99 },
      { model: 'rerank-2.5', query, documents, top_k: 1 },
      { query, texts: documents },
      { model: 'jina-reranker-v3', query, documents, top_n: 1, return_documents: false },
    ])
  })

  test('with require_parameters goes only where documents can be cut', async () => {
    const provider = { require_parameters: true }
    const refused = await ask({ model: 'voyageai/rerank-2.5', max_tokens_per_doc: 99, provider })
    expect(refused.status).toBe(404)
    expect((await ask({ max_tokens_per_doc: 99, provider })).status).toBe(200)
  })

  test('falls back to the next model', async () => {
    upstream.answer(() => Response.json({ message: 'down' }, { status: 503 }))
    const { status, json } = await ask({ model: 'acme/searches', models: ['cohere/rerank-v4.0-pro'] })
    expect([status, json['model']]).toEqual([200, 'cohere/rerank-v4.0-pro'])
  })

  test('is no item of a batch', async () => {
    const { status, json } = await gateway.post('/batches', {
      endpoint: '/v1/rerank',
      model: 'cohere/rerank-v3.5',
      requests: [{ custom_id: 'a', body: { query, documents } }],
    })
    expect([status, at(json, 'error.param')]).toEqual([400, 'endpoint'])
  })
})

describe('an answer of a provider is refused', () => {
  test.each<[string, unknown]>([
    ['that is no JSON', '{"results":['],
    ['without results', { meta: {} }],
    ['with a document twice', { results: [0, 0, 1].map((index) => ({ index, relevance_score: 0.5 })) }],
    [
      'with a document that nobody sent',
      { results: [0, 1, 3].map((index) => ({ index, relevance_score: 0.5 })) },
    ],
    [
      'with a score that is no number',
      { results: [0, 1, 2].map((index) => ({ index, relevance_score: null })) },
    ],
  ])('%s, and costs nothing', async (_, body) => {
    upstream.answer(() => (typeof body === 'string' ? new Response(body) : Response.json(body)))
    const { status, json } = await ask({ model: 'acme/searches' })
    expect([status, at(json, 'error.error_type')]).toEqual([502, 'provider_unavailable'])
  })

  test('in which a document has no score, and costs nothing', async () => {
    answerWith([0.5], { meta: { billed_units: { search_units: 1 } } })
    const answer = await ask({ model: 'acme/searches' })
    expect([answer.status, at(answer.json, 'error.error_type')]).toEqual([502, 'provider_unavailable'])
  })

  test('with an error inside, by that error', async () => {
    upstream.answer(() => Response.json({ error: { message: 'too many documents', code: 400 } }))
    const { status } = await ask({ model: 'acme/searches' })
    expect(status).toBe(400)
  })

  test('by its status, in the contract’s envelope', async () => {
    await gateway.admin('faults', { mount: 'main', rules: [{ fault: 'status=429;retry_after=3' }] })
    const limited = await ask()
    await gateway.admin('faults', { mount: 'main', rules: [] })
    expect(limited.status).toBe(429)
    expect(limited.json['error']).toMatchObject({ code: 429, metadata: { provider_name: 'Cohere' } })
  })
})

describe('the catalog', () => {
  test('lists rerankers for callers who ask for that output, with the price of a search unit', async () => {
    const { json } = await gateway.get('/models?output_modalities=rerank')
    const models = json['data'] as Record<string, unknown>[]
    const cohere = models.find(({ id }) => id === 'cohere/rerank-v3.5')
    expect(cohere).toMatchObject({
      architecture: { modality: 'text->rerank', input_modalities: ['text'], output_modalities: ['rerank'] },
      pricing: { prompt: '0', completion: '0' },
      headrace: { pricing_rules: { per_search_unit: '0.002' } },
    })
    expect(models.find(({ id }) => id === 'voyageai/rerank-2.5')).toMatchObject({
      pricing: { prompt: '0.00000005' },
    })
    expect(models.every(({ id }) => !String(id).includes('embed'))).toBe(true)
    const { json: texts } = await gateway.get('/models')
    expect(JSON.stringify(texts)).not.toContain('rerank-v3.5')
  })

  test('counts calls of it in the metrics by its name', async () => {
    await ask()
    const { text } = await gateway.get('//metrics', { key: gateway.managementKey })
    expect(text).toMatch(/operation="rerank",provider="cohere"/)
  })
})

test('the official client of the contract reads it', async () => {
  const client = new OpenRouter({
    apiKey: gateway.key,
    serverURL: 'http://gateway.test/api/v1',
    httpClient: new HTTPClient({ fetcher: (input, init) => gateway.gateway.fetch(new Request(input, init)) }),
  })
  const answer = await client.rerank.rerank({
    requestBody: { model: 'cohere/rerank-v3.5', query, documents: [...documents, { text: 'mill' }], topN: 2 },
  })
  if (typeof answer === 'string') throw new Error('it is an object')
  expect(answer.results[0]).toEqual({
    index: 1,
    relevanceScore: expect.any(Number),
    document: { text: documents[1] },
  })
  expect(answer.usage).toMatchObject({ searchUnits: 1, cost: 0.002 })
})

/** Cohere's own client puts `/v2/rerank` behind its address; here it stands for `POST /rerank`. */
function cohereAt(base: string, send: (request: Request) => Promise<Response>): CohereClientV2 {
  return new CohereClientV2({
    token: gateway.key,
    environment: base,
    fetch: ((input: string | URL, init?: RequestInit) =>
      send(new Request(String(input).replace('/v2/rerank', '/rerank'), init))) as typeof fetch,
  })
}

test('Cohere’s own client reads it, and gets the scores that Cohere itself would give', async () => {
  const asked = { model: 'rerank-v3.5', query, documents, topN: 2, maxTokensPerDoc: 500 }
  const there = new CohereClientV2({
    token: 'key-1',
    environment: `${gateway.simulator.url}/p/direct/cohere`,
  })
  const direct = await there.rerank(asked)
  const here = cohereAt('http://gateway.test/api/v1', (request) => gateway.gateway.fetch(request))
  await gateway.admin('reset', { mount: 'main' })
  const through = await here.rerank({ ...asked, model: 'cohere/rerank-v3.5' })
  expect(through.results.map(({ index, relevanceScore }) => [index, relevanceScore])).toEqual(
    direct.results.map(({ index, relevanceScore }) => [index, relevanceScore]),
  )
  const bodyAt = async (mount: string) => {
    const { last_requests: requests } = await gateway.admin(`counters?mount=${mount}`)
    return JSON.parse((requests as { body: string }[]).at(-1)?.body ?? '')
  }
  expect(await bodyAt('main')).toEqual(await bodyAt('direct'))
})

test('the sandbox ranks, so that reranking can be tried without any key', async () => {
  const sandbox = await startTestGateway({ providers: (url) => [sandboxProvider(url)] })
  stopped.push(() => sandbox.stop())
  const { status, json } = await ask({}, sandbox)
  expect([status, at(json, 'results.0.index')]).toEqual([200, 1])
})
