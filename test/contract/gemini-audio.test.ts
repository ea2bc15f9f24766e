import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { at, startTestGateway, toneWav, until } from '../support/gateway.ts'

// The provider speaks Google's format. Prices are those of 2.5 Flash: $0.30 a million tokens of text, $1 of sound, $2.50 said.

const gateway = await startTestGateway({
  credits: '50',
  providers: (url) => [
    {
      preset: 'google-ai-studio',
      base_url: `${url}/p/google/v1beta`,
      api_key: 'simulated-key',
      weight: 1,
      models: [
        {
          id: 'google/timed',
          upstream: 'gemini-3-pro-preview',
          audio: { word_times: true, diarize: true, keyterms: true },
        },
      ],
    },
  ],
})
afterAll(() => gateway.stop())
beforeEach(() => gateway.admin('faults', { mount: 'google', rules: [] }))

const model = 'google/gemini-2.5-flash'

const asked = (more: object = {}) => ({
  model,
  input_audio: { data: Buffer.from(toneWav(3)).toString('base64'), format: 'wav' },
  ...more,
})
const fault = (spec: string) => gateway.admin('faults', { mount: 'google', rules: [{ fault: spec }] })
/** The last request that the provider was sent. */
async function sentBody() {
  const counters = (await gateway.admin('counters?mount=google')) as {
    last_requests?: { body?: string }[]
  }
  return JSON.parse(counters.last_requests?.at(-1)?.body ?? '')
}
/** The files that remain at the provider. */
async function filesLeft(): Promise<unknown[]> {
  const headers = { 'x-goog-api-key': 'simulated-key' }
  const listed = await fetch(`${gateway.simulator.url}/p/google/v1beta/files`, { headers })
  return ((await listed.json()) as { files: unknown[] }).files
}

await gateway.admin('settings', { mount: 'google', recorded_body_bytes: 1_000_000 })

describe('a transcript of Gemini', () => {
  test('has the words, and the tokens of sound and of text at their prices', async () => {
    await fault('text=the%20tide%20is%20high')
    const { status, json } = await gateway.post(
      '/audio/transcriptions',
      asked({ response_format: 'verbose_json' }),
    )
    expect(status).toBe(200)
    expect(json).toMatchObject({
      task: 'transcribe',
      text: 'The tide is high.',
      language: 'en',
      duration: 3,
      segments: [{ id: 0, start: 0, end: 3, text: 'The tide is high.' }],
    })
    expect(json['words']).toBeUndefined()
    const usage = json['usage'] as Record<string, number>
    const [input = 0, output = 0] = [usage['input_tokens'], usage['output_tokens']]
    expect(usage['seconds']).toBe(3)
    // 3 seconds of sound are 96 tokens; the rest of the input is the instruction.
    const cost = ((input - 96) * 0.3 + 96 * 1 + output * 2.5) / 1_000_000
    expect(usage['cost']).toBeCloseTo(cost, 12)
    expect(output).toBeGreaterThan(5)
  })

  test('costs the same as JSON', async () => {
    await fault('text=the%20tide%20is%20high')
    const verbose = await gateway.post('/audio/transcriptions', asked({ response_format: 'verbose_json' }))
    const plain = await gateway.post('/audio/transcriptions', asked())
    expect(plain.json).toEqual({ text: 'The tide is high.', usage: at(verbose.json, 'usage') })
  })

  test('is asked without thoughts, and with nothing of the caller’s', async () => {
    await fault('scripted')
    await gateway.post('/audio/transcriptions', asked({ user: 'secret-user', session_id: 'secret-session' }))
    const body = await sentBody()
    expect(body.generationConfig.thinkingConfig).toEqual({ thinkingBudget: 0 })
    expect(JSON.stringify(body)).not.toContain('secret')
  })

  test('has no word times and no speakers, and refuses key terms', async () => {
    const verbose = { response_format: 'verbose_json' }
    for (const [field, more] of Object.entries({
      timestamp_granularities: { ...verbose, timestamp_granularities: ['word'] },
      diarize: { ...verbose, diarize: true },
      keyterms: { keyterms: ['Brest'] },
    })) {
      const { status, json } = await gateway.post('/audio/transcriptions', asked(more))
      expect([status, String(at(json, 'error.message'))]).toEqual([400, expect.stringContaining(field)])
    }
  })

  test('is a chat model in the list of models', async () => {
    const { json } = await gateway.get('/models?output_modalities=all')
    const found = (json['data'] as { id: string }[]).filter(({ id }) => id === model)
    expect(found).toHaveLength(1)
    const chat = await gateway.post('/chat/completions', {
      model,
      messages: [{ role: 'user', content: 'Say hello' }],
    })
    expect(chat.status).toBe(200)
  })

  test.each([
    ['refusal=No,scripted', 400, 'content policy'],
    ['finish=SAFETY,scripted', 400, 'content policy'],
    ['finish=MAX_TOKENS,scripted', 400, 'longer than the model may write'],
    ['finish=OTHER,scripted', 502, 'ended its answer without a reason'],
    ['text=x,malformed_json', 502, ''],
    ['status=429;retry_after=34', 429, '34 seconds'],
    ['overloaded', 529, 'overloaded'],
    ['status=500', 502, ''],
  ])('that fails by %s is %i', async (spec, expected, words) => {
    await fault(spec)
    const before = await gateway.get('/credits')
    const { status, json, headers } = await gateway.post('/audio/transcriptions', asked())
    expect([status, at(json, 'error.code')]).toEqual([expected, expected])
    expect(String(at(json, 'error.message'))).toContain(words)
    if (expected === 429) expect(headers.get('retry-after')).toBe('34')
    expect(at((await gateway.get('/credits')).json, 'data')).toEqual(at(before.json, 'data'))
  })
})

test('sound that is too large for one request is uploaded before it, and its file is removed', async () => {
  await fault('text=the%20tide%20is%20high')
  const form = new FormData()
  form.set('model', model)
  // 500 seconds are 16 MB, more than fit into a request of 20 MB as base64.
  form.set('file', new File([toneWav(500)], 'long.wav', { type: 'audio/wav' }))
  const response = await gateway.request('/audio/transcriptions', { method: 'POST', body: form })
  const json = (await response.json()) as Record<string, unknown>
  expect([response.status, json['text']]).toEqual([200, 'The tide is high.'])
  expect(at(json, 'usage.seconds')).toBe(500)
  // 16,000 tokens of sound at $1 a million, and the instruction.
  const input = Number(at(json, 'usage.input_tokens'))
  const cost = (16_000 + (input - 16_000) * 0.3 + Number(at(json, 'usage.output_tokens')) * 2.5) / 1_000_000
  expect(Number(at(json, 'usage.cost'))).toBeCloseTo(cost, 12)
  await until(filesLeft, (files) => files.length === 0)
})

test('a model that the operator configured with times gives words and speakers', async () => {
  await fault('text=high%20tide')
  const more = {
    model: 'google/timed',
    response_format: 'verbose_json',
    diarize: true,
    language: 'en',
    keyterms: ['Brest'],
  }
  const { status, json } = await gateway.post('/audio/transcriptions', asked(more))
  expect([status, json['text'], json['language']]).toEqual([200, 'High tide.', 'en'])
  expect(json['words']).toEqual([
    { word: 'High', start: 0, end: 1.5, speaker: 0, speaker_label: 'spk_1' },
    { word: 'tide.', start: 1.5, end: 3, speaker: 0, speaker_label: 'spk_1' },
  ])
  expect((await sentBody()).generationConfig.audioTranscriptionConfig).toEqual({
    languageCodes: ['en'],
    customVocabulary: ['Brest'],
    wordTimestamp: true,
    diarization: true,
  })
})

describe('speech of Gemini', () => {
  const speech = {
    model: 'google/gemini-2.5-flash-preview-tts',
    input: 'x'.repeat(50),
    voice: 'Kore',
    response_format: 'pcm',
  }
  const speak = (more: object = {}) =>
    gateway.request('/audio/speech', { method: 'POST', body: { ...speech, ...more } })

  test('is samples at 24,000 a second, billed by tokens of text and of sound', async () => {
    await fault('tone')
    const response = await speak()
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'audio/pcm;rate=24000;channels=1',
    ])
    // Fifty characters are three seconds of a tone: 75 tokens at $10 a million, and those of the text at $0.50.
    expect((await response.bytes()).length).toBe(144_000)
    const id = response.headers.get('x-generation-id')
    const { json } = await gateway.get(`/generation?id=${id}`)
    const usage = at(json, 'data') as Record<string, number>
    expect(usage['tokens_completion']).toBe(75)
    const cost = (75 * 10 + Number(usage['tokens_prompt']) * 0.5) / 1_000_000
    expect(usage['total_cost']).toBeCloseTo(cost, 12)
    const body = await sentBody()
    expect(body.generationConfig.speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName).toBe('Kore')
  })

  test('leaves with the first event of the provider', async () => {
    await fault('tone,chunk_delay=300')
    const response = await speak({ input: 'x'.repeat(100) })
    const reader = response.body?.getReader()
    const first = await reader?.read()
    expect(first?.value?.length).toBeLessThan(48_000)
    await reader?.cancel()
  })

  test.each([
    ['a speed', { speed: 1.5 }, 400, 'speed'],
    ['no voice', { voice: undefined }, 400, 'voice'],
    ['a voice that is none of Google’s', { voice: 'alloy' }, 400, 'voice'],
    [
      'a clip to speak like',
      { input_references: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }] },
      404,
      'input_references',
    ],
  ])('cannot have %s', async (_, more, expected, field) => {
    const response = await speak(more)
    const json = (await response.json()) as Record<string, unknown>
    expect([response.status, String(at(json, 'error.message'))]).toEqual([
      expected,
      expect.stringContaining(field),
    ])
  })

  test.each([
    ['refusal=No', 400, 'content policy'],
    ['finish=OTHER', 502, 'without a reason'],
    ['text=Hello', 502, 'words in place of sound'],
    ['cut_after=0', 502, ''],
    ['status=429;retry_after=34', 429, '34 seconds'],
    ['overloaded', 529, 'overloaded'],
  ])('that fails by %s is %i, and costs nothing', async (spec, expected, words) => {
    await fault(spec)
    const before = await gateway.get('/credits')
    const response = await speak()
    const json = (await response.json()) as Record<string, unknown>
    expect([response.status, at(json, 'error.code')]).toEqual([expected, expected])
    expect(String(at(json, 'error.message'))).toContain(words)
    expect(at((await gateway.get('/credits')).json, 'data')).toEqual(at(before.json, 'data'))
  })

  test('without a candidate is asked for once more', async () => {
    await gateway.admin('faults', { mount: 'google', rules: [{ fault: 'finish=OTHER', times: 1 }] })
    const response = await speak({ input: 'Hi' })
    expect(response.status).toBe(200)
    await response.bytes()
  })
})

test('a key that Google refuses with 400 is not the caller’s fault, and takes the deployment out', async () => {
  await fault('bad_key_400=gemini')
  const refused = await gateway.post('/audio/transcriptions', asked())
  expect([refused.status, String(at(refused.json, 'error.message'))]).toEqual([
    502,
    expect.stringContaining('credential'),
  ])
  expect((await gateway.post('/audio/transcriptions', asked())).status).toBe(503)
})
