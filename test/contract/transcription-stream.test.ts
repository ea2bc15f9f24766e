import { afterAll, expect, test } from 'bun:test'
import type { ProviderConfig } from '../../src/config-file.ts'
import { at, sandboxProvider, startTestGateway, toneWav, until } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// `stream: true`: OpenAI's events for a transcript that is made as a whole, the comments while it is made, and
// the form of a failure before and after the head has gone out.

const upstream = startScriptedUpstream()
const heard = {
  text: 'Open the gate.',
  duration: 2,
  language: 'english',
  segments: [
    { id: 0, start: 0, end: 1, text: ' Open', speaker: 'A' },
    { id: 1, start: 1, end: 2, text: ' the gate.', speaker: 'B' },
  ],
}
const keepAliveMs = 300
const acme: Partial<ProviderConfig> = {
  preset: 'custom',
  id: 'acme',
  base_url: upstream.url,
  discover: false,
  weight: 1,
  models: [
    {
      id: 'acme/ears',
      modality: 'transcription',
      prices: { audio_per_minute: '0.06' },
      audio: { verbose_json: true, word_times: true, diarize: true },
    },
  ],
}
const gateway = await startTestGateway({
  hooks: { keepAliveMs, writeLog: () => undefined },
  providers: (url) => [
    sandboxProvider(url, acme),
    sandboxProvider(upstream.url, {
      preset: 'openai',
      base_url: upstream.url,
      discover: false,
      models: [
        {
          id: 'openai/gpt-4o-mini-transcribe',
          modality: 'transcription',
          prices: { input_per_million: '1', input_audio_per_million: '1', output_per_million: '10' },
        },
        { id: 'openai/whisper-1', modality: 'transcription', prices: { audio_per_minute: '0.06' } },
      ],
    }),
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const wav = toneWav(2)
const asked = {
  model: 'acme/ears',
  stream: true,
  input_audio: { data: Buffer.from(wav).toString('base64'), format: 'wav' },
}

/** The data of the events, and the comments between them. */
function read(text: string): { events: Record<string, unknown>[]; comments: number } {
  const blocks = text.split('\n\n').filter((block) => block !== '')
  const events = blocks.flatMap((block) =>
    block.startsWith('data: ') ? [JSON.parse(block.slice(6)) as Record<string, unknown>] : [],
  )
  return { events, comments: blocks.filter((block) => block.startsWith(': ')).length }
}

const usage = { cost: 0.002, input_tokens: 0, output_tokens: 0, total_tokens: 0, seconds: 2 }

test('the whole text comes as one delta and as done, with usage, cost and the call’s id', async () => {
  upstream.answer(() => Response.json(heard))
  const { status, text, headers } = await gateway.post('/audio/transcriptions', asked)
  expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  expect(headers.get('x-generation-id')).toStartWith('gen-stt-')
  expect(headers.get('x-provider-name')).toBe('acme')
  expect(read(text)).toEqual({
    events: [
      { type: 'transcript.text.delta', delta: 'Open the gate.' },
      { type: 'transcript.text.done', text: 'Open the gate.', usage },
    ],
    comments: 0,
  })
  const generation = await gateway.get(`/generation?id=${headers.get('x-generation-id') ?? ''}`)
  expect([generation.status, at(generation.json, 'data.total_cost')]).toEqual([200, 0.002])
})

test('a form may ask for events too, and `Accept` is then ignored', async () => {
  const form = new FormData()
  form.set('model', 'acme/ears')
  form.set('stream', 'true')
  form.set('file', new File([wav], 'clip.wav'))
  const { text } = await gateway.post('/audio/transcriptions', form, { headers: { accept: 'text/vtt' } })
  expect(read(text).events.map(({ type }) => type)).toEqual(['transcript.text.delta', 'transcript.text.done'])
  expect((await gateway.post('/audio/transcriptions', { ...asked, stream: 'yes' })).status).toBe(400)
  const whole = await gateway.post('/audio/transcriptions', { ...asked, stream: false })
  expect(whole.json['text']).toBe('Open the gate.')
})

test('verbose_json is in done, and segments are events of their own where speakers are told apart', async () => {
  const words = [
    { word: 'Open', start: 0, end: 1, speaker: 'A' },
    { word: 'the gate.', start: 1, end: 2, speaker: 'B' },
  ]
  upstream.answer(() => Response.json({ ...heard, words }))
  const verbose = { ...asked, response_format: 'verbose_json' }
  const plain = read((await gateway.post('/audio/transcriptions', verbose)).text).events
  expect(plain.map(({ type }) => type)).toEqual(['transcript.text.delta', 'transcript.text.done'])
  expect(plain.at(-1)).toMatchObject({ task: 'transcribe', language: 'en', duration: 2, usage })
  expect(plain.at(-1)?.['segments']).toHaveLength(2)
  const diarized = read(
    (await gateway.post('/audio/transcriptions', { ...verbose, diarize: true })).text,
  ).events
  expect(diarized.slice(1, -1)).toMatchObject([
    { type: 'transcript.text.segment', id: '0', start: 0, end: 1, text: 'Open' },
    { type: 'transcript.text.segment', id: '1', start: 1, end: 2, text: 'the gate.' },
  ])
  expect(diarized.at(-1)?.['words']).toHaveLength(2)
})

test('a failure before the first comment is the contract’s error with its status', async () => {
  upstream.answer(() => Response.json({ error: { message: 'no' } }, { status: 400 }))
  const { status, headers, json } = await gateway.post('/audio/transcriptions', asked)
  expect([status, at(json, 'error.code')]).toEqual([400, 400])
  expect(headers.get('content-type')).toContain('application/json')
  expect((await gateway.post('/audio/transcriptions', { ...asked, model: 'nobody/has-this' })).status).toBe(
    400,
  )
})

test('a caller who waits is shown comments, and the transcript when it is there', async () => {
  upstream.answer(async () => {
    await Bun.sleep(keepAliveMs * 6)
    return Response.json(heard)
  })
  const { status, text, headers } = await gateway.post('/audio/transcriptions', asked)
  const { events, comments } = read(text)
  expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  expect(comments).toBeGreaterThanOrEqual(2)
  expect(events.at(-1)).toEqual({ type: 'transcript.text.done', text: 'Open the gate.', usage })
  const id = headers.get('x-generation-id') ?? ''
  expect(at((await gateway.get(`/generation?id=${id}`)).json, 'data.total_cost')).toBe(0.002)
})

test('a failure after the head is an event with the contract’s envelope, and ends the stream without a charge', async () => {
  upstream.answer(async () => {
    await Bun.sleep(keepAliveMs * 2)
    return Response.json({ error: { message: 'no' } }, { status: 400 })
  })
  const { status, text, headers } = await gateway.post('/audio/transcriptions', asked)
  const { events } = read(text)
  expect([status, events.length]).toEqual([200, 1])
  expect(events[0]).toMatchObject({ type: 'error', error: { code: 400, error_type: 'invalid_request' } })
  expect(typeof at(events[0], 'error.message')).toBe('string')
  expect((await gateway.get(`/generation?id=${headers.get('x-generation-id') ?? ''}`)).status).toBe(404)
})

test('a caller who leaves ends the call at the provider, whole or streamed, waiting or not, and holds nothing', async () => {
  const url = gateway.listen()
  // Enough for one hold of 3 s at a time, so that one that is kept would refuse the next call.
  const poor = await gateway.addOrganization({ credits: '0.004' })
  for (const stream of [true, false]) {
    for (const leaveAfterMs of [keepAliveMs / 3, keepAliveMs * 3]) {
      let isAsked = false
      const { promise: ended, resolve: end } = Promise.withResolvers<void>()
      upstream.answer(async ({ signal }) => {
        isAsked = true
        signal.addEventListener('abort', () => end())
        await ended
        return Response.json(heard)
      })
      const leaving = new AbortController()
      const answer = fetch(`${url}/audio/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${poor.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...asked, stream }),
        signal: leaving.signal,
      }).then((response) => response.text())
      await until(async () => isAsked, Boolean)
      await Bun.sleep(leaveAfterMs)
      leaving.abort()
      await answer.catch(() => undefined)
      await ended
    }
  }
  upstream.answer(() => Response.json(heard))
  const { status } = await until(
    () => gateway.post('/audio/transcriptions', asked, { key: poor.key }),
    (answer) => answer.status !== 402,
  )
  expect(status).toBe(200)
})

test('4.3.e504b the time of a transcription is the operator’s to set, and then it is 504', async () => {
  upstream.answer(async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return Response.json(heard)
  })
  const hasty = await startTestGateway({
    hooks: { keepAliveMs: 60_000, writeLog: () => undefined },
    providers: (url) => [sandboxProvider(url, acme)],
    transcriptionMs: 1_000,
  })
  const { status, json } = await hasty.post('/audio/transcriptions', { ...asked, stream: false })
  expect([status, at(json, 'error.code')]).toEqual([504, 504])
  const streamed = await hasty.post('/audio/transcriptions', asked)
  await hasty.stop()
  expect([streamed.status, at(streamed.json, 'error.code')]).toEqual([504, 504])
})

/** Sends these events, each when it is let go. */
function eventsOf(
  events: readonly unknown[],
  pause: (index: number) => Promise<unknown> = () => Promise.resolve(),
): Response {
  let index = 0
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await pause(index)
      if (index >= events.length) return controller.close()
      controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(events[index++])}\n\n`))
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

const delta = (text: string) => ({ type: 'transcript.text.delta', delta: text })
const done = {
  type: 'transcript.text.done',
  text: 'Open the gate.',
  usage: {
    type: 'tokens',
    input_tokens: 20,
    output_tokens: 5,
    total_tokens: 25,
    input_token_details: { audio_tokens: 20 },
  },
}
const streaming = { ...asked, model: 'openai/gpt-4o-mini-transcribe' }

test('a provider that streams is asked for events, and each piece of the text goes out as it comes', async () => {
  let isFirstShown = () => {}
  const firstShown = new Promise<void>((resolve) => (isFirstShown = resolve))
  upstream.answer(() =>
    eventsOf([delta('Open'), delta(' the gate.'), done], (index) =>
      index === 1 ? firstShown : Promise.resolve(),
    ),
  )
  const response = await gateway.request('/audio/transcriptions', { method: 'POST', body: streaming })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  const reader = response.body?.getReader()
  const { value } = (await reader?.read()) ?? {}
  expect(read(Buffer.from(value ?? []).toString()).events).toEqual([delta('Open')])
  isFirstShown()
  let rest = ''
  for (let each = await reader?.read(); each && !each.done; each = await reader?.read())
    rest += Buffer.from(each.value).toString()
  const { events } = read(rest)
  expect(events[0]).toEqual(delta(' the gate.'))
  expect(events.at(-1)).toMatchObject({
    type: 'transcript.text.done',
    text: 'Open the gate.',
    usage: { input_tokens: 20, output_tokens: 5, cost: 0.00007 },
  })
  expect(upstream.seen.at(-1)?.body).toContain('name="stream"\r\n\r\ntrue')
})

test('only text is asked for as events: without stream, with times and of a model without events it is a whole', async () => {
  upstream.answer(() => Response.json({ text: 'Open the gate.', usage: done.usage }))
  const cases: [body: Record<string, unknown>, isAsked: boolean][] = [
    [{ ...streaming, stream: false }, false],
    [{ ...streaming, model: 'openai/whisper-1' }, false],
    [streaming, true],
  ]
  for (const [body, isAsked] of cases) {
    const { status, text } = await gateway.post('/audio/transcriptions', body)
    expect([status, text.includes('Open the gate.')]).toEqual([200, true])
    expect(upstream.seen.at(-1)?.body.includes('name="stream"')).toBe(isAsked)
  }
})

test('a stream that the provider breaks off ends in an error event, is not asked for again and costs nothing', async () => {
  for (const events of [[delta('Open')], [delta('Open'), { error: { message: 'secret host' } }]]) {
    upstream.answer(() => eventsOf(events))
    const before = upstream.seen.length
    const { status, text, headers } = await gateway.post('/audio/transcriptions', streaming)
    const shown = read(text).events
    expect([status, shown.length, shown[0]]).toEqual([200, 2, delta('Open')])
    expect(shown[1]).toMatchObject({ type: 'error', error: { code: 502 } })
    expect(text).not.toContain('secret')
    expect(upstream.seen.length).toBe(before + 1)
    const id = headers.get('x-generation-id') ?? ''
    expect((await gateway.get(`/generation?id=${id}`)).status).toBe(404)
  }
})

test('a caller who leaves in the middle of the text pays for the sound that was heard', async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  upstream.answer(({ signal }) => {
    signal.addEventListener('abort', () => end())
    return eventsOf([delta('Open'), done], (index) => (index === 1 ? ended : Promise.resolve()))
  })
  const response = await gateway.request('/audio/transcriptions', { method: 'POST', body: streaming })
  const reader = response.body?.getReader()
  await reader?.read()
  await reader?.cancel()
  await ended
  const id = response.headers.get('x-generation-id') ?? ''
  const { json } = await until(
    () => gateway.get(`/generation?id=${id}`),
    (answer) => answer.status === 200,
  )
  expect(at(json, 'data.cancelled')).toBe(true)
  expect(Number(at(json, 'data.total_cost'))).toBeGreaterThan(0)
})
