import { afterAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import {
  at,
  customProvider,
  startTestGateway,
  until,
  type Answer,
  type TestGateway,
} from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// Legacy `POST /completions`: passed unchanged to providers that have it, else sent as a conversation of one
// turn.

const upstream = startScriptedUpstream()
const stopped: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const stop of stopped) await stop()
  await upstream.stop()
})

const prices = { input_per_million: '2', output_per_million: '10' }

async function start(options: Parameters<typeof startTestGateway>[0] = {}): Promise<TestGateway> {
  const gateway = await startTestGateway({
    providers: (url) => [
      {
        preset: 'vllm',
        base_url: `${upstream.url}/v1`,
        weight: 1,
        discover: false,
        models: [
          { id: 'own/base', modality: 'language', prices },
          { id: 'own/both', modality: 'language', prices },
        ],
      },
      {
        ...customProvider(`${url}/v1`, [
          { id: 'acme/chat', upstream: 'gpt-4o-mini', modality: 'language', prices },
          { id: 'own/both', upstream: 'gpt-4o-mini', modality: 'language', prices },
        ]),
        api_key: 'key-1',
      },
      {
        preset: 'openai',
        base_url: `${url}/p/maker/v1`,
        api_key: 'key-1',
        weight: 1,
        discover: false,
        models: [{ id: 'openai/gpt-3.5-turbo-instruct', modality: 'language' }],
      },
      {
        preset: 'anthropic',
        base_url: `${url}/v1`,
        api_key: 'key-1',
        weight: 1,
        discover: false,
        models: [{ id: 'anthropic/claude-sonnet-4-5' }],
      },
    ],
    ...options,
  })
  stopped.push(() => gateway.stop())
  return gateway
}

const gateway = await start()
const ask = (change: Record<string, unknown> = {}, on: TestGateway = gateway): Promise<Answer> =>
  on.post('/completions', { model: 'own/base', prompt: 'The headrace', max_tokens: 20, ...change })

const usage = { prompt_tokens: 4, completion_tokens: 3, total_tokens: 7 }
const whole = {
  id: 'cmpl-1',
  object: 'text_completion',
  created: 7,
  model: 'base-7',
  choices: [
    {
      index: 0,
      text: ' of a mill',
      logprobs: { tokens: [' of'], text_offset: [12] },
      finish_reason: 'length',
    },
  ],
  usage,
}
const chunks = [
  { ...whole, choices: [{ index: 0, text: ' of a', logprobs: null, finish_reason: null }], usage: null },
  { ...whole, choices: [{ index: 0, text: ' mill', logprobs: null, finish_reason: 'stop' }], usage: null },
  { ...whole, choices: [], usage },
]
const streamOf = (frames: readonly unknown[], end = 'data: [DONE]\n\n') =>
  new Response(`${frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('')}${end}`, {
    headers: { 'content-type': 'text/event-stream' },
  })

/** The same in two pieces, the first of which is on its way before the second is written. */
function slowly(quick: Response, waitMs = 100): Response {
  const pieces = new ReadableStream({
    async start(controller) {
      const [first = '', ...rest] = (await quick.text()).split('\n\n')
      controller.enqueue(new TextEncoder().encode(`${first}\n\n`))
      await Bun.sleep(waitMs)
      controller.enqueue(new TextEncoder().encode(rest.join('\n\n')))
      controller.close()
    },
  })
  return new Response(pieces, { headers: quick.headers })
}

function answerNatively(): void {
  upstream.seen.length = 0
  upstream.answer(({ body }) => (body.includes('"stream":true') ? streamOf(chunks) : Response.json(whole)))
}

function framesOf(text: string): Record<string, unknown>[] {
  const data = text.split('\n\n').flatMap((frame) => (frame.startsWith('data: {') ? [frame.slice(6)] : []))
  return data.map((json) => JSON.parse(json) as Record<string, unknown>)
}

async function rowOf(answer: Answer): Promise<Record<string, unknown>> {
  const { json } = await until(
    () => gateway.get(`/generation?id=${answer.headers.get('x-generation-id')}`),
    ({ status }) => status === 200,
  )
  return at(json, 'data') as Record<string, unknown>
}

describe('at a provider that has it', () => {
  test('passes unchanged, without the gateway’s own members, and costs the counted tokens', async () => {
    answerNatively()
    const more = { prompt: ['a', 'b'], echo: true, logprobs: 2, best_of: 2, stop: ['x'], top_k: 4 }
    const answer = await ask({ ...more, provider: { sort: 'price' }, session_id: 's' })
    expect(answer.status).toBe(200)
    expect(JSON.parse(upstream.seen[0]?.body ?? '')).toEqual({ model: 'base', max_tokens: 20, ...more })
    expect(upstream.seen[0]?.path).toBe('/v1/completions')
    expect(answer.json).toEqual({
      ...whole,
      id: answer.headers.get('x-generation-id'),
      created: expect.any(Number),
      model: 'own/base',
      provider: 'vLLM',
      usage: {
        ...usage,
        cost: 0.000038,
        cost_details: {
          upstream_inference_cost: 0.000038,
          upstream_inference_prompt_cost: 0.000008,
          upstream_inference_completions_cost: 0.00003,
        },
        is_byok: false,
      },
    })
    // 4 × 2,000 and 3 × 10,000 nanocredits.
    expect(await rowOf(answer)).toMatchObject({
      api_type: 'completions',
      finish_reason: 'length',
      headrace: { cost_nanocredits: '38000', is_estimated: false },
    })
  })

  test('takes token numbers', async () => {
    answerNatively()
    expect((await ask({ prompt: [1, 2, 3] })).status).toBe(200)
    expect((await ask({ prompt: [[1, 2], [3]] })).status).toBe(200)
    expect(JSON.parse(upstream.seen[1]?.body ?? '')['prompt']).toEqual([[1, 2], [3]])
  })

  test('streams, with usage and cost in the last frame before the end', async () => {
    answerNatively()
    const answer = await ask({ stream: true })
    expect(JSON.parse(upstream.seen[0]?.body ?? '')['stream_options']).toEqual({ include_usage: true })
    const frames = framesOf(answer.text)
    expect(frames.map((frame) => at(frame, 'choices.0.text'))).toEqual([' of a', ' mill'])
    expect(frames[0]).toMatchObject({ object: 'text_completion', model: 'own/base', provider: 'vLLM' })
    expect(frames[0]?.['usage']).toBeUndefined()
    expect(frames[1]).toMatchObject({ usage: { ...usage, cost: 0.000038 } })
    expect(answer.text).toEndWith('data: [DONE]\n\n')
    expect(await rowOf(answer)).toMatchObject({ streamed: true, headrace: { cost_nanocredits: '38000' } })
  })

  test('that breaks a stream off causes an error inside the stream', async () => {
    const first = new TextEncoder().encode(`data: ${JSON.stringify(chunks[0])}\n\n`)
    const broken = () =>
      new ReadableStream({
        async start(controller) {
          controller.enqueue(first)
          await Bun.sleep(100)
          controller.close()
        },
      })
    upstream.answer(() => new Response(broken(), { headers: { 'content-type': 'text/event-stream' } }))
    const answer = await ask({ stream: true })
    const frames = framesOf(answer.text)
    expect(at(frames[0], 'choices.0.text')).toBe(' of a')
    expect(frames.at(-1)).toMatchObject({ error: { code: 502 }, choices: [{ finish_reason: 'error' }] })
    upstream.answer(() => streamOf([{ error: { message: 'no room', code: 503 } }]))
    expect((await ask({ stream: true })).text).toContain('"error"')
  })

  const named = { id: 'x-1', created: 7, model: 'base-7' }
  const piece = (member: Record<string, unknown>, index = 0, reason: string | null = null) => ({
    ...named,
    choices: [{ index, ...member, finish_reason: reason }],
  })
  test.each([
    ['/completions', { prompt: 'The headrace' }, { text: ' of a mill' }, 'choices.0.text'],
    [
      '/chat/completions',
      { messages: [{ role: 'user', content: 'The headrace' }] },
      { delta: { content: ' of a mill' } },
      'choices.0.delta.content',
    ],
  ] as const)(
    'a stream that its provider breaks off costs nothing; a caller who leaves pays for the shown part: %s',
    async (path, asked, member, at0) => {
      const apart = await gateway.addOrganization({ credits: '1' })
      const balance = async () => {
        const { json } = await gateway.get('/credits', { key: apart.managementKey })
        return [at(json, 'data.total_credits'), at(json, 'data.total_usage')]
      }
      const body = { model: 'own/base', max_tokens: 20, stream: true, ...asked }
      const begun = piece(member)
      const both = [piece(member, 0, 'stop'), piece(member, 1)]
      // Without any finish reason, with only `[DONE]`, and with one of two choices still open.
      const broken: [readonly unknown[], string][] = [
        [[begun], ''],
        [[begun], 'data: [DONE]\n\n'],
        [[begun, ...both], ''],
      ]
      for (const [frames, end] of broken) {
        upstream.answer(() => slowly(streamOf(frames, end)))
        const answer = await gateway.post(path, body, { key: apart.key })
        const shown = framesOf(answer.text)
        expect(at(shown[0], at0)).toBe(' of a mill')
        expect(shown.at(-1)).toMatchObject({ error: { code: 502 } })
      }
      expect(await balance()).toEqual([1, 0])

      // The provider’s word for the end is its usage here, as some servers do it.
      upstream.answer(() => streamOf([begun, { ...named, choices: [], usage }]))
      const ended = framesOf((await gateway.post(path, body, { key: apart.key })).text)
      expect(ended.at(-1)).toMatchObject({ choices: [{ finish_reason: 'stop' }], usage: { cost: 0.000038 } })
      expect(await balance()).toEqual([1, 0.000038])

      upstream.answer(() => slowly(streamOf([begun, ...both]), 60_000))
      const leaving = await gateway.request(path, { method: 'POST', body, key: apart.key })
      const reader = leaving.body?.getReader()
      await reader?.read()
      await reader?.cancel()
      await until(balance, ([, spent]) => Number(spent) > 0.000038)
    },
  )

  test.each([
    ['whole, as a text', () => Response.json({ ...whole, error: 'quota' })],
    ['whole, as an object', () => Response.json({ ...whole, error: { message: 'quota' } })],
    ['in a stream, as a text', () => streamOf([{ ...named, error: 'quota' }, ...chunks])],
    ['in a stream, as an object', () => streamOf([{ ...named, error: { message: 'quota' } }, ...chunks])],
    ['a text that is none', () => streamOf([piece({ text: { a: 1 } }), ...chunks])],
    [
      'an index that is none',
      () => streamOf([{ ...named, choices: [{ index: 'a', text: 'b' }] }, ...chunks]),
    ],
  ])('whose answer says that it failed, or cannot be read, is not paid: %s', async (what, reply) => {
    const apart = await gateway.addOrganization({ credits: '1' })
    upstream.answer(reply)
    const body = {
      model: 'own/base',
      prompt: 'The headrace',
      max_tokens: 20,
      stream: !what.startsWith('whole'),
    }
    const answer = await gateway.post('/completions', body, { key: apart.key })
    expect(answer.text).toContain('"error"')
    const { json } = await gateway.get('/credits', { key: apart.managementKey })
    expect(at(json, 'data.total_usage')).toBe(0)
  })

  test('that leaves out an index, a text or a sum is completed', async () => {
    const counted = { prompt_tokens: 4, completion_tokens: 3 }
    const bare = { ...named, choices: [{ text: null, finish_reason: 'stop' }] }
    upstream.answer(() => streamOf([chunks[0], bare, { ...named, choices: [], usage: counted }]))
    const frames = framesOf((await ask({ stream: true })).text)
    expect(frames.at(-1)).toMatchObject({
      choices: [{ index: 0, text: '', finish_reason: 'stop' }],
      usage: { ...counted, total_tokens: 7 },
    })
  })

  test('that counts nothing is estimated', async () => {
    upstream.answer(() => Response.json({ ...whole, usage: null }))
    const answer = await ask()
    expect(at(answer.json, 'usage.completion_tokens')).toBeGreaterThan(0)
    expect((await rowOf(answer))['headrace']).toMatchObject({ is_estimated: true })
  })

  test.each([
    ['that is no JSON', '{'],
    ['without choices', '{"choices":[]}'],
    ['of a chat', '{"choices":[{"message":{}}]}'],
  ])('and answers %s is a bad gateway', async (_, body) => {
    upstream.answer(() => new Response(body))
    expect((await ask()).status).toBe(502)
  })
})

describe('at OpenAI', () => {
  const model = 'openai/gpt-3.5-turbo-instruct'

  test('a model of completions is asked as its caller asks, whole and streamed', async () => {
    const more = { model, prompt: ['Say a', 'Say b'], n: 2, echo: true, logprobs: 1, max_tokens: 4 }
    const answered = await ask(more)
    expect([answered.status, at(answered.json, 'choices.3.index')]).toEqual([200, 3])
    expect(at(answered.json, 'choices.3.text')).toStartWith('Say b')
    expect(at(answered.json, 'choices.0.logprobs.tokens')).toHaveLength(4)
    // 2 × 2 tokens of prompt and 4 × 4 of text, at 1.50 and 2.00 USD for a million.
    expect(at(answered.json, 'usage')).toMatchObject({
      prompt_tokens: 4,
      completion_tokens: 16,
      cost: 0.000038,
    })
    const streamed = framesOf((await ask({ ...more, stream: true })).text)
    for (const index of [0, 1, 2, 3]) {
      const pieces = streamed.flatMap((frame) => (at(frame, 'choices.0.index') === index ? [frame] : []))
      const text = pieces.map((frame) => at(frame, 'choices.0.text')).join('')
      expect(text).toBe(String(at(answered.json, `choices.${index}.text`)))
      expect(at(pieces.at(-1), 'choices.0.finish_reason')).toBe('length')
    }
    expect(streamed.at(-1)).toMatchObject({ usage: { cost: 0.000038 } })
  })

  test('what the provider refuses is told, by the member that the caller sent', async () => {
    const { status, json } = await ask({ model, best_of: 2, n: 3 })
    expect(status).toBe(400)
    expect(at(json, 'error.message')).toContain('best_of')
    const fault = { match: { path: '/completions' }, fault: 'cut_after=2' }
    await gateway.admin('faults', { mount: 'maker', rules: [fault] })
    const broken = framesOf((await ask({ model, stream: true })).text)
    expect(broken.at(-1)).toMatchObject({ error: { code: 502 } })
  })
})

describe('at a provider that has only conversations', () => {
  test.each(['acme/chat', 'anthropic/claude-sonnet-4-5'])('one text is a turn: %s', async (model) => {
    for (const prompt of ['Say hello', ['Say hello']]) {
      const answer = await ask({ model, prompt, max_tokens: 40, temperature: 0.5, stop: 'zzz' })
      expect(answer.json['error']).toBeUndefined()
      expect(answer.json).toMatchObject({ object: 'text_completion', model })
      expect(String(at(answer.json, 'choices.0.text')).length).toBeGreaterThan(0)
      expect(at(answer.json, 'choices.0.finish_reason')).toBe('stop')
      expect(at(answer.json, 'usage.cost')).toBeGreaterThan(0)
    }
  })

  test.each(['acme/chat', 'anthropic/claude-sonnet-4-5'])(
    'what no format knows is listed: %s',
    async (model) => {
      const unknown = { unknown_x: 1, reasoning_effort: 'low', tools: [] }
      const { status, json } = await ask({ model, prompt: 'Say hello', ...unknown })
      expect(status).toBe(200)
      expect(at(json, 'headrace_metadata.dropped')).toEqual(expect.arrayContaining(Object.keys(unknown)))
    },
  )

  test('streams the same words', async () => {
    const wholeAnswer = await ask({ model: 'acme/chat', prompt: 'Say hello' })
    const streamed = await ask({ model: 'acme/chat', prompt: 'Say hello', stream: true })
    const frames = framesOf(streamed.text)
    const text = frames.map((frame) => at(frame, 'choices.0.text') ?? '').join('')
    expect(text).toBe(String(at(wholeAnswer.json, 'choices.0.text')))
    expect(frames.at(-1)).toMatchObject({
      object: 'text_completion',
      choices: [{ finish_reason: 'stop' }],
      usage: { cost: at(wholeAnswer.json, 'usage.cost') },
    })
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['several prompts', { prompt: ['a', 'b'] }, 'prompt'],
    ['token numbers', { prompt: [1, 2] }, 'prompt'],
    ['rows of token numbers', { prompt: [[1, 2]] }, 'prompt'],
    ['suffix', { suffix: 'end' }, 'suffix'],
    ['echo', { echo: true }, 'echo'],
    ['best_of', { best_of: 2 }, 'best_of'],
    ['logprobs', { logprobs: 1 }, 'logprobs'],
  ])('%s is refused by name', async (_, change, param) => {
    const { status, json } = await ask({ model: 'acme/chat', ...change })
    expect([status, at(json, 'error.param')]).toEqual([400, param])
    expect(at(json, 'error.message')).toContain('legacy completions')
  })

  test('what asks for nothing is no wish', async () => {
    const nothing = { suffix: null, echo: false, best_of: 1, logprobs: null }
    expect((await ask({ model: 'acme/chat', ...nothing })).status).toBe(200)
  })

  test('a call that a conversation cannot say goes to the provider that can', async () => {
    answerNatively()
    for (let round = 0; round < 4; round += 1) {
      const answer = await ask({ model: 'own/both', echo: true })
      expect([answer.status, answer.json['provider']]).toEqual([200, 'vLLM'])
    }
  })
})

describe('a request', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['no model', { model: undefined }, 'model'],
    ['no prompt', { prompt: undefined }, 'prompt'],
    ['an empty list of prompts', { prompt: [] }, 'prompt'],
    ['an empty row of token numbers', { prompt: [[]] }, 'prompt[0]'],
    ['a prompt that is an object', { prompt: {} }, 'prompt'],
    ['a mixed list', { prompt: ['a', 1] }, 'prompt[1]'],
    ['max_tokens of 0', { max_tokens: 0 }, 'max_tokens'],
    ['n of 0', { n: 0 }, 'n'],
    ['best_of of 21', { best_of: 21 }, 'best_of'],
    ['logprobs of 6', { logprobs: 6 }, 'logprobs'],
    ['a temperature of 3', { temperature: 3 }, 'temperature'],
    ['a stream that is a word', { stream: 'yes' }, 'stream'],
  ])('with %s is refused by name', async (_, change, param) => {
    const { status, json } = await ask(change)
    expect(status).toBe(400)
    expect(json['error']).toMatchObject({ code: 400, error_type: 'invalid_request' })
    expect(String(at(json, 'error.param'))).toStartWith(param)
  })

  test('holds what all its answers may cost: two prompts, best of three, twenty tokens each', async () => {
    answerNatively()
    // 2 × 3 × 20 × 10,000 nanocredits and a few for the prompts.
    const change = { prompt: ['a', 'b'], best_of: 3, max_tokens: 20 }
    const poor = await start({ credits: '0.0012' })
    const refused = await ask(change, poor)
    expect(refused.status).toBe(402)
    expect(at(refused.json, 'error.message')).toContain('with max_tokens at most 19')
    expect(upstream.seen).toEqual([])
    expect((await ask({ ...change, max_tokens: 19 }, poor)).status).toBe(200)
  })

  test('is no item of a batch', async () => {
    const { status, json } = await gateway.post('/batches', {
      endpoint: '/v1/completions',
      model: 'own/base',
      requests: [{ custom_id: 'a', body: { prompt: 'x' } }],
    })
    expect([status, at(json, 'error.param')]).toEqual([400, 'endpoint'])
  })
})

test('the official client reads it, whole and streamed, at both addresses', async () => {
  answerNatively()
  for (const base of ['http://gateway.test/api/v1', 'http://gateway.test/openai/v1']) {
    const client = new OpenAI({
      apiKey: gateway.key,
      baseURL: base,
      maxRetries: 0,
      fetch: (input, init) => gateway.gateway.fetch(new Request(String(input), init)),
    })
    const answer = await client.completions.create({ model: 'own/base', prompt: 'The headrace' })
    expect(answer.choices[0]?.text).toBe(' of a mill')
    let text = ''
    const stream = await client.completions.create({ model: 'acme/chat', prompt: 'Say hello', stream: true })
    for await (const chunk of stream) text += chunk.choices[0]?.text ?? ''
    expect(text.length).toBeGreaterThan(0)
  }
})
