import { afterAll, expect, test } from 'bun:test'
import { at, sandboxProvider, startTestGateway, toneWav, type TestRequest } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// Section 4.3: transcription, field by field and refusal by refusal.

const upstream = startScriptedUpstream()
const heard = { text: 'plain words', usage: { type: 'duration', seconds: 2 } }
upstream.answer(() => Response.json(heard))
const acme = (url: string) =>
  sandboxProvider(url, {
    preset: 'custom',
    id: 'acme',
    base_url: url,
    discover: false,
    data_policy: { zdr: false, stores: true, trains: true },
    models: [
      {
        id: 'acme/plain',
        upstream: 'plain',
        modality: 'transcription',
        prices: { audio_per_minute: '0.01' },
      },
    ],
  })
const gateway = await startTestGateway({
  providers: (url) => [
    sandboxProvider(url),
    acme(upstream.url),
    sandboxProvider(upstream.url, {
      preset: 'mistral',
      base_url: upstream.url,
      discover: false,
      models: [
        {
          id: 'mistralai/voxtral-mini-2602',
          upstream: 'voxtral-mini-2602',
          modality: 'transcription',
          prices: { audio_per_minute: '0.01' },
        },
      ],
    }),
  ],
})
await gateway.admin('faults', [
  { match: { path: '/audio/transcriptions' }, fault: 'text=Good%20morning%20to%20you.' },
])
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const wav = toneWav(2)
const data = Buffer.from(wav).toString('base64')
const base = { model: 'openai/whisper-1', input_audio: { data, format: 'wav' } }
const plain = { ...base, model: 'acme/plain' }
const verbose = { ...base, response_format: 'verbose_json' }
const without = (name: string) =>
  Object.fromEntries(Object.entries(base).filter(([member]) => member !== name))

const transcribe = (body: unknown, init: TestRequest = {}) =>
  gateway.post('/audio/transcriptions', body, init)

async function expectRefusal(body: unknown, status: number, ...words: string[]) {
  const answer = await transcribe(body)
  const shown = body instanceof FormData ? 'form' : JSON.stringify({ ...(body as object), input_audio: 0 })
  expect([shown, answer.status, at(answer.json, 'error.code')]).toEqual([shown, status, status])
  for (const word of words) expect(String(at(answer.json, 'error.message'))).toContain(word)
}

function form(
  fields: Record<string, string | readonly string[]>,
  file: Uint8Array<ArrayBuffer> | null = wav,
): FormData {
  const made = new FormData()
  if (file) made.append('file', new File([file], 'clip.wav', { type: 'audio/wav' }))
  for (const [name, value] of Object.entries(fields))
    for (const one of typeof value === 'string' ? [value] : value) made.append(name, one)
  return made
}

test('4.3.i1 audio comes as base64 in JSON', async () => {
  const { status, json } = await transcribe(base)
  expect([status, json['text']]).toEqual([200, 'Good morning to you.'])
})

test('4.3.i2 audio comes as a file in multipart/form-data', async () => {
  const { status, json } = await transcribe(form({ model: 'openai/whisper-1' }))
  expect([status, json['text'], at(json, 'usage.seconds')]).toEqual([200, 'Good morning to you.', 2])
})

test('4.3.i3 audio comes as an address; one that is not public is refused', async () => {
  const address = { model: 'openai/whisper-1', input_audio: { url: `${upstream.url}/clip.wav` } }
  await expectRefusal(address, 400, 'input_audio.url')
  await expectRefusal({ ...address, input_audio: { url: 'file:///etc/passwd' } }, 400, 'input_audio.url')
  await expectRefusal(
    { ...base, input_audio: { data, format: 'wav', url: 'https://a.test/x.wav' } },
    400,
    'input_audio',
  )
})

test('4.3.i3b an address in a form is refused under the name that the form has for it', async () => {
  const named = new FormData()
  named.append('model', 'openai/whisper-1')
  named.append('source_url', `${upstream.url}/clip.wav`)
  const { status, json } = await gateway.post('/audio/transcriptions', named)
  expect([status, at(json, 'error.param')]).toEqual([400, 'source_url'])
  expect(String(at(json, 'error.message'))).toContain('source_url')
})

test('a file of a format that is not taken is told which are', async () => {
  const fields = new FormData()
  fields.append('model', 'openai/whisper-1')
  fields.append('file', new File(['FORM....AIFF'], 'clip.aiff', { type: 'audio/aiff' }))
  await expectRefusal(fields, 400, 'file', 'flac', 'Convert')
})

test('4.3.f1 input_audio is an object with data and format, or with url', async () => {
  await expectRefusal(without('input_audio'), 400, 'input_audio')
  for (const input of [
    null,
    'x',
    {},
    { format: 'wav' },
    { data },
    { data: 7, format: 'wav' },
    { data, format: 'w v' },
  ])
    await expectRefusal({ ...base, input_audio: input }, 400, 'input_audio')
  await expectRefusal({ ...base, input_audio: { data: '***', format: 'wav' } }, 400, 'input_audio')
})

test('4.3.f2 model is the identifier of a speech-to-text model', async () => {
  await expectRefusal(without('model'), 400, 'model')
  await expectRefusal({ ...base, model: 'nobody/has-this' }, 400, 'nobody/has-this')
  await expectRefusal({ ...base, model: 'openai/tts-1' }, 400)
})

test('4.3.f3 language is an ISO-639-1 code, detected when it is left out', async () => {
  expect((await transcribe({ ...verbose, language: 'EN' })).json['language']).toBe('en')
  expect(typeof (await transcribe(verbose)).json['language']).toBe('string')
  for (const language of ['english', 'e', 'e1', '', 3])
    await expectRefusal({ ...base, language }, 400, 'language')
  await transcribe({ ...plain, language: 'de' })
  expect(upstream.seen.at(-1)?.body).toContain('name="language"\r\n\r\nde')
})

test('4.3.f4 response_format json, the default, returns text and usage and nothing else', async () => {
  for (const body of [base, { ...base, response_format: 'json' }]) {
    expect(Object.keys((await transcribe(body)).json).toSorted()).toEqual(['text', 'usage'])
  }
})

test('4.3.f4b verbose_json also returns task, language, duration and segments with times', async () => {
  const { json } = await transcribe(verbose)
  expect(json).toMatchObject({ text: 'Good morning to you.', task: 'transcribe', duration: 2 })
  const segment = at(json, 'segments.0') as Record<string, unknown>
  expect([segment['id'], segment['text'], typeof segment['start'], typeof segment['end']]).toEqual([
    0,
    'Good morning to you.',
    'number',
    'number',
  ])
})

test('4.3.f4c another response_format is 400', async () => {
  for (const format of ['srt', 'text', 'vtt', '', 'JSON', 1])
    await expectRefusal({ ...base, response_format: format }, 400, 'response_format')
})

test('4.3.f5 timestamp_granularities are word and segment; word adds words with times', async () => {
  const { json } = await transcribe({ ...verbose, timestamp_granularities: ['word'] })
  expect((json['words'] as { word: string }[]).map(({ word }) => word).join(' ')).toContain('morning')
  const word = at(json, 'words.0') as Record<string, unknown>
  expect([typeof word['start'], typeof word['end']]).toEqual(['number', 'number'])
  const segments = await transcribe({ ...verbose, timestamp_granularities: ['segment'] })
  expect(segments.json).not.toHaveProperty('words')
  expect(Array.isArray(segments.json['segments'])).toBe(true)
})

test('4.3.f5b granularities are ignored without verbose_json, but a wrong value is 400 anyway', async () => {
  const { json } = await transcribe({ ...base, timestamp_granularities: ['word'] })
  expect(Object.keys(json).toSorted()).toEqual(['text', 'usage'])
  for (const wrong of [['sentence'], 'word', [1]])
    await expectRefusal({ ...base, timestamp_granularities: wrong }, 400, 'timestamp_granularities')
})

test('4.3.f5c word times on a model without them are 400, never invented', async () => {
  await expectRefusal(
    { ...plain, response_format: 'verbose_json', timestamp_granularities: ['word'] },
    400,
    'timestamp_granularities',
  )
  const { json } = await transcribe({ ...plain, response_format: 'verbose_json' })
  expect(json['segments']).toEqual([{ id: 0, start: 0, end: 2, text: 'plain words' }])
})

test('4.3.d1 speaker labelling needs verbose_json; a json request is 400', async () => {
  await expectRefusal({ ...base, diarize: true }, 400, 'diarize')
  await expectRefusal({ ...base, diarize: true, response_format: 'json' }, 400, 'diarize', 'verbose_json')
  expect((await transcribe({ ...base, diarize: false })).status).toBe(200)
  await expectRefusal({ ...base, diarize: 'yes' }, 400, 'diarize')
})

test('4.3.d2 speaker labelling is 400 on a model that cannot', async () => {
  await expectRefusal({ ...verbose, diarize: true }, 400, 'does not support diarize')
  await expectRefusal(
    form({ model: 'openai/whisper-1', response_format: 'verbose_json', diarize: 'true' }),
    400,
    'diarize',
  )
})

test('4.3.k1 domain terms are strings of 1 to 100 characters, at most 100 of them', async () => {
  const voxtral = { ...base, model: 'mistralai/voxtral-mini-2602' }
  const ok = [
    ['a'],
    ['x'.repeat(100)],
    Array.from({ length: 100 }, (_, index) => `term${index}`),
    ['🜁'.repeat(100)],
  ]
  for (const keyterms of ok) expect((await transcribe({ ...voxtral, keyterms })).status).toBe(200)
  const wrong = [[''], ['x'.repeat(101)], Array.from({ length: 101 }, (_, index) => `t${index}`), 'term', [1]]
  for (const keyterms of wrong) await expectRefusal({ ...voxtral, keyterms }, 400, 'keyterms')
})

test('4.3.k2 domain terms reach a provider that can use them', async () => {
  await transcribe({ ...base, model: 'mistralai/voxtral-mini-2602', keyterms: ['Headrace'] })
  expect(upstream.seen.at(-1)?.body).toContain('Headrace')
})

test('4.3.k3 domain terms are 400 on a model that cannot use them', async () => {
  await expectRefusal({ ...base, keyterms: ['Headrace'] }, 400, 'does not support keyterms')
  expect((await transcribe({ ...base, keyterms: [] })).status).toBe(200)
})

test('4.3.t1 temperature is a number', async () => {
  expect((await transcribe({ ...plain, temperature: 0.5 })).status).toBe(200)
  expect(upstream.seen.at(-1)?.body).toContain('name="temperature"\r\n\r\n0.5')
  for (const temperature of ['0.5', -1, 2, null])
    await expectRefusal({ ...base, temperature }, 400, 'temperature')
})

test('4.3.s1 session identifier: at most 256 characters, and never sent to the provider', async () => {
  await expectRefusal({ ...base, session_id: 'x'.repeat(257) }, 400, 'session_id')
  const { headers } = await transcribe({ ...plain, session_id: 'session-secret' })
  const seen = upstream.seen.at(-1)
  expect(JSON.stringify([seen?.body, [...(seen?.headers ?? [])]])).not.toContain('session-secret')
  const generation = await gateway.get(`/generation?id=${headers.get('x-generation-id') ?? ''}`)
  expect(at(generation.json, 'data.session_id')).toBe('session-secret')
})

test('4.3.s2 the body’s session wins over the header x-session-id', async () => {
  const sessionOf = async (body: unknown, session: string) => {
    const { headers } = await transcribe(body, { headers: { 'x-session-id': session } })
    const generation = await gateway.get(`/generation?id=${headers.get('x-generation-id') ?? ''}`)
    return at(generation.json, 'data.session_id')
  }
  expect(await sessionOf({ ...base, session_id: 'body' }, 'header')).toBe('body')
  expect(await sessionOf(base, 'header')).toBe('header')
  expect(await sessionOf({ ...base, session_id: 'body' }, 'h'.repeat(300))).toBe('body')
  const long = await transcribe(base, { headers: { 'x-session-id': 'h'.repeat(257) } })
  expect(long.status).toBe(400)
})

test('4.3.u1 end-user identifier: at most 256 characters, and never sent to the provider', async () => {
  await expectRefusal({ ...base, user: 'x'.repeat(257) }, 400, 'user')
  const { headers } = await transcribe({ ...plain, user: 'user-secret' })
  const seen = upstream.seen.at(-1)
  expect(JSON.stringify([seen?.body, [...(seen?.headers ?? [])]])).not.toContain('user-secret')
  const generation = await gateway.get(`/generation?id=${headers.get('x-generation-id') ?? ''}`)
  expect(at(generation.json, 'data.external_user')).toBe('user-secret')
})

test('4.3.p1 provider configuration: zdr and data_collection choose the route', async () => {
  expect((await transcribe({ ...plain, provider: { zdr: false, data_collection: 'allow' } })).status).toBe(
    200,
  )
  await expectRefusal({ ...plain, provider: { zdr: true } }, 404)
  await expectRefusal({ ...plain, provider: { data_collection: 'deny' } }, 404)
  await expectRefusal({ ...plain, provider: { data_collection: 'never' } }, 400, 'provider.data_collection')
})

test('4.3.p2 provider configuration: options are passed through to the provider they name', async () => {
  await transcribe({
    ...plain,
    provider: { options: { custom: { style: 'calm' }, groq: { other: 'nothing' } } },
  })
  const { body } = upstream.seen.at(-1) ?? { body: '' }
  expect([body.includes('calm'), body.includes('nothing')]).toEqual([true, false])
})

test('4.3.m1 metadata is an object with known and other keys, and never sent to the provider', async () => {
  const trace = {
    trace_id: 'trace-secret',
    trace_name: 'n',
    span_name: 's',
    generation_name: 'g',
    parent_span_id: 'p',
    mine: { deep: [1] },
  }
  expect((await transcribe({ ...plain, trace })).status).toBe(200)
  expect(upstream.seen.at(-1)?.body).not.toContain('trace-secret')
  await expectRefusal({ ...base, trace: [] }, 400, 'trace')
})

test('4.3.a1 the answer is 200 with text, a string', async () => {
  const { status, json, headers } = await transcribe(base)
  expect([status, typeof json['text']]).toEqual([200, 'string'])
  expect(headers.get('content-type')).toContain('application/json')
})

test('4.3.a2 usage has cost, whole token counts, and the seconds of audio', async () => {
  const { json } = await transcribe(base)
  const usage = json['usage'] as Record<string, unknown>
  expect(usage['seconds']).toBe(2)
  expect(Number(usage['cost'])).toBeGreaterThan(0)
  for (const name of ['input_tokens', 'output_tokens', 'total_tokens'])
    expect([name, Number.isSafeInteger(usage[name])]).toEqual([name, true])
})

test('4.3.a3 task is only there with verbose_json', async () => {
  expect((await transcribe(base)).json).not.toHaveProperty('task')
  expect((await transcribe(verbose)).json['task']).toBe('transcribe')
})

test('4.3.a4 language is only there with verbose_json', async () => {
  expect((await transcribe({ ...base, language: 'en' })).json).not.toHaveProperty('language')
  expect((await transcribe({ ...verbose, language: 'en' })).json['language']).toBe('en')
})

test('4.3.a5 duration is only there with verbose_json, in seconds', async () => {
  expect((await transcribe(base)).json).not.toHaveProperty('duration')
  expect((await transcribe(verbose)).json['duration']).toBe(2)
})

test('4.3.a6 words are there when the provider returns them', async () => {
  const { json } = await transcribe({ ...verbose, timestamp_granularities: ['word', 'segment'] })
  expect((json['words'] as unknown[]).length).toBe(4)
  expect((await transcribe(verbose)).json).not.toHaveProperty('words')
})

test('4.3.a7 confidences and entities are left out when the provider has none', async () => {
  const { json } = await transcribe(verbose)
  for (const name of ['confidence', 'language_confidence', 'entities']) expect(json).not.toHaveProperty(name)
})

test('4.3.e400 invalid parameters are 400', async () => {
  for (const body of ['', '{', '[]', 'null', '{"model":"openai/whisper-1"'])
    expect((await transcribe(body)).status).toBe(400)
  await expectRefusal(form({ model: 'openai/whisper-1' }, null), 400, 'file')
  await expectRefusal(form({}), 400, 'model')
})

test('4.3.e401 a missing or invalid key is 401', async () => {
  expect((await transcribe(base, { key: null })).status).toBe(401)
})

test('4.3.e402 audio that the balance does not cover is 402, before anything is asked of a provider', async () => {
  const poor = await gateway.addOrganization({ credits: '0.00001' })
  const before = upstream.seen.length
  expect((await transcribe(plain, { key: poor.key })).status).toBe(402)
  expect(upstream.seen.length).toBe(before)
})

test('4.3.e403 a model that policy forbids is 403', async () => {
  const bound = await gateway.addOrganization({ policy: { allowed_models: ['openai/gpt-4o'] } })
  expect((await transcribe(base, { key: bound.key })).status).toBe(403)
})

test('4.3.e404 a route that nothing can serve is 404', async () => {
  await expectRefusal({ ...base, provider: { only: ['groq'] } }, 404)
})

test('4.3.e413 audio larger than any provider takes is 413', async () => {
  const large = new Uint8Array(26 * 1024 * 1024)
  large.set(wav.subarray(0, 44))
  await expectRefusal(form({ model: 'openai/whisper-1' }, large), 413)
  const { json } = await transcribe(form({ model: 'openai/whisper-1' }, large))
  expect(at(json, 'error.param')).toBe('file')
})

test('4.3.f1d a format that no provider takes is refused by the field that says it', async () => {
  const adts = new Uint8Array(2_000)
  for (let place = 0; place < adts.length; place += 200)
    adts.set([0xff, 0xf1, 0x50, 0x80, 0x19, 0x1f, 0xfc], place)
  const upload = new FormData()
  upload.append('model', 'openai/whisper-1')
  upload.append('file', new File([adts], 'clip.aac'))
  const inline = { ...base, input_audio: { data: Buffer.from(adts).toString('base64'), format: 'aac' } }
  for (const [body, param] of [
    [upload, 'file'],
    [inline, 'input_audio.format'],
  ] as const) {
    const { status, json } = await transcribe(body)
    expect([status, at(json, 'error.param')]).toEqual([400, param])
  }
})

test('4.3.e413b a body that says it is larger than any audio may be is 413', async () => {
  const answer = await transcribe('{}', { headers: { 'content-length': '2000000000' } })
  expect([answer.status, at(answer.json, 'error.code')]).toEqual([413, 413])
})

test('4.3.e429 a rate of the key is 429', async () => {
  const slow = await gateway.addOrganization({ requestsPerMinute: 1 })
  const statuses = []
  for (let turn = 0; turn < 3; turn += 1) statuses.push((await transcribe(base, { key: slow.key })).status)
  expect([statuses[0], statuses.at(-1)]).toEqual([200, 429])
})

const failures: readonly [name: string, upstreamStatus: number, status: number][] = [
  ['4.3.e400b audio that a provider cannot use is 400', 400, 400],
  ['4.3.e413c audio that is larger than the provider takes is 413', 413, 413],
  ['4.3.e429b a rate of the provider is 429', 429, 429],
  ['4.3.e502 a provider that fails is 502', 500, 502],
  ['4.3.e502b a provider that refuses the key of the operator is 502', 401, 502],
  ['4.3.e524 a provider that does not answer in time is 524', 504, 524],
  ['4.3.e529 a provider that is overloaded is 529', 529, 529],
]
for (const [name, upstreamStatus, status] of failures) {
  test(name, async () => {
    const other = await startTestGateway({ providers: () => [acme(upstream.url)] })
    upstream.answer(() => Response.json({ error: { message: 'no' } }, { status: upstreamStatus }))
    const answer = await other.post('/audio/transcriptions', plain)
    upstream.answer(() => Response.json(heard))
    await other.stop()
    expect([answer.status, at(answer.json, 'error.code')]).toEqual([status, status])
  })
}

test('4.3.e500 an answer that cannot be made is 500', async () => {
  let isBroken = false
  const clock = {
    nowMs: () => {
      if (isBroken) throw new Error('secret detail')
      return Date.now()
    },
    monotonicMs: () => performance.now(),
  }
  const failing = await startTestGateway({ hooks: { clock, writeLog: () => undefined } })
  isBroken = true
  const answer = await failing.post('/audio/transcriptions', base)
  isBroken = false
  await failing.stop()
  expect([answer.status, at(answer.json, 'error.code')]).toEqual([500, 500])
})

test('4.3.e503 a gateway that is shutting down is 503, with a time to try again', async () => {
  const leaving = await startTestGateway()
  await leaving.stop()
  const { status, headers } = await leaving.post('/audio/transcriptions', base)
  expect([status, Number(headers.get('retry-after')) > 0]).toEqual([503, true])
})

test('4.3.e504 a call that runs out of its own time is 504', async () => {
  let aheadMs = 0
  const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() + aheadMs }
  const late = await startTestGateway({
    hooks: { clock, writeLog: () => undefined },
    providers: () => [acme(upstream.url)],
  })
  let tries = 0
  upstream.answer(async () => {
    tries += 1
    // The provider asks for a second's wait after the first try. While the gateway waits, the call uses up its time; the
    // provider does not answer the second try.
    if (tries > 1) await Bun.sleep(500)
    else setTimeout(() => (aheadMs = 24 * 3_600_000), 500)
    return Response.json(
      { error: { message: 'overloaded' } },
      { status: 503, headers: { 'retry-after': '1' } },
    )
  })
  const answer = await late.post('/audio/transcriptions', plain)
  upstream.answer(() => Response.json(heard))
  await late.stop()
  expect([answer.status, at(answer.json, 'error.code')]).toEqual([504, 504])
})
