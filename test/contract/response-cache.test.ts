import { afterAll, expect, test } from 'bun:test'
import { type Answer, at, readAnswer, startTestGateway, type TestRequest, until } from '../support/gateway.ts'

// Reference 5.7 of the public contract and its additions of April 2026, a sentence at a time. The expectations are
// written by hand from there. The simulator answers an equal call with equal text, so what tells a hit from a miss are
// the headers, the ledger and the simulator's count of requests.

const gateway = await startTestGateway()
afterAll(() => gateway.stop())

const on = { 'x-openrouter-cache': 'true' }
const model = 'openai/gpt-4o-mini'
let count = 0

/** A body that no other test sends. */
const fresh = (change: Record<string, unknown> = {}): Record<string, unknown> => {
  count += 1
  return { model, messages: [{ role: 'user', content: `say number ${count}` }], ...change }
}

const post = (path: string, body: unknown, headers: Record<string, string> = {}, more: TestRequest = {}) =>
  gateway.post(path, body, { headers, ...more })

const chat = (body: unknown, headers: Record<string, string> = on, more: TestRequest = {}) =>
  post('/chat/completions', body, headers, more)

const cacheOf = ({ headers }: Answer) => headers.get('x-openrouter-cache-status')

const requestsSeen = async (): Promise<number> => {
  const { requests } = await gateway.admin('counters')
  return Array.isArray(requests) ? requests.length : Number(requests)
}

/** Raw JSON, so that white space and the order of members are the test's own. */
const chatRaw = async (text: string): Promise<Answer> =>
  readAnswer(
    await gateway.gateway.fetch(
      new Request('http://gateway.test/v1/chat/completions', {
        method: 'POST',
        headers: { ...on, authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: text,
      }),
    ),
  )

test('is off by default, and for every other word than true', async () => {
  const body = fresh()
  for (const headers of [{}, { 'x-openrouter-cache': 'false' }, { 'x-openrouter-cache': '1' }]) {
    for (const answer of [await chat(body, headers), await chat(body, headers)])
      for (const name of ['status', 'age', 'ttl', 'source-id'])
        expect(answer.headers.get(`x-openrouter-cache-${name}`)).toBeNull()
  }
  expect(cacheOf(await chat(body))).toBe('MISS')
})

test('an equal call is a hit: free, zeroed usage, a new generation id, the same answer, no request to the provider', async () => {
  const body = fresh()
  const first = await chat(body)
  expect(cacheOf(first)).toBe('MISS')
  expect(first.headers.get('x-openrouter-cache-ttl')).toBe('300')
  expect(first.headers.get('x-openrouter-cache-age')).toBeNull()
  expect(first.headers.get('x-openrouter-cache-source-id')).toBeNull()
  const seen = await requestsSeen()
  const second = await chat(body)
  expect(await requestsSeen()).toBe(seen)
  expect(cacheOf(second)).toBe('HIT')
  expect(Number(second.headers.get('x-openrouter-cache-age'))).toBeLessThan(30)
  expect(second.headers.get('x-openrouter-cache-ttl')).toBe('300')
  expect(second.headers.get('x-openrouter-cache-source-id')).toBe(String(first.json['id']))
  expect(second.json['id']).not.toBe(first.json['id'])
  expect(second.json['id']).toBe(second.headers.get('x-generation-id'))
  expect(at(second.json, 'choices')).toEqual(at(first.json, 'choices'))
  expect(second.json['model']).toBe(first.json['model'])
  const numbers: number[] = []
  JSON.stringify(second.json['usage'], (_, value: unknown) => {
    if (typeof value === 'number') numbers.push(value)
    return value
  })
  expect(numbers.length).toBeGreaterThan(5)
  expect(new Set(numbers)).toEqual(new Set([0]))
  expect(Object.keys(second.json['usage'] as object)).toEqual(Object.keys(first.json['usage'] as object))
  expect(Number(at(first.json, 'usage.cost'))).toBeGreaterThan(0)
})

test('a hit is a generation of its own in the ledger, at no cost, which names its source', async () => {
  const body = fresh({ session_id: 'a session', user: 'a user' })
  const source = await chat(body)
  const hit = await chat(body)
  expect(cacheOf(hit)).toBe('HIT')
  const { json } = await until(
    () => gateway.get(`/generation?id=${String(hit.json['id'])}`),
    ({ status }) => status === 200,
  )
  expect(json['data']).toMatchObject({
    id: hit.json['id'],
    model,
    total_cost: 0,
    usage: 0,
    tokens_prompt: 0,
    tokens_completion: 0,
    response_cache_source_id: source.json['id'],
    finish_reason: 'stop',
    session_id: 'a session',
    external_user: 'a user',
    provider_responses: [],
  })
  const first = await gateway.get(`/generation?id=${String(source.json['id'])}`)
  expect(first.json['data']).not.toHaveProperty('response_cache_source_id')
})

test('created is the time of the hit', async () => {
  const body = fresh()
  const first = await chat(body)
  await Bun.sleep(1_100)
  const second = await chat(body)
  expect(cacheOf(second)).toBe('HIT')
  expect(Number(second.json['created'])).toBeGreaterThan(Number(first.json['created']))
  expect(Number(second.headers.get('x-openrouter-cache-age'))).toBeGreaterThanOrEqual(1)
})

test('a key, the model, the endpoint, the streaming mode and the body tell calls apart', async () => {
  const body = fresh()
  expect(cacheOf(await chat(body))).toBe('MISS')
  const key = await gateway.addKey()
  expect(cacheOf(await chat(body, on, { key }))).toBe('MISS')
  expect(cacheOf(await chat(body, on, { key }))).toBe('HIT')
  expect(cacheOf(await chat({ ...body, model: 'openai/gpt-4o' }))).toBe('MISS')
  expect(cacheOf(await post('/messages', { ...body, max_tokens: 9 }, on))).toBe('MISS')
  expect(cacheOf(await chat({ ...body, max_tokens: 9 }))).toBe('MISS')
  expect(cacheOf(await chat({ ...body, stream: true }))).toBe('MISS')
  expect(cacheOf(await chat({ ...body, temperature: 0 }))).toBe('MISS')
  expect(cacheOf(await chat(body))).toBe('HIT')
})

test('the order of members counts and white space does not, but within texts', async () => {
  count += 1
  const messages = `[{"role":"user","content":"a  b \\" ${count}"}]`
  expect(cacheOf(await chatRaw(`{"model":"${model}","messages":${messages}}`))).toBe('MISS')
  expect(cacheOf(await chatRaw(`\n{ "model" :\t"${model}",\r\n "messages": ${messages} } `))).toBe('HIT')
  expect(cacheOf(await chatRaw(`{"messages":${messages},"model":"${model}"}`))).toBe('MISS')
  expect(cacheOf(await chatRaw(`{"model":"${model}","messages":${messages.replace('a  b', 'a b')}}`))).toBe(
    'MISS',
  )
})

test('a time to live is clamped to 1 to 86400 seconds, read from leading digits, 300 without any', async () => {
  for (const [given, told] of [
    ['60', '60'],
    ['60abc', '60'],
    ['0', '1'],
    ['999999', '86400'],
    ['abc', '300'],
    ['', '300'],
    ['12.7', '12'],
  ] as const) {
    const answer = await chat(fresh(), { ...on, 'x-openrouter-cache-ttl': given })
    expect([given, answer.headers.get('x-openrouter-cache-ttl')]).toEqual([given, told])
  }
})

test('an answer is not given again after its time', async () => {
  const body = fresh()
  const short = { ...on, 'x-openrouter-cache-ttl': '1' }
  expect(cacheOf(await chat(body, short))).toBe('MISS')
  expect(cacheOf(await chat(body, short))).toBe('HIT')
  await Bun.sleep(1_100)
  expect(cacheOf(await chat(body, short))).toBe('MISS')
})

test('Clear forgets the answer, and the new one is kept', async () => {
  const body = fresh()
  const first = await chat(body)
  const cleared = await chat(body, { ...on, 'x-openrouter-cache-clear': 'true' })
  expect(cacheOf(cleared)).toBe('MISS')
  const third = await chat(body)
  expect(cacheOf(third)).toBe('HIT')
  expect(third.headers.get('x-openrouter-cache-source-id')).toBe(String(cleared.json['id']))
  expect(cleared.json['id']).not.toBe(first.json['id'])
})

test('only answers with 200 are kept', async () => {
  const body = fresh({ model: 'nobody/nothing' })
  for (const answer of [await chat(body), await chat(body)]) {
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(cacheOf(answer)).toBeNull()
  }
  const failing = fresh()
  const content = String(at(failing, 'messages.0.content'))
  await gateway.admin('faults', { rules: [{ match: { body_contains: content }, fault: 'status=500' }] })
  expect((await chat(failing)).status).toBeGreaterThanOrEqual(500)
  await gateway.admin('faults', { rules: [] })
  expect(cacheOf(await chat(failing))).toBe('MISS')
})

/** The text deltas of a chat's stream. */
const deltasOf = (text: string): unknown[] =>
  text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: {'))
    .map((frame) => at(JSON.parse(frame.slice('data: '.length)), 'choices.0.delta'))

test('a hit of a stream replays the same chunks with a new id and no usage', async () => {
  const body = fresh({ stream: true })
  const first = await chat(body)
  const second = await chat(body)
  expect([cacheOf(first), cacheOf(second)]).toEqual(['MISS', 'HIT'])
  expect(second.headers.get('content-type')).toBe('text/event-stream')
  expect(deltasOf(second.text)).toEqual(deltasOf(first.text))
  expect(deltasOf(second.text).length).toBeGreaterThan(3)
  const [one, two] = [first, second].map(({ headers }) => headers.get('x-generation-id') ?? '')
  expect(first.text).toContain(`"id":"${one}"`)
  expect(second.text).toContain(`"id":"${two}"`)
  expect(second.text).not.toContain(one ?? '')
  expect(second.text).toContain('data: [DONE]')
  expect(second.text).toContain('"prompt_tokens":0,"completion_tokens":0,"total_tokens":0')
  expect(second.text).not.toMatch(/"cost":(?!0[,}])/)
})

test('a stream that broke off, or whose caller left, is not kept', async () => {
  const broken = fresh({ stream: true })
  const content = String(at(broken, 'messages.0.content'))
  await gateway.admin('faults', { rules: [{ match: { body_contains: content }, fault: 'cut_after=3' }] })
  await chat(broken).catch(() => null)
  await gateway.admin('faults', { rules: [] })
  expect(cacheOf(await chat(broken))).toBe('MISS')
  const left = fresh({ stream: true })
  const response = await gateway.request('/chat/completions', { method: 'POST', body: left, headers: on })
  const reader = response.body?.getReader()
  await reader?.read()
  await reader?.cancel()
  await Bun.sleep(300)
  expect(cacheOf(await chat(left))).toBe('MISS')
})

test('responses, messages, embeddings and calls of tools are kept too, whole and as streams', async () => {
  const tools = [
    { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } },
  ]
  const asked = fresh()
  const content = String(at(asked, 'messages.0.content'))
  const calls: [string, Record<string, unknown>][] = [
    ['/chat/completions', fresh({ tools, tool_choice: 'required' })],
    ['/responses', { model, input: content }],
    ['/responses', { model, input: content, stream: true }],
    ['/messages', fresh({ max_tokens: 20 })],
    ['/messages', fresh({ max_tokens: 20, stream: true })],
    ['/embeddings', { model: 'openai/text-embedding-3-small', input: content }],
  ]
  for (const [path, body] of calls) {
    const first = await post(path, body, on)
    const second = await post(path, body, on)
    expect([path, first.status, cacheOf(first), cacheOf(second)]).toEqual([path, 200, 'MISS', 'HIT'])
    const id = second.headers.get('x-generation-id') ?? ''
    expect(second.text).toContain(id)
    expect(second.text).not.toContain(first.headers.get('x-generation-id') ?? '-')
    expect(second.text).not.toContain('time of')
    expect(second.text).not.toMatch(
      /"(?:cost|input_tokens|output_tokens|prompt_tokens|total_tokens)":(?!0[,}])/,
    )
    if (body['stream'] !== true) expect(JSON.parse(second.text)).toBeObject()
  }
})

test('what is not listed is not kept', async () => {
  const completion = { model: 'openai/gpt-3.5-turbo-instruct', prompt: 'say' }
  for (const answer of [
    await post('/completions', completion, on),
    await post('/completions', completion, on),
  ])
    expect(cacheOf(answer)).toBeNull()
})

test('is off under zero data retention, of the organization, the key or the call', async () => {
  const strict = await gateway.addOrganization({ policy: { enforce_zdr: true } })
  for (const [body, more] of [
    [fresh(), { key: strict.key }],
    [fresh({ provider: { zdr: true } }), {}],
  ] as const)
    for (const answer of [await chat(body, on, more), await chat(body, on, more)]) {
      expect(answer.status).toBe(200)
      expect(cacheOf(answer)).toBeNull()
    }
})

test('two organizations never share', async () => {
  const other = await gateway.addOrganization()
  const body = fresh()
  expect(cacheOf(await chat(body))).toBe('MISS')
  expect(cacheOf(await chat(body, on, { key: other.key }))).toBe('MISS')
})

test('calls at the same time are not joined', async () => {
  const body = fresh()
  const answers = await Promise.all([chat(body), chat(body), chat(body)])
  expect(answers.map(cacheOf)).toEqual(['MISS', 'MISS', 'MISS'])
  expect(cacheOf(await chat(body))).toBe('HIT')
})

test('router metadata is never on a hit', async () => {
  const body = fresh()
  const headers = { ...on, 'x-openrouter-metadata': 'enabled' }
  expect((await chat(body, headers)).json).toHaveProperty('openrouter_metadata')
  const hit = await chat(body, headers)
  expect(cacheOf(hit)).toBe('HIT')
  expect(hit.json).not.toHaveProperty('openrouter_metadata')
})

test('a hit is free for a caller without credits, and the call itself is refused', async () => {
  const poor = await gateway.addOrganization({ credits: '0.001' })
  const body = fresh({ max_tokens: 10 })
  expect(cacheOf(await chat(body, on, { key: poor.key }))).toBe('MISS')
  const before = await gateway.get('/credits', { key: poor.managementKey })
  expect(cacheOf(await chat(body, on, { key: poor.key }))).toBe('HIT')
  const after = await gateway.get('/credits', { key: poor.managementKey })
  expect(after.json).toEqual(before.json)
})
