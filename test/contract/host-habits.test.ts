import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { ProviderConfig } from '../../src/config-file.ts'
import { at, startTestGateway, type TestGateway } from '../support/gateway.ts'

// Differences of providers' answers from OpenAI's: each test has a host with the difference, and the real
// gateway reads it.

const prices = { input_per_million: '10', cached_input_per_million: '1', output_per_million: '20' }
let app: TestGateway
beforeAll(async () => {
  app = await startTestGateway({
    providers: (url) => [
      ...['groq', 'deepseek', 'mistral', 'xai', 'deepinfra'].map((preset): ProviderConfig => ({
        preset,
        base_url: `${url}/p/${preset}/v1`,
        api_key: 'any',
        weight: 1,
        discover: false,
        only_models: true,
        models: [{ id: `${preset}/model`, upstream: 'gpt-4o-mini', prices }],
      })),
      {
        preset: 'perplexity',
        base_url: `${url}/p/perplexity/v1`,
        api_key: 'any',
        weight: 1,
        discover: false,
        models: [
          {
            id: 'perplexity/vectors',
            upstream: 'text-embedding-3-small',
            modality: 'embedding',
            prices: { input_per_million: '1' },
          },
        ],
      },
    ],
  })
})
afterAll(() => app.stop())

const messages = [{ role: 'user', content: 'Say hello' }]
const thoughts = 'The request is short, so a short answer will do.'

/** The answer of a host with these habits as a caller gets it: text, thoughts and usage. */
async function told(host: string, fault: string, stream: boolean) {
  await app.admin(`faults?mount=${host}`, [{ fault }])
  const { status, text, json } = await app.post('/chat/completions', {
    model: `${host}/model`,
    messages,
    stream,
  })
  expect([host, status]).toEqual([host, 200])
  if (!stream) {
    const message = at(json, 'choices.0.message')
    return { said: at(message, 'content'), thought: at(message, 'reasoning'), usage: json['usage'] }
  }
  const chunks = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line): unknown => JSON.parse(line.slice('data: '.length)))
  const joined = (name: string) => chunks.map((chunk) => at(chunk, `choices.0.delta.${name}`) ?? '').join('')
  return {
    said: joined('content'),
    thought: joined('reasoning'),
    usage: chunks
      .map((chunk) => at(chunk, 'usage'))
      .findLast((usage) => usage !== undefined && usage !== null),
  }
}

// 7 tokens of input, 3 of them cached: 4 × 10 + 3 × 1, and 5 of output at 20 millionths of a USD.
const counted = {
  prompt_tokens: 7,
  completion_tokens: 5,
  total_tokens: 12,
  prompt_tokens_details: { cached_tokens: 3 },
  cost: 0.000143,
}

test('Groq tells the usage of a stream in a member of its own', async () => {
  const { usage } = await told('groq', 'x_groq,usage=missing,cached_tokens=3,tokens=5', true)
  expect(usage).toMatchObject(counted)
})

test('DeepSeek sends blank lines while a call waits, and tells what its cache had', async () => {
  for (const stream of [false, true]) {
    const { said, usage } = await told(
      'deepseek',
      'blank_lines,comments,usage=cache_hits,cached_tokens=3,tokens=5',
      stream,
    )
    expect(String(said).length).toBeGreaterThan(0)
    expect({ stream, usage }).toMatchObject({ stream, usage: counted })
  }
})

test('Mistral sends its thoughts as parts of the content, and misspells what its cache had', async () => {
  for (const stream of [false, true]) {
    const { said, thought, usage } = await told(
      'mistral',
      'thinking_parts,text=Hello.,usage=misspelt,cached_tokens=3',
      stream,
    )
    expect([stream, said, thought]).toEqual([stream, 'Hello.', thoughts])
    expect(at(usage, 'prompt_tokens_details.cached_tokens')).toBe(3)
  }
})

test('xAI and DeepInfra leave thinking out of the output count, and it is still paid', async () => {
  for (const host of ['xai', 'deepinfra']) {
    for (const stream of [false, true]) {
      const { usage } = await told(host, 'usage=excludes_reasoning,reasoning_tokens=50,tokens=5', stream)
      // 7 × 10 and 55 × 20 millionths.
      expect({ host, stream, usage }).toMatchObject({
        host,
        stream,
        usage: {
          prompt_tokens: 7,
          completion_tokens: 55,
          total_tokens: 62,
          completion_tokens_details: { reasoning_tokens: 50 },
          cost: 0.00117,
        },
      })
    }
  }
})

test('Perplexity has only vectors of signed bytes, which callers get in the encoding that they ask for', async () => {
  await app.admin('faults?mount=perplexity', [{ fault: 'int8' }])
  const ask = async (encoding: string) => {
    const body = {
      model: 'perplexity/vectors',
      input: ['water', 'fire'],
      dimensions: 64,
      encoding_format: encoding,
    }
    const { status, json } = await app.post('/embeddings', body)
    expect(status).toBe(200)
    return [0, 1].map((index) => at(json, `data.${index}.embedding`))
  }
  const floats = (await ask('float')) as number[][]
  for (const vector of floats) {
    expect(vector).toHaveLength(64)
    expect(vector.every((value) => Number.isInteger(value) && Math.abs(value) <= 127)).toBe(true)
    // A vector of length 1 in steps of 1/127.
    const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
    expect(Math.abs(length / 127 - 1)).toBeLessThan(0.05)
  }
  expect(floats[0]).not.toEqual(floats[1])
  const packed = (await ask('base64')) as string[]
  const unpacked = packed.map((text) => {
    const bytes = Buffer.from(text, 'base64')
    return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4))
  })
  expect(unpacked).toEqual(floats)
})

test('without the habits the same hosts are read as OpenAI', async () => {
  for (const host of ['groq', 'deepseek', 'mistral', 'xai', 'deepinfra']) {
    const { usage } = await told(host, 'cached_tokens=3,tokens=5', false)
    expect({ host, usage }).toMatchObject({ host, usage: counted })
  }
})
