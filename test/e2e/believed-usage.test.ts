import { afterAll, expect, test } from 'bun:test'
import { at, customProvider, startTestGateway, until } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// What a provider reports is charged as far as the call allowed it, in an answer and in a stream.

const upstream = startScriptedUpstream()
const gateway = await startTestGateway({
  credits: '0.05',
  providers: () => [
    customProvider(upstream.url, [
      {
        id: 'acme/chat',
        upstream: 'chat',
        modality: 'language',
        prices: { input_per_million: '10', output_per_million: '20' },
      },
    ]),
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

function answerWith(usage: Record<string, unknown>): void {
  upstream.answer(({ body }) => {
    if (!body.includes('"stream":true')) {
      const message = { role: 'assistant', content: 'Certainly.' }
      return Response.json({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage })
    }
    const frames = [
      { choices: [{ index: 0, delta: { role: 'assistant', content: 'Certainly.' } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { choices: [], usage },
    ].map((frame) => `data: ${JSON.stringify(frame)}\n\n`)
    return new Response(`${frames.join('')}data: [DONE]\n\n`, {
      headers: { 'content-type': 'text/event-stream' },
    })
  })
}

/** What the caller is shown last, and what the ledger has. */
async function charged(request: Record<string, unknown>): Promise<{ text: string; row: unknown }> {
  const response = await gateway.request('/chat/completions', {
    method: 'POST',
    body: { model: 'acme/chat', messages: [{ role: 'user', content: 'Say yes.' }], ...request },
  })
  expect(response.status).toBe(200)
  const text = await response.text()
  const id = response.headers.get('x-generation-id') ?? ''
  const { json } = await until(
    () => gateway.get(`/generation?id=${id}`),
    ({ status }) => status === 200,
  )
  return { text, row: at(json, 'data') }
}

test.each([false, true])('output beyond the limit of the call is estimated (stream: %p)', async (stream) => {
  answerWith({ prompt_tokens: 11, completion_tokens: 128_001, total_tokens: 128_012 })
  const { text, row } = await charged({ max_tokens: 50, stream })
  expect(text).toContain('"completion_tokens":4,')
  expect(row).toMatchObject({
    tokens_completion: 4,
    headrace: { is_estimated: true, reported: { input_tokens: 11, output_tokens: 128_001 } },
  })
  expect(Number(at(row, 'total_cost'))).toBeLessThan(0.001)
})

test('a prompt of no tokens is estimated, and output within the limit is believed', async () => {
  answerWith({ prompt_tokens: 0, completion_tokens: 40, total_tokens: 40 })
  const { row } = await charged({ max_tokens: 50 })
  expect(row).toMatchObject({
    tokens_completion: 40,
    headrace: { is_estimated: true, reported: { input_tokens: 0, output_tokens: 40 } },
  })
  expect(Number(at(row, 'tokens_prompt'))).toBeGreaterThan(0)
})

test('what is believed stands alone', async () => {
  answerWith({ prompt_tokens: 11, completion_tokens: 50, total_tokens: 61 })
  const { row } = await charged({ max_tokens: 50 })
  expect(row).toMatchObject({
    tokens_completion: 50,
    total_cost: 0.00111,
    headrace: { is_estimated: false, reported: null },
  })
})

test('thinking that no hold covered is charged as far as there is money, and never takes a balance below zero', async () => {
  const priced = {
    modality: 'language' as const,
    prices: { input_per_million: '10', output_per_million: '20' },
  }
  const thinker = { id: 'acme/thinker', upstream: 'deepseek-r1', output_tokens_max: 128_000, ...priced }
  const poor = await startTestGateway({
    credits: '0.05',
    providers: () => [customProvider(upstream.url, [thinker])],
  })
  try {
    const usage = {
      prompt_tokens: 11,
      completion_tokens: 100_040,
      total_tokens: 100_051,
      completion_tokens_details: { reasoning_tokens: 100_000 },
    }
    answerWith(usage)
    const messages = [{ role: 'user', content: 'Say yes.' }]
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        poor.post('/chat/completions', {
          model: 'acme/thinker',
          max_tokens: 50,
          messages,
          stream: index % 3 === 0,
        }),
      ),
    )
    // Nobody is refused for what thinking might cost: only once the money is gone.
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(20)
    expect(answers.filter(({ status }) => status !== 200 && status !== 402)).toEqual([])
    const credits = await until(
      () => poor.get('/credits'),
      ({ json }) => Number(at(json, 'data.total_usage')) > 0.04,
    )
    expect(Number(at(credits.json, 'data.total_usage'))).toBeLessThanOrEqual(0.05)
    const rows = await Promise.all(
      answers
        .filter(({ status }) => status === 200)
        .map(({ headers }) => poor.get(`/generation?id=${headers.get('x-generation-id')}`)),
    )
    for (const { json } of rows) {
      // What was said is charged whole; of the thinking what there was money for, beside what was reported.
      expect(Number(at(json, 'data.tokens_completion'))).toBeGreaterThanOrEqual(40)
      expect(Number(at(json, 'data.total_cost'))).toBeLessThanOrEqual(0.05)
      expect(json).toMatchObject({
        data: {
          headrace: { is_estimated: true, reported: { output_tokens: 100_040, reasoning_tokens: 100_000 } },
        },
      })
    }
  } finally {
    await poor.stop()
  }
})

test('thinking beyond the limit of the call is charged whole where there is money', async () => {
  const priced = {
    modality: 'language' as const,
    prices: { input_per_million: '10', output_per_million: '20' },
  }
  const thinker = { id: 'acme/thinker', upstream: 'deepseek-r1', output_tokens_max: 128_000, ...priced }
  const rich = await startTestGateway({
    credits: '10',
    providers: () => [customProvider(upstream.url, [thinker])],
  })
  try {
    answerWith({
      prompt_tokens: 11,
      completion_tokens: 2_040,
      total_tokens: 2_051,
      completion_tokens_details: { reasoning_tokens: 2_000 },
    })
    const { json } = await rich.post('/chat/completions', {
      model: 'acme/thinker',
      max_tokens: 50,
      messages: [{ role: 'user', content: 'Say yes.' }],
    })
    expect(at(json, 'usage')).toMatchObject({ completion_tokens: 2_040, cost: 0.04091 })
    const credits = await rich.get('/credits')
    expect(at(credits.json, 'data.total_usage')).toBe(0.04091)
  } finally {
    await rich.stop()
  }
})
