import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../json.ts'
import { at, simulatorForTests } from '../testing.ts'

const simulator = simulatorForTests()
const key = { 'x-goog-api-key': 'test-key', authorization: undefined }
const said = (text: string) => ({ contents: [{ role: 'user', parts: [{ text }] }] })
const weather = {
  functionDeclarations: [
    {
      name: 'get_weather',
      description: 'Weather',
      parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } },
    },
    { name: 'get_time', description: 'Time' },
  ],
}

interface More {
  model?: string
  fault?: string
  method?: string
  headers?: Record<string, string | undefined>
}

/** The address of `v1beta`, which is beside the `v1` of all other paths. */
const pathOf = (model: string, method: string) => `beta/models/${model}:${method}`

function ask(
  body: JsonObject,
  { model = 'gemini-2.5-flash', fault = '', method = 'generateContent', headers = key }: More = {},
) {
  return simulator.post(pathOf(model, method), { body, fault, headers })
}

async function stream(body: JsonObject, more: More = {}): Promise<JsonObject[]> {
  const { text } = await ask(body, { ...more, method: 'streamGenerateContent?alt=sse' })
  return text
    .split('\n\n')
    .filter((each) => each !== '')
    .map((each) => JSON.parse(each.replace(/^data: /, '')) as JsonObject)
}

const partsOf = (wire: JsonObject) => (at(wire, 'candidates.0.content.parts') ?? []) as JsonObject[]

describe('contents', () => {
  test('are answered whole, with thoughts counted apart from the text', async () => {
    const { json } = await ask(said('Say hello'))
    expect(partsOf(json)).toMatchObject([{ text: 'Hello! You said: "Say hello". How can I help?' }])
    expect(json).toMatchObject({
      candidates: [{ finishReason: 'STOP', index: 0 }],
      usageMetadata: {
        promptTokenCount: 3,
        candidatesTokenCount: 12,
        thoughtsTokenCount: 16,
        totalTokenCount: 31,
      },
      modelVersion: 'gemini-2.5-flash',
    })
  })

  test('show thoughts when the request asks for them, streamed piece by piece', async () => {
    const config = { generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 4 } } }
    const frames = await stream({ ...said('Say hello'), ...config })
    const parts = frames.flatMap(partsOf)
    const textOf = (isThought: boolean) =>
      parts
        .filter((part) => (part['thought'] === true) === isThought)
        .map(({ text }) => text)
        .join('')
    expect(textOf(true)).toBe('The request is short, so a short answer will do.')
    expect(textOf(false)).toBe('Hello! You said: "Say hello". How can I help?')
    expect(frames.filter((frame) => at(frame, 'candidates.0.finishReason') !== undefined)).toHaveLength(1)
    expect(frames.at(-1)).toMatchObject({
      usageMetadata: { thoughtsTokenCount: 4, candidatesTokenCount: 12 },
    })
    expect(partsOf(frames.at(-1) ?? {})[0]).toMatchObject({ text: '', thoughtSignature: expect.any(String) })
  })

  test('are one JSON array when the request does not ask for events', async () => {
    const { text } = await ask(said('Say hello'), { method: 'streamGenerateContent' })
    expect(Array.isArray(JSON.parse(text))).toBe(true)
  })

  test('call tools without ids, with one signature, before the finish reason', async () => {
    const asked = { ...said('get weather and get time in Oslo'), tools: [weather] }
    const frames = await stream(asked, { model: 'gemini-3-pro-preview' })
    const calls = frames.flatMap(partsOf).filter((part) => part['functionCall'] !== undefined)
    expect(calls).toEqual([
      {
        functionCall: { name: 'get_weather', args: { city: 'Oslo' } },
        thoughtSignature: expect.any(String),
      },
      { functionCall: { name: 'get_time', args: {} } },
    ])
    expect(partsOf(frames.at(-1) ?? {})).toEqual([{ text: '' }])
  })

  test('give arguments value by value when the request asks for it', async () => {
    const toolConfig = { functionCallingConfig: { mode: 'ANY', streamFunctionCallArguments: true } }
    const frames = await stream({ ...said('get weather in Oslo'), tools: [weather], toolConfig })
    const calls = frames.flatMap(partsOf).flatMap(({ functionCall }) => functionCall ?? [])
    expect(calls).toEqual([
      { name: 'get_weather', willContinue: true },
      {
        partialArgs: [{ jsonPath: '$.city', stringValue: 'Os', willContinue: true }],
        willContinue: true,
      },
      { partialArgs: [{ jsonPath: '$.city', stringValue: 'lo' }], willContinue: true },
      {},
    ])
  })

  test('that are refused have no candidates', async () => {
    const { json } = await ask(said('Say hello'), { fault: 'refusal=No' })
    expect(json['candidates']).toBeUndefined()
    expect(json).toMatchObject({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } })
  })

  test('have as many candidates as the request asks for, with log probabilities of tokens', async () => {
    const generationConfig = { candidateCount: 2, responseLogprobs: true, logprobs: 1, maxOutputTokens: 20 }
    const { json } = await ask({ ...said('Say hello'), generationConfig })
    expect(json['candidates']).toHaveLength(2)
    expect(at(json, 'candidates.0.logprobsResult.chosenCandidates.0.token')).toBe('Hell')
  })
})

describe('a signature', () => {
  const model = 'gemini-3-pro-preview'
  const opening = said('get weather in Oslo')

  async function called() {
    const { json } = await ask({ ...opening, tools: [weather] }, { model })
    return partsOf(json)
  }
  const giveBack = (parts: readonly JsonObject[]) =>
    ask(
      {
        contents: [
          ...opening.contents,
          { role: 'model', parts },
          {
            role: 'user',
            parts: [{ functionResponse: { name: 'get_weather', response: { output: 'rain' } } }],
          },
        ],
        tools: [weather],
      },
      { model },
    )

  test('must come back with its call, unchanged', async () => {
    const parts = await called()
    const { status, json } = await giveBack(parts)
    expect([status, partsOf(json)[0]?.['text']]).toEqual([200, 'The tool answered: rain'])
    const without = parts.map(({ thoughtSignature: _removed, ...part }) => part)
    expect(at((await giveBack(without)).json, 'error.message')).toContain('thought_signature')
    const skipped = without.map((part) => ({ ...part, thoughtSignature: 'skip_thought_signature_validator' }))
    expect((await giveBack(skipped)).status).toBe(200)
    const moved = parts.map((part) => ({
      ...part,
      functionCall: { name: 'get_weather', args: { city: 'Rome' } },
    }))
    expect((await giveBack(moved)).status).toBe(400)
  })
})

describe('what is refused', () => {
  const schema = { responseMimeType: 'application/json', responseSchema: { $ref: '#/x' } }
  const model = { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] }
  const response = { functionResponse: { name: 'f', response: { output: '1' } } }
  const config = (generationConfig: JsonObject) => ({ ...said('x'), generationConfig })
  const refused: readonly [string, JsonObject, string, string?][] = [
    ['an unknown member', { ...said('x'), prompt: 'x' }, 'Unknown name "prompt"'],
    ['no contents', {}, 'contents'],
    ['another role', { contents: [{ role: 'assistant', parts: [{ text: 'x' }] }] }, 'valid role'],
    ['a part of nothing', { contents: [{ role: 'user', parts: [{}] }] }, 'oneof'],
    ['six texts to stop at', config({ stopSequences: ['1', '2', '3', '4', '5', '6'] }), 'stopSequences'],
    ['a level where budgets are', config({ thinkingConfig: { thinkingLevel: 'LOW' } }), 'level'],
    ['a budget beyond', config({ thinkingConfig: { thinkingBudget: 30_000 } }), 'budget'],
    [
      'not to think where it must',
      config({ thinkingConfig: { thinkingBudget: 0 } }),
      'budget',
      'gemini-2.5-pro',
    ],
    [
      'the least level where there is none',
      config({ thinkingConfig: { thinkingLevel: 'MINIMAL' } }),
      'MINIMAL',
      'gemini-3-pro-preview',
    ],
    [
      'thinking where there is none',
      config({ thinkingConfig: { thinkingBudget: 9 } }),
      'Thinking',
      'gemini-2.0-flash',
    ],
    [
      'JSON beside tools',
      { ...config({ responseMimeType: 'application/json' }), tools: [weather] },
      'mime type',
    ],
    ['a schema without its kind of answer', config({ responseSchema: schema }), 'mime type'],
    [
      'names without the mode for them',
      {
        ...said('x'),
        tools: [weather],
        toolConfig: { functionCallingConfig: { mode: 'AUTO', allowedFunctionNames: ['get_time'] } },
      },
      'ANY or VALIDATED',
    ],
    ['a call that nobody asked for', { contents: [model] }, 'immediately after'],
    [
      'a result too many',
      { contents: [...said('x').contents, model, { role: 'user', parts: [response, response] }] },
      'equal',
    ],
    [
      'a call without its result',
      { contents: [...said('x').contents, model, ...said('y').contents] },
      'equal',
    ],
    [
      'instructions for an open model',
      { ...said('x'), systemInstruction: { parts: [{ text: 'be brief' }] } },
      'Developer instruction',
      'gemma-3-27b-it',
    ],
    [
      'references in the older schemas',
      {
        ...said('x'),
        tools: [{ functionDeclarations: [{ name: 'f', description: '', parameters: { $ref: '#/x' } }] }],
      },
      '$ref',
    ],
  ]
  for (const [what, body, words, name = 'gemini-2.5-flash'] of refused) {
    test(what, async () => {
      const { status, json } = await ask(body, { model: name })
      expect([status, at(json, 'error.status')]).toEqual([400, 'INVALID_ARGUMENT'])
      expect(at(json, 'error.message')).toContain(words)
    })
  }

  test('an unknown model, a bad key, and a missing key', async () => {
    expect(await ask(said('x'), { model: 'gemini-9' })).toMatchObject({ status: 404 })
    const bad = await ask(said('x'), { headers: { ...key, 'x-goog-api-key': 'bad-key' } })
    expect([bad.status, at(bad.json, 'error.details.0.reason')]).toEqual([400, 'API_KEY_INVALID'])
    expect((await ask(said('x'), { headers: { authorization: undefined } })).status).toBe(403)
  })

  test('a limit, with the wait only in the body', async () => {
    const { status, headers, json } = await ask(said('x'), { fault: 'status=429;retry_after_ms=1500' })
    expect([status, headers.get('retry-after'), headers.get('retry-after-ms')]).toEqual([429, null, null])
    expect(at(json, 'error.details.0')).toMatchObject({ retryDelay: '1.5s' })
  })

  test('in the middle of a stream', async () => {
    const frames = await stream(said('Say hello'), { fault: 'error_chunk=2;type=overloaded_error' })
    expect(frames.at(-1)).toMatchObject({ error: { code: 503, status: 'UNAVAILABLE' } })
  })
})

describe('the rest of the API', () => {
  test('embeds a batch, and leaves cut vectors as short as they are', async () => {
    const request = {
      model: 'models/gemini-embedding-001',
      content: { parts: [{ text: 'x' }] },
      outputDimensionality: 8,
    }
    const options = { model: 'gemini-embedding-001', method: 'batchEmbedContents' }
    const { json } = await ask({ requests: [request, request] }, options)
    const values = at(json, 'embeddings.1.values') as number[]
    expect(values).toHaveLength(8)
    expect(values.reduce((sum, value) => sum + value * value, 0)).toBeLessThan(0.5)
    expect((await ask({ requests: [{ ...request, model: 'models/other' }] }, options)).status).toBe(400)
  })

  test('counts tokens, and lists models page by page', async () => {
    expect((await ask(said('Say hello'), { method: 'countTokens' })).json).toEqual({ totalTokens: 3 })
    const page = async (query: string) => {
      const response = await fetch(`${simulator.url()}/v1beta/models?${query}`, {
        headers: { 'x-goog-api-key': 'k' },
      })
      return (await response.json()) as { models: JsonObject[]; nextPageToken?: string }
    }
    const first = await page('pageSize=3')
    const second = await page(`pageSize=100&pageToken=${first.nextPageToken}`)
    expect(first.models).toHaveLength(3)
    expect(second.nextPageToken).toBeUndefined()
    expect(second.models.map(({ name }) => name)).toContain('models/gemini-embedding-001')
  })

  test('plays scripts, and keeps mounts apart', async () => {
    const turns = [{ thinking: 'Hm.', text: 'Scripted.', usage: { input_tokens: 50, cache_read_tokens: 20 } }]
    await simulator.admin('scripts', {
      mount: 'g',
      scripts: [{ match: { path: ':generateContent' }, turns }],
    })
    const response = await fetch(`${simulator.url('g')}/v1beta/models/gemini-2.5-flash:generateContent`, {
      method: 'POST',
      headers: { 'x-goog-api-key': 'k', 'content-type': 'application/json' },
      body: JSON.stringify(said('x')),
    })
    const json = (await response.json()) as JsonObject
    expect(partsOf(json)).toMatchObject([{ text: 'Hm.', thought: true }, { text: 'Scripted.' }])
    expect(json['usageMetadata']).toMatchObject({ promptTokenCount: 50, cachedContentTokenCount: 20 })
  })
})
