import { afterAll, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import { operations } from '../../src/execution/operations.ts'
import { at, customProvider, startTestGateway, toneWav, until } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// What audio costs when the caller leaves, and when the provider says nothing about what was used.

const upstream = startScriptedUpstream()
const gateway = await startTestGateway({
  providers: () => [
    customProvider(upstream.url, [
      { id: 'acme/voice', upstream: 'voice', modality: 'speech', prices: { characters_per_million: '10' } },
      {
        id: 'acme/tokens',
        upstream: 'tokens',
        modality: 'transcription',
        prices: { input_per_million: '2', output_per_million: '8' },
      },
      {
        id: 'acme/minutes',
        upstream: 'minutes',
        modality: 'transcription',
        prices: { audio_per_minute: '0.006' },
      },
      {
        id: 'acme/timed',
        upstream: 'timed',
        modality: 'transcription',
        prices: { audio_per_minute: '0.006' },
        audio: { verbose_json: true },
      },
      {
        id: 'acme/least',
        upstream: 'least',
        modality: 'transcription',
        prices: { audio_per_minute: '0.006', minimum_seconds: 9.5, round_to_seconds: 2 },
      },
      {
        id: 'acme/besides',
        upstream: 'besides',
        modality: 'transcription',
        prices: {
          audio_per_hour: '0.36',
          surcharges: { diarize: { percent: 20 }, entities: { per_minute: '0.003' } },
        },
        audio: { verbose_json: true, word_times: true, diarize: true },
      },
      {
        id: 'acme/channels',
        upstream: 'channels',
        modality: 'transcription',
        prices: { audio_per_hour: '0.36', per_channel: true },
      },
      { id: 'acme/bytes', upstream: 'bytes', modality: 'speech', prices: { utf8_bytes_per_million: '15' } },
    ]),
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

async function usageOf(response: Response): Promise<unknown> {
  const id = response.headers.get('x-generation-id') ?? ''
  const { json } = await until(
    () => gateway.get(`/generation?id=${id}`),
    ({ status }) => status === 200,
  )
  return at(json, 'data')
}

/** An Ogg file of so many bytes with sound of a kind that nobody knows, whose length only its provider can tell. */
function unmeasurable(bytes: number): Uint8Array<ArrayBuffer> {
  const file = new Uint8Array(bytes).fill(7)
  file.set(Buffer.from('OggS'))
  return file
}

/** Audio that begins and does not end before somebody leaves. */
function endless(first: Uint8Array): Response {
  return new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(first),
    }),
    { headers: { 'content-type': 'audio/pcm' } },
  )
}

test('a caller who hangs up after sound has come pays for the whole text', async () => {
  upstream.answer(() => endless(new Uint8Array(9_600)))
  const response = await gateway.request('/audio/speech', {
    method: 'POST',
    body: { model: 'acme/voice', voice: 'any', input: 'Hello there.' },
  })
  const reader = response.body?.getReader()
  expect((await reader?.read())?.value?.byteLength).toBeGreaterThan(0)
  await reader?.cancel()
  const usage = await usageOf(response)
  expect(at(usage, 'cancelled')).toBe(true)
  expect(at(usage, 'headrace.characters')).toBe(12)
  expect(at(usage, 'total_cost')).toBe(0.00012)
})

function transcribe(model: string) {
  const form = new FormData()
  form.set('model', model)
  form.set('file', new File([toneWav(3)], 'tone.wav', { type: 'audio/wav' }))
  return gateway.request('/audio/transcriptions', { method: 'POST', body: form })
}

test('a transcript that is billed by tokens and came without any is estimated, never free', async () => {
  upstream.answer(() => Response.json({ text: 'what was said in three seconds' }))
  const response = await transcribe('acme/tokens')
  expect(response.status).toBe(200)
  const shown: unknown = await response.json()
  // Ten tokens for each second of audio, a third of a token for each byte of text.
  expect(at(shown, 'usage')).toMatchObject({ input_tokens: 30, output_tokens: 10, seconds: 3 })
  const usage = await usageOf(response)
  expect(at(usage, 'headrace.is_estimated')).toBe(true)
  expect(at(usage, 'total_cost')).toBe(0.00014)
})

test.each([
  ['counts of none', { input_tokens: 0, output_tokens: 0, total_tokens: 0 }],
  ['nothing of the audio', { output_tokens: 12 }],
  ['nothing of the text', { input_tokens: 40 }],
])('a transcript that is billed by tokens and came with %s is estimated, never free', async (_, counts) => {
  upstream.answer(() => Response.json({ text: 'what was said in three seconds', usage: counts }))
  const response = await transcribe('acme/tokens')
  expect(at(await response.json(), 'usage')).toMatchObject({ input_tokens: 30, output_tokens: 10 })
  expect(at(await usageOf(response), 'total_cost')).toBe(0.00014)
})

test('a transcript that is billed by time and came with tokens alone is charged by its time', async () => {
  upstream.answer(() =>
    Response.json({ text: 'what was said', usage: { input_tokens: 9, output_tokens: 4 } }),
  )
  // Nobody can measure this, so its size bounds it: a second for two thousand bytes.
  const form = new FormData()
  form.set('model', 'acme/minutes')
  form.set('file', new File([unmeasurable(6_000)], 'talk.ogg'))
  const response = await gateway.request('/audio/transcriptions', { method: 'POST', body: form })
  expect(response.status).toBe(200)
  await response.text()
  expect(at(await usageOf(response), 'total_cost')).toBe(0.0003)
})

test('a length that the audio cannot have is not charged, nor shown', async () => {
  // Three seconds, told in milliseconds.
  upstream.answer(() => Response.json({ text: 'what was said', duration: 3_000 }))
  const form = new FormData()
  form.set('model', 'acme/minutes')
  form.set('response_format', 'verbose_json')
  form.set('file', new File([toneWav(3)], 'tone.wav', { type: 'audio/wav' }))
  const response = await gateway.request('/audio/transcriptions', { method: 'POST', body: form })
  expect(await response.json()).toMatchObject({ duration: 3, segments: [{ end: 3 }], usage: { seconds: 3 } })
  expect(at(await usageOf(response), 'total_cost')).toBe(0.0003)
})

test('one transcript has one price, whatever the answer tells of its length', async () => {
  const lengths = [{ usage: { type: 'duration', seconds: 4 } }, { duration: 2.96 }, { duration: 60 }, {}]
  for (const told of lengths) {
    upstream.answer(() => Response.json({ text: 'what was said', ...told }))
    for (const [model, cost] of [
      ['acme/minutes', 0.0003],
      ['acme/least', 0.001],
    ] as const) {
      const response = await transcribe(model)
      expect(at(await response.json(), 'usage')).toMatchObject({ cost, seconds: 3 })
      expect(at(await usageOf(response), 'total_cost')).toBe(cost)
    }
  }
})

test('a length that only the provider tells costs the same in whole seconds and in fractions', async () => {
  for (const told of [{ usage: { type: 'duration', seconds: 4 } }, { duration: 3.4 }]) {
    upstream.answer(() => Response.json({ text: 'what was said', ...told }))
    const form = new FormData()
    form.set('model', 'acme/minutes')
    form.set('file', new File([unmeasurable(6_000)], 'talk.ogg'))
    const response = await gateway.request('/audio/transcriptions', { method: 'POST', body: form })
    await response.text()
    expect(at(await usageOf(response), 'total_cost')).toBe(0.0004)
  }
})

test('a length that is told only beside times costs the same in every format of the answer', async () => {
  upstream.answer(({ body }) =>
    Response.json({ text: 'what was said', ...(body.includes('verbose_json') ? { duration: 3.4 } : {}) }),
  )
  for (const format of ['json', 'verbose_json']) {
    const form = new FormData()
    form.set('model', 'acme/timed')
    form.set('response_format', format)
    form.set('file', new File([unmeasurable(60_000)], 'talk.ogg'))
    const response = await gateway.request('/audio/transcriptions', { method: 'POST', body: form })
    const shown = (await response.json()) as Record<string, unknown>
    expect([format, at(shown, 'usage.cost'), at(shown, 'usage.seconds')]).toEqual([format, 0.0004, 4])
    expect(at(await usageOf(response), 'total_cost')).toBe(0.0004)
    if (format === 'json') expect(Object.keys(shown).toSorted()).toEqual(['text', 'usage'])
  }
})

test('a transcript that is billed by time needs no tokens', async () => {
  upstream.answer(() => Response.json({ text: 'what was said' }))
  const response = await transcribe('acme/minutes')
  expect(response.status).toBe(200)
  await response.text()
  const usage = await usageOf(response)
  expect(at(usage, 'headrace.is_estimated')).toBe(false)
  expect(at(usage, 'total_cost')).toBe(0.0003)
})

test('speech that runs out of its time breaks off, and is paid like a speech the caller left', async () => {
  let jumpedMs = 0
  // In which a busy machine brings the first piece of sound.
  const leftMs = 2_000
  const late = await startTestGateway({
    providers: () => [
      customProvider(upstream.url, [
        {
          id: 'acme/voice',
          upstream: 'voice',
          modality: 'speech',
          prices: { characters_per_million: '10' },
        },
      ]),
    ],
    hooks: {
      clock: {
        nowMs: () => systemClock.nowMs(),
        monotonicMs: () => systemClock.monotonicMs() + jumpedMs,
      },
      keepAliveMs: 20,
      writeLog: () => undefined,
    },
  })
  upstream.answer(() => {
    jumpedMs = operations.speech.deadlineMs - leftMs
    return endless(new Uint8Array(9_600))
  })
  const response = await late.request('/audio/speech', {
    method: 'POST',
    body: { model: 'acme/voice', voice: 'any', input: 'Hello there.' },
  })
  expect(response.status).toBe(200)
  const ending = await Promise.race([
    response.bytes().then(
      () => 'whole',
      () => 'broken off',
    ),
    Bun.sleep(leftMs + 10_000).then(() => 'silent'),
  ])
  await late.stop()
  expect(ending).toBe('broken off')
})

test('a surcharge is paid by calls that ask for the feature, in every format alike, and stands in their row', async () => {
  upstream.answer(() =>
    Response.json({ text: 'so', duration: 3, words: [{ word: 'so', start: 0, end: 3, speaker: 'A' }] }),
  )
  const asked = async (fields: Readonly<Record<string, string>>) => {
    const form = new FormData()
    form.set('model', 'acme/besides')
    for (const [name, value] of Object.entries(fields)) form.set(name, value)
    form.set('file', new File([toneWav(3)], 'tone.wav', { type: 'audio/wav' }))
    const response = await gateway.request('/audio/transcriptions', { method: 'POST', body: form })
    expect(response.status).toBe(200)
    const shown = at(await response.json(), 'usage.cost')
    const usage = await usageOf(response)
    expect([at(usage, 'total_cost'), at(usage, 'headrace.audio_channels')]).toEqual([shown, 1])
    return [shown, at(usage, 'headrace.audio_features')]
  }
  const entities = JSON.stringify({ options: { custom: { detect_entities: true } } })
  for (const format of ['json', 'verbose_json']) {
    expect(await asked({ response_format: format })).toEqual([0.0003, []])
    expect(await asked({ response_format: format, provider: entities })).toEqual([0.00045, ['entities']])
  }
  const diarized = { response_format: 'verbose_json', diarize: 'true' }
  expect(await asked(diarized)).toEqual([0.00036, ['diarize']])
  expect(await asked({ ...diarized, provider: entities })).toEqual([0.00051, ['diarize', 'entities']])
})

test('stereo costs twice where channels are billed, and speech by its bytes where those are', async () => {
  upstream.answer(() => Response.json({ text: 'what was said' }))
  const stereo = Buffer.from(toneWav(3))
  stereo.writeUInt16LE(2, 22)
  stereo.writeUInt32LE(stereo.readUInt32LE(24) * 4, 28)
  stereo.writeUInt16LE(4, 32)
  const form = new FormData()
  form.set('model', 'acme/channels')
  form.set('file', new File([stereo], 'tone.wav', { type: 'audio/wav' }))
  const response = await gateway.request('/audio/transcriptions', { method: 'POST', body: form })
  // The same bytes are half as long as two channels: a second and a half of each.
  expect(at(await response.json(), 'usage')).toMatchObject({ seconds: 1.5, cost: 0.0003 })
  expect(at(await usageOf(response), 'headrace.audio_channels')).toBe(2)

  upstream.answer(() => new Response(new Uint8Array(4_800)))
  const spoken = await gateway.request('/audio/speech', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'acme/bytes', input: 'Grüße', voice: 'v' }),
  })
  expect(spoken.status).toBe(200)
  await spoken.arrayBuffer()
  expect(await usageOf(spoken)).toMatchObject({
    total_cost: 0.000105,
    headrace: { characters: 5, utf8_bytes: 7 },
  })
})
