import { afterAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { at, customProvider, startTestGateway, toneWav } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// Below /openai/v1 OpenAI's own defaults count, as its API reference has them; the specification's paths keep theirs.

const gateway = await startTestGateway()
const origin = gateway.listen().replace(/\/v1$/, '')
afterAll(() => gateway.stop())
const client = new OpenAI({ baseURL: `${origin}/openai/v1`, apiKey: gateway.key, maxRetries: 0 })

async function spoken(path: string, fields: Readonly<Record<string, unknown>>): Promise<Response> {
  return gateway.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'openai/tts-1', voice: 'alloy', input: 'High water at nine.', ...fields }),
  })
}

// The simulator makes only mp3, wav and pcm itself.
const hasConverter = Bun.which('ffmpeg') !== null
if (!hasConverter) console.warn('skipped: speech in opus, aac and flac needs ffmpeg')
const formats = [
  [{}, 'audio/mpeg', /^(ID3|\xff[\xe0-\xff])/],
  [{ response_format: 'wav' }, 'audio/wav', /^RIFF/],
  ...(hasConverter
    ? ([
        [{ response_format: 'opus' }, 'audio/opus', /^OggS/],
        [{ response_format: 'aac' }, 'audio/aac', /^\xff[\xf0-\xf9]/],
        [{ response_format: 'flac' }, 'audio/flac', /^fLaC/],
      ] as const)
    : []),
] as const

test('speech is mp3 where nobody says otherwise, and wav, opus, aac and flac where they are asked for', async () => {
  for (const [fields, contentType, begins] of formats) {
    const response = await spoken('//openai/v1/audio/speech', fields)
    const bytes = Buffer.from(await response.arrayBuffer()).toString('latin1')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, contentType])
    expect(bytes).toMatch(begins)
  }
})

test('the paths of the specification keep their formats: pcm by default, and mp3 or pcm by name', async () => {
  const plain = await spoken('/audio/speech', {})
  await plain.arrayBuffer()
  expect(plain.headers.get('content-type')).toBe('audio/pcm;rate=24000;channels=1')
  expect((await spoken('/audio/speech', { response_format: 'opus' })).status).toBe(400)
})

test('a format that no provider of the model makes is refused by name, with models that make it', async () => {
  const other = await startTestGateway({
    providers: (url) => [
      { preset: 'sandbox', base_url: `${url}/v1`, api_key: 'key', weight: 1, models: [] },
      { preset: 'cartesia', base_url: `${url}/cartesia`, api_key: 'key', weight: 1, models: [] },
    ],
  })
  const { data } = (await other.get('/models?output_modalities=speech')).json as { data: { id: string }[] }
  const model = data.find(({ id }) => id.startsWith('cartesia/'))?.id
  expect(model).toBeDefined()
  const { status, json } = await other.post('//openai/v1/audio/speech', {
    model,
    voice: 'leah',
    input: 'High water.',
    response_format: 'opus',
  })
  await other.stop()
  expect(status).toBe(400)
  expect(at(json, 'error.param')).toBe('response_format')
  expect(at(json, 'error.message')).toContain('such as openai/')
})

test('transcripts come as text, srt and vtt by response_format', async () => {
  const upstream = startScriptedUpstream()
  upstream.answer(() =>
    Response.json({
      text: 'High water at nine.',
      duration: 2,
      language: 'english',
      segments: [{ id: 0, start: 0, end: 2, text: 'High water at nine.' }],
    }),
  )
  const timed = {
    id: 'acme/ears',
    upstream: 'ears',
    modality: 'transcription' as const,
    audio: { verbose_json: true },
  }
  const heard = await startTestGateway({
    providers: () => [customProvider(upstream.url, [{ ...timed, prices: { audio_per_hour: '0.36' } }])],
  })
  const baseURL = heard.listen().replace(/\/v1$/, '/openai/v1')
  const listener = new OpenAI({ baseURL, apiKey: heard.key, maxRetries: 0 })
  const file = new File([toneWav(2)], 'tone.wav', { type: 'audio/wav' })
  const model = 'acme/ears'
  const text = await listener.audio.transcriptions.create({ file, model, response_format: 'text' })
  expect(text).toBe('High water at nine.\n')
  const srt = await listener.audio.transcriptions.create({ file, model, response_format: 'srt' })
  expect(srt).toMatch(/^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\n/)
  const vtt = await listener.audio.transcriptions.create({ file, model, response_format: 'vtt' })
  expect(vtt).toMatch(/^WEBVTT\n/)
  const verbose = await listener.audio.transcriptions.create({ file, model, response_format: 'verbose_json' })
  expect(verbose.duration).toBe(2)
  const json = await listener.audio.transcriptions.create({ file, model })
  expect(json.text).toBe('High water at nine.')
  await heard.stop()
  await upstream.stop()
})

test('errors have the type, param and code that clients of OpenAI look for', async () => {
  const unknown = await client.chat.completions
    .create({ model: 'gpt-nought', messages: [{ role: 'user', content: 'Hi' }] })
    .catch((error: unknown) => error)
  expect(unknown).toBeInstanceOf(OpenAI.APIError)
  expect(unknown).toMatchObject({ type: 'invalid_request_error', param: 'model', code: 'model_not_found' })
  const nowhere = await client.get('/nope').catch((error: unknown) => error)
  expect(nowhere).toMatchObject({ status: 404, type: 'invalid_request_error' })
  const anonymous = new OpenAI({ baseURL: client.baseURL, apiKey: 'sk-nobody', maxRetries: 0 })
  const refused = await anonymous.models.list().catch((error: unknown) => error)
  expect(refused).toMatchObject({ status: 401, code: 'invalid_api_key' })
  const wrong = await client.audio.speech
    .create({ model: 'openai/tts-1', voice: 'alloy', input: 'Hi', speed: 9 })
    .catch((error: unknown) => error)
  expect(wrong).toMatchObject({ status: 400, type: 'invalid_request_error', param: 'speed' })
})

test('chat, streams, responses, embeddings and models are the same handlers', async () => {
  const messages = [{ role: 'user' as const, content: 'Say hello' }]
  const answer = await client.chat.completions.create({ model: 'gpt-4o-mini', messages })
  expect(answer.choices[0]?.message.content?.length).toBeGreaterThan(0)
  let streamed = ''
  for await (const chunk of await client.chat.completions.create({
    model: 'gpt-4o-mini',
    messages,
    stream: true,
  }))
    streamed += chunk.choices[0]?.delta.content ?? ''
  expect(streamed.length).toBeGreaterThan(0)
  const response = await client.responses.create({ model: 'gpt-4o-mini', input: 'Say hello' })
  expect(response.output_text.length).toBeGreaterThan(0)
  const embedded = await client.embeddings.create({ model: 'text-embedding-3-small', input: 'tide' })
  expect(embedded.data[0]?.embedding.length).toBeGreaterThan(0)
  const listed: string[] = []
  for await (const model of client.models.list()) listed.push(model.id)
  expect(listed).toContain('openai/gpt-4o-mini')
  expect((await client.models.retrieve('openai/gpt-4o-mini')).id).toBe('openai/gpt-4o-mini')
})
