import { afterAll, describe, expect, test } from 'bun:test'
import { parseCredits } from '../../src/core/money.ts'
import { createPublicFetch } from '../../src/transport/public-fetch.ts'
import {
  at,
  customProvider,
  startTestGateway,
  until,
  type Answer,
  type TestGateway,
} from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// Usage beyond the hold is charged as far as a balance or a limit covers it at that moment. No report of a
// provider takes a balance below zero, and the operator's loss is counted.

const upstream = startScriptedUpstream()
const stopped: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const stop of stopped) await stop()
  await upstream.stop()
})

const messages = [{ role: 'user', content: 'x' }]
/**
 * Four times the estimated 10 tokens of the messages, and 4,096: the largest count that is believed for such a
 * prompt.
 */
const lie = { prompt_tokens: 4_136, completion_tokens: 4, total_tokens: 4_140 }
/** 4,136 × 3 + 4 × 15 millionths. */
const lieCosts = 0.012468

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

async function start(
  credits: string | null,
  options: Parameters<typeof startTestGateway>[0] = {},
): Promise<TestGateway> {
  const gateway = await startTestGateway({
    ...(credits === null ? {} : { credits }),
    providers: () => [
      customProvider(upstream.url, [
        {
          id: 'acme/chat',
          modality: 'language',
          prices: { input_per_million: '3', output_per_million: '15' },
        },
        {
          id: 'acme/small',
          modality: 'language',
          context_length: 8_000,
          prices: { input_per_million: '3', output_per_million: '15' },
        },
      ]),
    ],
    ...options,
  })
  stopped.push(() => gateway.stop())
  return gateway
}

const ask = (gateway: TestGateway, change: Record<string, unknown> = {}): Promise<Answer> =>
  gateway.post('/chat/completions', { model: 'acme/chat', max_tokens: 10, messages, ...change })

/** The rest of the balance, once the given amount was charged. */
async function leftOf(gateway: TestGateway, isThere: (used: number) => boolean): Promise<number> {
  const { json } = await until(
    () => gateway.get('/credits'),
    (answer) => isThere(Number(at(answer.json, 'data.total_usage'))),
  )
  return Number(at(json, 'data.total_credits')) - Number(at(json, 'data.total_usage'))
}

async function rowOf(gateway: TestGateway, { headers, status }: Answer): Promise<unknown> {
  expect(status).toBe(200)
  const path = `/generation?id=${headers.get('x-generation-id')}`
  const { json } = await until(
    () => gateway.get(path),
    (answer) => answer.status === 200,
  )
  return at(json, 'data')
}

describe('a prepaid balance', () => {
  test.each([false, true])('of 0.0017 does not go to −0.0108 (stream: %p)', async (stream) => {
    answerWith(lie)
    const gateway = await start('0.0017')
    const row = await rowOf(gateway, await ask(gateway, { stream }))
    expect(row).toMatchObject({ headrace: { is_estimated: true, reported: { input_tokens: 4_136 } } })
    // The whole balance, except for less than the price of a token.
    expect(await leftOf(gateway, (used) => used > 0.0016)).toBeWithin(0, 0.000003)
    expect((await ask(gateway)).status).toBe(402)
  })

  test('of 0.05 is not taken to −0.324 by thirty streams', async () => {
    answerWith(lie)
    const gateway = await start('0.05')
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => ask(gateway, { stream: true, max_tokens: 50 })),
    )
    expect(answers.filter(({ status }) => status !== 200 && status !== 402)).toEqual([])
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(20)
    expect(await leftOf(gateway, (used) => used > 0.049)).toBeWithin(0, 0.001)
    const { text } = await gateway.get('//metrics', { key: null })
    const lost = Number(/^headrace_uncovered_credits_total (\S+)$/m.exec(text)?.[1])
    const calls = Number(/^headrace_uncovered_calls_total (\S+)$/m.exec(text)?.[1])
    const served = answers.filter(({ status }) => status === 200).length
    expect(lost + 0.05).toBeWithin(served * lieCosts - 0.001, served * lieCosts + 0.001)
    expect(calls).toBeWithin(20, 31)
  })

  test('of 0.4 is not taken below zero by 400 items of a batch', async () => {
    answerWith(lie)
    const gateway = await start('0.4')
    const body = { max_tokens: 50, messages }
    const created = await gateway.post('/batches', {
      endpoint: '/v1/chat/completions',
      model: 'acme/chat',
      requests: Array.from({ length: 400 }, (_, index) => ({ custom_id: `item-${index}`, body })),
    })
    expect(created.status).toBe(202)
    expect(await leftOf(gateway, (used) => used > 0.399)).toBeWithin(0, 0.0011)
    // No further amount can be spent, whatever calls are still running.
    await Bun.sleep(500)
    expect(await leftOf(gateway, () => true)).toBeWithin(0, 0.0011)
  }, 60_000)

  test('pays all counted tokens if it covers them, and is not asked twice for the held amount', async () => {
    answerWith({ prompt_tokens: 73_842, completion_tokens: 4, total_tokens: 73_846 })
    // 73,842 × 3 + 4 × 15 millionths; 32,000 tokens of it and the output were set aside.
    const gateway = await start('0.222')
    const content = [{ type: 'file', file: { file_id: 'file-abc' } }]
    const row = await rowOf(gateway, await ask(gateway, { messages: [{ role: 'user', content }] }))
    expect(row).toMatchObject({ total_cost: 0.221586, headrace: { is_estimated: false, reported: null } })
  })

  test('pays all counted tokens of an item of a batch, beyond the budget of the batch', async () => {
    answerWith({ prompt_tokens: 73_842, completion_tokens: 4, total_tokens: 73_846 })
    const gateway = await start('0.45')
    const content = [{ type: 'file', file: { file_id: 'file-abc' } }]
    const created = await gateway.post('/batches', {
      endpoint: '/v1/chat/completions',
      model: 'acme/chat',
      requests: ['one', 'two'].map((id) => ({
        custom_id: id,
        body: { max_tokens: 10, messages: [{ role: 'user', content }] },
      })),
    })
    expect(created.status).toBe(202)
    const ended = await until(
      () => gateway.get(`/batches/${String(created.json['id'])}`),
      ({ json }) => json['status'] === 'completed',
    )
    expect(at(ended.json, 'usage.cost')).toBe(0.443172)
    expect(await leftOf(gateway, (used) => used > 0.44)).toBeCloseTo(0.006828, 9)
  }, 30_000)
})

describe('besides a balance', () => {
  test('the limit of a key is not exceeded by what a provider counts', async () => {
    answerWith(lie)
    const gateway = await start(null)
    const key = await gateway.addKey({ limitNanocredits: parseCredits('0.0017') })
    const asked = { method: 'POST', key, body: { model: 'acme/chat', max_tokens: 10, messages } }
    expect((await gateway.request('/chat/completions', asked)).status).toBe(200)
    const { json } = await until(
      () => gateway.get('/key', { key }),
      (answer) => Number(at(answer.json, 'data.usage')) > 0.0016,
    )
    expect(Number(at(json, 'data.limit_remaining'))).toBeWithin(0, 0.000003)
  })

  test('an account without a balance or a limit is charged every possible count', async () => {
    answerWith(lie)
    const gateway = await start(null)
    const row = await rowOf(gateway, await ask(gateway))
    expect(row).toMatchObject({ total_cost: lieCosts, headrace: { is_estimated: false, reported: null } })
  })
})

describe('input that cannot be counted before a call', () => {
  const content = [{ type: 'file', file: { file_id: 'file-abc' } }]
  const withFile = { messages: [{ role: 'user', content }] }
  const uncounted: readonly (readonly [what: string, request: Record<string, unknown>])[] = [
    ['a file by id', withFile],
    ['an address', imageOf('https://example.com/a.png')],
    ['a document', fileOf('data:application/pdf;base64,JVBERi0=')],
    ['a tool of the provider', { tools: [{ type: 'openrouter:web_search' }] }],
    ['a search', { web_search_options: {} }],
  ]

  function imageOf(url: string): Record<string, unknown> {
    return { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] }
  }
  function fileOf(file_data: string): Record<string, unknown> {
    return {
      messages: [{ role: 'user', content: [{ type: 'file', file: { filename: 'a.pdf', file_data } }] }],
    }
  }

  test.each(uncounted)('holds 32,000 tokens in addition: %s', async (_, request) => {
    answerWith({ prompt_tokens: 50, completion_tokens: 4, total_tokens: 54 })
    const gateway = await start('0.09')
    const refused = await ask(gateway, request)
    expect(refused.status).toBe(402)
    const { needed, available } = at(refused.json, 'error.metadata') as Record<string, number>
    // 32,000 × 3 millionths, with the text and the output besides.
    expect(needed).toBeWithin(0.096, 0.11)
    expect(available).toBe(0.09)
    // Input that the request itself has can be counted.
    expect((await ask(gateway)).status).toBe(200)
    expect((await ask(gateway, imageOf('data:image/png;base64,iVBORw0='))).status).toBe(200)
  })

  test('holds at most the context of the model', async () => {
    answerWith({ prompt_tokens: 50, completion_tokens: 4, total_tokens: 54 })
    const gateway = await start('0.03')
    // 8,000 × 3 millionths are 0.024.
    expect((await ask(gateway, { ...withFile, model: 'acme/small' })).status).toBe(200)
    const poor = await start('0.02')
    expect((await ask(poor, { ...withFile, model: 'acme/small' })).status).toBe(402)
  })

  test('holds the number of tokens that the operator sets', async () => {
    answerWith({ prompt_tokens: 50, completion_tokens: 4, total_tokens: 54 })
    const gateway = await start('0.01', { uncountedInputTokens: 1_000 })
    expect((await ask(gateway, withFile)).status).toBe(200)
    const none = await start('0.001', { uncountedInputTokens: 0 })
    expect((await ask(none, withFile)).status).toBe(200)
  })

  test('is held for an item of a batch too, and the refusal names the needed amount', async () => {
    const gateway = await start('0.09')
    const created = await gateway.post('/batches', {
      endpoint: '/v1/chat/completions',
      model: 'acme/chat',
      requests: [{ custom_id: 'one', body: { max_tokens: 10, ...withFile } }],
    })
    expect(created.status).toBe(402)
    expect(at(created.json, 'error.metadata.available')).toBe(0.09)
  })
})

describe('a balance and sound', () => {
  test('a transcript is charged as far as the balance covers the length that its provider reports', async () => {
    const fetchAny = createPublicFetch({ allowedHosts: ['sound.example'] })
    const gateway = await start('0.12', {
      providers: () => [
        {
          preset: 'groq',
          api_key: 'a-key-of-the-test',
          base_url: `${upstream.url}/v1`,
          weight: 1,
          discover: false,
          models: [
            {
              id: 'groq/ears',
              upstream: 'whisper-large-v3',
              modality: 'transcription',
              prices: { audio_per_hour: '0.1' },
            },
          ],
        },
      ],
      hooks: {
        writeLog: () => undefined,
        publicFetch: Object.assign(fetchAny.bind(null), {
          check: async (address: string) => ({ url: address, isConfigured: false }),
        }),
      },
    })
    // A day of sound, for which an hour was set aside.
    upstream.answer(() => Response.json({ text: 'Hello.', language: 'en', duration: 86_400, segments: [] }))
    const answer = await gateway.post('/audio/transcriptions', {
      model: 'groq/ears',
      response_format: 'verbose_json',
      input_audio: { url: 'https://sound.example/talk.wav', format: 'wav' },
    })
    expect(await rowOf(gateway, answer)).toMatchObject({ headrace: { is_estimated: true } })
    expect(await leftOf(gateway, (used) => used > 0.1)).toBeWithin(0, 0.001)
  })

  test('speech is charged as far as the balance covers the characters that its provider reports', async () => {
    const gateway = await start('0.012', {
      providers: () => [
        {
          preset: 'elevenlabs',
          api_key: 'a-key-of-the-test',
          base_url: upstream.url,
          weight: 1,
          discover: false,
          models: [
            {
              id: 'elevenlabs/voice',
              upstream: 'eleven_flash_v2_5',
              modality: 'speech',
              prices: { characters_per_million: '100' },
            },
          ],
        },
      ],
    })
    // Of 100 characters up to 500 are believed.
    const headers = { 'content-type': 'audio/pcm', 'character-cost': '500' }
    upstream.answer(() => new Response(new Uint8Array(4_800), { headers }))
    const answer = await gateway.request('/audio/speech', {
      method: 'POST',
      body: { model: 'elevenlabs/voice', voice: 'abc', input: 'x'.repeat(100), response_format: 'pcm' },
    })
    expect(`${answer.status} ${answer.status === 200 ? '' : await answer.clone().text()}`).toBe('200 ')
    await answer.arrayBuffer()
    expect(await leftOf(gateway, (used) => used > 0.009)).toBeWithin(0, 0.0001)
  })
})
