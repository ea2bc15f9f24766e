import { afterAll, expect, test } from 'bun:test'
import { at, readAnswer, sandboxProvider, startTestGateway } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// Section 4.4: speech, field by field and refusal by refusal.

const upstream = startScriptedUpstream()
upstream.answer(() => new Response(new Uint8Array(4_800), { headers: { 'content-type': 'audio/pcm' } }))
const gateway = await startTestGateway({
  providers: (url) => [
    sandboxProvider(url),
    sandboxProvider(upstream.url, {
      preset: 'custom',
      id: 'acme',
      base_url: upstream.url,
      discover: false,
      data_policy: { zdr: false, stores: true, trains: true },
      models: [
        { id: 'acme/voice', upstream: 'voice', modality: 'speech', prices: { characters_per_million: '10' } },
      ],
    }),
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const base = { model: 'openai/tts-1', input: 'Hello there.', voice: 'alloy' }
const plain = { model: 'acme/voice', input: 'Hello there.', voice: 'any' }
const without = (name: string) =>
  Object.fromEntries(Object.entries(base).filter(([member]) => member !== name))

async function speak(body: unknown, key = gateway.key, headers: Record<string, string> = {}) {
  const response = await gateway.request('/audio/speech', { method: 'POST', body, key, headers })
  if (response.status === 200) {
    const bytes = await response.bytes()
    return { status: 200, bytes, headers: response.headers, message: '' }
  }
  const { json, status, headers: answered } = await readAnswer(response)
  expect(at(json, 'error.code')).toBe(status)
  return { status, bytes: new Uint8Array(0), headers: answered, message: String(at(json, 'error.message')) }
}

async function expectRefusal(body: unknown, status: number, ...words: string[]) {
  const answer = await speak(body)
  expect([JSON.stringify(body).slice(0, 200), answer.status]).toEqual([
    JSON.stringify(body).slice(0, 200),
    status,
  ])
  for (const word of words) expect(answer.message).toContain(word)
}

const clip = {
  type: 'input_audio',
  input_audio: { data: Buffer.from('RIFF').toString('base64'), format: 'wav' },
}
const said = { type: 'text', text: 'what is said' }
const image = { type: 'image_url', image_url: { url: 'https://a.test/face.png' } }
const referring = (...parts: unknown[]) => ({ ...base, input_references: parts })

test('4.4.f1 input is the text to speak, a string', async () => {
  await expectRefusal(without('input'), 400, 'input')
  for (const input of [null, 7, ['x']]) await expectRefusal({ ...base, input }, 400, 'input')
  expect((await speak(base)).bytes.length).toBeGreaterThan(1_000)
})

test('4.4.f2 model is the identifier of a text-to-speech model', async () => {
  await expectRefusal(without('model'), 400, 'model')
  await expectRefusal({ ...base, model: 'nobody/has-this' }, 400, 'nobody/has-this')
  await expectRefusal({ ...base, model: 'openai/gpt-4o-mini' }, 400)
})

test('speech that is asked for as events is refused', async () => {
  await expectRefusal({ ...base, stream_format: 'sse' }, 400, 'stream_format')
  expect((await speak({ ...base, stream_format: 'audio' })).bytes.length).toBeGreaterThan(1_000)
})

test('4.4.f3 voice is the provider’s own, of at least one character', async () => {
  await expectRefusal({ ...base, voice: '' }, 400, 'voice')
  await expectRefusal({ ...base, voice: 3 }, 400, 'voice')
  await speak({ ...plain, voice: 'a voice of theirs' })
  expect(JSON.parse(upstream.seen.at(-1)?.body ?? '{}').voice).toBe('a voice of theirs')
})

test('4.4.f4 response_format is mp3 or pcm', async () => {
  for (const format of ['wav', 'MP3', 'opus', '', 1])
    await expectRefusal({ ...base, response_format: format }, 400, 'response_format')
  for (const format of ['mp3', 'pcm'])
    expect((await speak({ ...base, response_format: format })).status).toBe(200)
})

test('4.4.f5 speed is a number that models with speed control honour', async () => {
  const normal = await speak(base)
  const fast = await speak({ ...base, speed: 2 })
  expect(fast.bytes.length).toBeLessThan(normal.bytes.length * 0.8)
  for (const speed of ['1', 0, -1, null]) await expectRefusal({ ...base, speed }, 400, 'speed')
})

test('4.4.f5b a speed of 1 is always fine; another on a model without speed control is 400', async () => {
  expect((await speak({ ...plain, speed: 1 })).status).toBe(200)
  await expectRefusal({ ...plain, speed: 1.5 }, 400, 'speed')
  await expectRefusal({ ...base, speed: 9 }, 400, 'speed')
})

test('4.4.f6 reference content is an array of parts; an empty one is no reference', async () => {
  expect((await speak({ ...plain, input_references: [] })).status).toBe(200)
  expect(upstream.seen.at(-1)?.body).not.toContain('input_references')
  await expectRefusal({ ...base, input_references: {} }, 400, 'input_references')
  await expectRefusal(referring('x'), 400, 'input_references[0]')
})

test('4.4.f7 session identifier: at most 256 characters, and never sent to the provider', async () => {
  await expectRefusal({ ...base, session_id: 'x'.repeat(257) }, 400, 'session_id')
  expect((await speak({ ...plain, session_id: '🜁'.repeat(256) })).status).toBe(200)
  await speak({ ...plain, session_id: 'session-secret' })
  const seen = upstream.seen.at(-1)
  expect(JSON.stringify([seen?.body, [...(seen?.headers ?? [])]])).not.toContain('session-secret')
})

test('4.4.f8 end-user identifier: at most 256 characters, and never sent to the provider', async () => {
  await expectRefusal({ ...base, user: 'x'.repeat(257) }, 400, 'user')
  await speak({ ...plain, user: 'user-secret' })
  const seen = upstream.seen.at(-1)
  expect(JSON.stringify([seen?.body, [...(seen?.headers ?? [])]])).not.toContain('user-secret')
})

test('4.4.f9 provider configuration: zdr and data_collection choose the route', async () => {
  expect((await speak({ ...plain, provider: { zdr: false, data_collection: 'allow' } })).status).toBe(200)
  await expectRefusal({ ...plain, provider: { zdr: true } }, 404)
  await expectRefusal({ ...plain, provider: { data_collection: 'deny' } }, 404)
  await expectRefusal({ ...plain, provider: { zdr: 'yes' } }, 400, 'provider.zdr')
  expect((await speak({ ...base, provider: { zdr: true } })).status).toBe(200)
})

test('4.4.f9b provider configuration: options are passed through to the provider they name', async () => {
  await speak({ ...plain, provider: { options: { custom: { style: 'calm' }, groq: { other: 1 } } } })
  const sent = JSON.parse(upstream.seen.at(-1)?.body ?? '{}') as Record<string, unknown>
  expect([sent['style'], sent['other']]).toEqual(['calm', undefined])
})

test('4.4.f10 metadata is an object with any keys', async () => {
  expect((await speak({ ...plain, trace: { trace_id: 'trace-secret', mine: { a: 1 } } })).status).toBe(200)
  expect(upstream.seen.at(-1)?.body).not.toContain('trace-secret')
  await expectRefusal({ ...base, trace: 'x' }, 400, 'trace')
})

test('4.4.f11 the header x-session-id is used when the body has none, and not looked at when it has', async () => {
  const long = 'h'.repeat(257)
  expect((await speak(plain, gateway.key, { 'x-session-id': long })).status).toBe(400)
  expect((await speak({ ...plain, session_id: 'body' }, gateway.key, { 'x-session-id': long })).status).toBe(
    200,
  )
  const answer = await speak({ ...plain, session_id: 'body' }, gateway.key, { 'x-session-id': 'header' })
  const generation = await gateway.get(`/generation?id=${answer.headers.get('x-generation-id') ?? ''}`)
  expect(at(generation.json, 'data.session_id')).toBe('body')
})

test('4.4.ref1 audio mode has one to three clips', async () => {
  for (const clips of [[clip], [clip, clip], [clip, clip, clip]])
    await expectRefusal(referring(...clips), 404, 'input_references')
  await expectRefusal(referring(clip, clip, clip, clip), 400, 'input_references')
})

test('4.4.ref2 a clip’s data is base64, which may be a data URL', async () => {
  const dataUrl = { type: 'input_audio', input_audio: { data: 'data:audio/wav;base64,UklGRg==' } }
  await expectRefusal(referring(dataUrl), 404, 'input_references')
  const broken = { type: 'input_audio', input_audio: { data: '*not base64*', format: 'wav' } }
  await expectRefusal(referring(clip, broken), 400, 'input_references[1]')
})

test('4.4.ref3 with one clip its transcript comes before or after it', async () => {
  await expectRefusal(referring(said, clip), 404)
  await expectRefusal(referring(clip, said), 404)
  await expectRefusal(referring(said, clip, said), 400, 'input_references')
})

test('4.4.ref4 with several clips a transcript immediately follows its clip', async () => {
  await expectRefusal(referring(clip, said, clip, said), 404)
  await expectRefusal(referring(clip, clip, said), 404)
  await expectRefusal(referring(said, clip, clip), 400, 'input_references[0]')
  await expectRefusal(referring(clip, said, said, clip), 400, 'input_references[2]')
})

test('4.4.ref5 a transcript without a clip is 400', async () => {
  await expectRefusal(referring(said), 400, 'input_references')
})

test('4.4.ref6 voice cloning is routed only to endpoints that support it', async () => {
  await expectRefusal(referring(clip), 404, 'input_references')
})

test('4.4.ref6b the refusal says at which step of routing the endpoints were lost', async () => {
  for (const body of [referring(clip), referring(image)]) {
    const { status, json } = await gateway.post('/audio/speech', body)
    expect([status, at(json, 'error.metadata')]).toEqual([
      404,
      {
        error_type: 'not_found',
        routing_funnel: [{ step: 'capability', endpoint_count: 0 }],
        failed_routing_step: 'capability',
      },
    ])
  }
})

test('4.4.ref7 image mode has exactly one image_url part', async () => {
  await expectRefusal(referring(image), 404, 'input_references')
  await expectRefusal(referring(image, image), 400, 'input_references')
  await expectRefusal(referring(image, said), 400, 'input_references')
})

test('4.4.ref8 audio and image cannot be mixed', async () => {
  await expectRefusal(referring(clip, image), 400, 'input_references')
  await expectRefusal(referring(image, clip), 400, 'input_references')
})

test('4.4.ref9 a part of another type is 400', async () => {
  await expectRefusal(referring({ type: 'video_url', video_url: { url: 'x' } }), 400, 'input_references[0]')
})

test('4.4.a1 mp3 is audio/mpeg, and begins with an MPEG frame or its tag', async () => {
  const { headers, bytes } = await speak({ ...base, response_format: 'mp3' })
  expect(headers.get('content-type')).toBe('audio/mpeg')
  const isTag = Buffer.from(bytes.subarray(0, 3)).toString() === 'ID3'
  expect(isTag || (bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0)).toBe(true)
})

test('4.4.a2 pcm is audio/pcm, 16-bit little-endian samples', async () => {
  const { headers, bytes } = await speak({ ...base, response_format: 'pcm' })
  expect(headers.get('content-type')?.split(';')[0]).toBe('audio/pcm')
  expect(bytes.length % 2).toBe(0)
  const samples = new Int16Array(bytes.buffer.slice(0, bytes.length))
  // Speech swings around zero; read with the wrong byte order it would be noise at full scale.
  const mean = samples.reduce((sum, sample) => sum + Math.abs(sample), 0) / samples.length
  expect(mean).toBeGreaterThan(50)
  expect(mean).toBeLessThan(12_000)
})

test('4.4.a3 without response_format the answer is pcm', async () => {
  expect((await speak(base)).headers.get('content-type')).toStartWith('audio/pcm')
})

test('4.4.e400 invalid parameters are 400', async () => {
  for (const body of ['', '{', '[]', 'null']) await expectRefusal(body, 400)
})

test('4.4.e401 a missing or invalid key is 401', async () => {
  expect((await speak(base, 'nobody-has-this-key-01')).status).toBe(401)
})

test('4.4.e402 speech that the balance does not cover is 402, before anything is asked of a provider', async () => {
  const poor = await gateway.addOrganization({ credits: '0.00001' })
  const before = upstream.seen.length
  expect((await speak({ ...plain, input: 'x'.repeat(3_000) }, poor.key)).status).toBe(402)
  expect(upstream.seen.length).toBe(before)
})

test('4.4.e403 a model that policy forbids is 403', async () => {
  const bound = await gateway.addOrganization({ policy: { allowed_models: ['openai/gpt-4o'] } })
  expect((await speak(base, bound.key)).status).toBe(403)
})

test('4.4.e404 a route that nothing can serve is 404', async () => {
  await expectRefusal({ ...base, provider: { only: ['groq'] } }, 404)
})

test('4.4.e413 a body that is too large is 413', async () => {
  await expectRefusal({ ...base, input: 'x'.repeat(64_000_001) }, 413)
})

test('4.4.e429 a rate of the key is 429', async () => {
  const slow = await gateway.addOrganization({ requestsPerMinute: 1 })
  const statuses = []
  for (let turn = 0; turn < 3; turn += 1) statuses.push((await speak(plain, slow.key)).status)
  expect([statuses[0], statuses.at(-1)]).toEqual([200, 429])
})

const failures: readonly [name: string, upstreamStatus: number, status: number][] = [
  ['4.4.e502 a provider that fails is 502', 500, 502],
  ['4.4.e524 a provider that does not answer in time is 524', 504, 524],
  ['4.4.e529 a provider that is overloaded is 529', 529, 529],
]
for (const [name, upstreamStatus, status] of failures) {
  test(name, async () => {
    await gateway.admin('faults', [{ match: { path: '/audio/speech' }, fault: `status=${upstreamStatus}` }])
    await expectRefusal(base, status)
    await gateway.admin('faults', [])
  })
}

test('4.4.e500 an answer that cannot be made is 500', async () => {
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
  const { status, json } = await failing.post('/audio/speech', base)
  isBroken = false
  await failing.stop()
  expect([status, at(json, 'error.code'), JSON.stringify(json).includes('secret')]).toEqual([500, 500, false])
})

test('4.4.e503 a gateway that is shutting down is 503, with a time to try again', async () => {
  const leaving = await startTestGateway()
  await leaving.stop()
  const { status, headers } = await leaving.post('/audio/speech', base)
  expect([status, Number(headers.get('retry-after')) > 0]).toEqual([503, true])
})

test('4.4.e504 speech has no 504: a call out of its time is 524', async () => {
  let aheadMs = 0
  const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() + aheadMs }
  const late = await startTestGateway({
    hooks: { clock, writeLog: () => undefined },
    providers: () => [
      sandboxProvider(upstream.url, {
        preset: 'custom',
        id: 'acme',
        base_url: upstream.url,
        discover: false,
        models: [
          {
            id: 'acme/voice',
            upstream: 'voice',
            modality: 'speech',
            prices: { characters_per_million: '1' },
          },
        ],
      }),
    ],
  })
  let tries = 0
  upstream.answer(async () => {
    tries += 1
    // The first try fails, and by the time of the second, which is not answered, the call has used up its time.
    if (tries > 1) await Bun.sleep(500)
    else setTimeout(() => (aheadMs = 24 * 3_600_000), 20)
    return Response.json({ error: { message: 'overloaded' } }, { status: 503 })
  })
  try {
    const { status } = await late.post('/audio/speech', plain)
    expect(status).toBe(524)
  } finally {
    await late.stop()
  }
})

test('8.l4 a session identifier has at most 256 characters', async () => {
  expect((await speak({ ...base, session_id: 'x'.repeat(256) })).status).toBe(200)
  await expectRefusal({ ...base, session_id: 'x'.repeat(257) }, 400, 'session_id')
})

test('8.l5 an end-user identifier has at most 256 characters', async () => {
  expect((await speak({ ...base, user: 'x'.repeat(256) })).status).toBe(200)
  await expectRefusal({ ...base, user: 'x'.repeat(257) }, 400, 'user')
})
