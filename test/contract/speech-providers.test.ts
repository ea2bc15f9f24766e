import { afterAll, describe, expect, test } from 'bun:test'
import { at, readAnswer, startTestGateway, until } from '../support/gateway.ts'
import { speechDeployments, speechProviders } from '../support/speech-providers.ts'

// Every provider of speech with an API of its own, against its fake: the speech that a caller gets, and the
// errors for refusals.

const clipServer = Bun.serve({
  port: 0,
  fetch({ url }) {
    if (url.endsWith('/gone.wav')) return new Response('gone', { status: 404 })
    if (url.endsWith('/large.wav')) return new Response(new Uint8Array(15 * 1024 * 1024 + 1))
    return new Response(url.endsWith('/empty.wav') ? '' : Buffer.from('RIFFxxxxWAVE'))
  },
})
const gateway = await startTestGateway({
  providers: speechDeployments,
  fetchHosts: [`127.0.0.1:${clipServer.port}`, `localhost:${clipServer.port}`],
})
afterAll(async () => {
  await gateway.stop()
  await clipServer.stop(true)
})

const text = 'x'.repeat(100)

async function speak(body: Record<string, unknown>, through = gateway) {
  const response = await through.request('/audio/speech', { method: 'POST', key: through.key, body })
  const { headers } = response
  if (response.status === 200)
    return { status: 200, bytes: await response.bytes(), headers, error: undefined }
  const { json, status } = await readAnswer(response)
  return { status, bytes: new Uint8Array(0), headers, error: at(json, 'error') as Record<string, unknown> }
}

async function fault(mount: string, faults: Record<string, unknown>[]) {
  await gateway.admin('faults', { mount, rules: faults })
}

const billedInHeaders: ReadonlySet<string> = new Set(['deepgram', 'elevenlabs'])

/** Bytes of samples until the stream breaks; throws for one that ends. */
async function readUntilItBreaks(response: Response): Promise<number> {
  let bytes = 0
  const reader = response.body?.getReader()
  for (;;) {
    const piece = await reader?.read().catch(() => null)
    if (piece === null || piece === undefined) return bytes
    if (piece.done) throw new Error('the stream ended as if it were whole')
    bytes += piece.value.byteLength
  }
}

for (const {
  preset,
  model,
  voice,
  missing,
  speeds,
  clips = 0,
  busy = 529,
  billed = 100,
} of speechProviders) {
  const base = { model, input: text, ...(voice === undefined ? {} : { voice }) }

  describe(preset, () => {
    test('speaks the contract’s samples, as long as the text takes', async () => {
      await fault(preset, [{ fault: 'tone' }])
      const { status, bytes, headers, error } = await speak(base)
      expect([status, error]).toEqual([200, undefined])
      expect(headers.get('content-type')).toBe('audio/pcm;rate=24000;channels=1')
      // A tone of 60 ms for each character.
      expect(bytes.length / 48_000).toBeWithin(5.99, 6.01)
    })

    test('speaks mp3', async () => {
      const { status, bytes, headers } = await speak({ ...base, response_format: 'mp3' })
      expect([status, headers.get('content-type')]).toEqual([200, 'audio/mpeg'])
      expect((bytes[0] ?? 0) === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0).toBe(true)
      expect(bytes.length).toBeGreaterThan(20_000)
    })

    test('charges what the provider says it billed, else the text’s own characters', async () => {
      const { headers } = await speak(base)
      const { json } = await gateway.get(`/generation?id=${headers.get('x-generation-id')}`)
      // Ten credits for a million characters.
      expect(at(json, 'data.total_cost')).toBe(billed / 100_000)
    })

    if (speeds !== undefined) {
      test('speaks faster, but not faster than it can', async () => {
        const { bytes } = await speak({ ...base, speed: speeds.within })
        expect(bytes.length / 48_000).toBeWithin(5.95 / speeds.within, 6.05 / speeds.within)
        expect(await speak({ ...base, speed: speeds.beyond })).toMatchObject({
          status: 400,
          error: { message: expect.stringContaining('speed') },
        })
      })
    } else {
      test('without a speed control refuses other speeds', async () => {
        expect(await speak({ ...base, speed: 1.1 })).toMatchObject({ status: 400, error: { param: 'speed' } })
      })
    }

    test('speaks like clips only where it can, and says so before it is asked', async () => {
      const clip = {
        type: 'input_audio',
        input_audio: { data: Buffer.from('RIFFxxxxWAVE').toString('base64') },
      }
      const words = { type: 'text', text: 'what is said in it' }
      const counts = [1, 2].map((count) => Array.from({ length: count }, () => [clip, words]).flat())
      const statuses = []
      for (const parts of counts) {
        const { status, error } = await speak({ model, input: text, input_references: parts })
        statuses.push(status)
        if (status !== 200) expect([status, error?.['param']]).toEqual([404, 'input_references'])
      }
      expect(statuses).toEqual([clips > 0 ? 200 : 404, clips > 1 ? 200 : 404])
    })

    test('reports an unknown voice', async () => {
      if (missing === undefined) return
      const { status, error } = await speak({ ...base, voice: missing.voice })
      expect([status, error?.['param']]).toEqual([
        missing.status,
        missing.param === null ? undefined : 'voice',
      ])
    })

    test.each([
      [400, 400],
      [429, 429],
      [500, 502],
      [503, busy],
    ])('a refusal with %i is %i for the caller', async (status, told) => {
      await fault(preset, [{ fault: `status=${status}` }])
      expect((await speak(base)).status).toBe(told)
      await fault(preset, [{ fault: 'tone' }])
    })

    test('that breaks off after its first sound ends the stream abnormally, and is paid in full', async () => {
      await fault(preset, [{ fault: 'tone,chunk_delay=1,cut_after=3' }])
      const response = await gateway.request('/audio/speech', {
        method: 'POST',
        key: gateway.key,
        body: base,
      })
      await fault(preset, [{ fault: 'tone' }])
      expect(response.status).toBe(200)
      expect(await readUntilItBreaks(response)).toBeGreaterThan(1)
      const { json } = await until(
        () => gateway.get(`/generation?id=${response.headers.get('x-generation-id')}`),
        ({ status }) => status === 200,
      )
      // The billed amount is in a header, or else in the end that never came.
      const own = billedInHeaders.has(preset) ? billed : 100
      expect([at(json, 'data.cancelled'), at(json, 'data.total_cost')]).toEqual([false, own / 100_000])
    })
  })
}

describe('features of one provider', () => {
  test('Aura takes its voice beside the family or in its name, and not two of them', async () => {
    const whole = { model: 'deepgram/aura-2-thalia-en', input: text }
    expect((await speak(whole)).status).toBe(200)
    expect((await speak({ ...whole, voice: 'thalia-en' })).status).toBe(200)
    expect(await speak({ ...whole, voice: 'apollo-en' })).toMatchObject({
      status: 400,
      error: { message: expect.stringContaining('voice') },
    })
    expect((await speak({ model: 'deepgram/aura-2', input: text, voice: 'aura-2-thalia-en' })).status).toBe(
      200,
    )
    expect(await speak({ model: 'deepgram/aura-2', input: text })).toMatchObject({
      status: 400,
      error: { message: 'An explicit voice is required for this TTS provider.' },
    })
  })

  test('Aura speaks by the whole name of a voice that no list has, as its family does', async () => {
    for (const model of [
      'deepgram/aura-2-apollo-en',
      'aura-2-celeste-es',
      'deepgram/aura-2-apollo-en:nitro',
    ]) {
      const { status, headers, error } = await speak({ model, input: text })
      expect([model, status, error]).toEqual([model, 200, undefined])
      const { json } = await gateway.get(`/generation?id=${headers.get('x-generation-id')}`)
      expect([at(json, 'data.model'), at(json, 'data.total_cost')]).toEqual(['deepgram/aura-2', 0.001])
    }
    expect(
      await speak({ model: 'deepgram/aura-2-apollo-en', input: text, voice: 'thalia-en' }),
    ).toMatchObject({ status: 400, error: { message: expect.stringContaining('voice') } })
    expect(await speak({ model: 'deepgram/aura-2-missing-en', input: text })).toMatchObject({
      status: 400,
      error: { message: expect.stringContaining('voice') },
    })
    for (const model of ['deepgram/aura-3-apollo-en', 'deepgram/aura-2-apollo'])
      expect(await speak({ model, input: text })).toMatchObject({ status: 400, error: { param: 'model' } })
  })

  test('Fish Audio speaks like clips with their transcripts, and is not asked with one that has none', async () => {
    const clip = {
      type: 'input_audio',
      input_audio: { data: Buffer.from('RIFFxxxxWAVE').toString('base64'), format: 'wav' },
    }
    const words = { type: 'text', text: 'what is said in it' }
    const cloned = (...parts: unknown[]) =>
      speak({ model: 'fish-audio/s1', input: text, input_references: parts })
    expect((await cloned(clip, words)).status).toBe(200)
    expect((await cloned(clip, words, clip, words)).status).toBe(200)
    const remote = {
      type: 'input_audio',
      input_audio: { url: `http://127.0.0.1:${clipServer.port}/clip.wav` },
    }
    expect((await cloned(remote, words)).status).toBe(200)
    const named = { model: 'fish-audio/s1', input: text, input_references: [clip, words] }
    expect(await speak({ ...named, voice: 'a-stored-voice' })).toMatchObject({
      status: 400,
      error: { param: 'voice', message: expect.stringContaining('input_references') },
    })
    expect((await speak({ ...named, voice: 'default' })).status).toBe(200)
    for (const parts of [[clip], [clip, words, clip]]) {
      expect(await cloned(...parts)).toMatchObject({
        status: 404,
        error: { message: expect.stringContaining('transcript') },
      })
    }
  })

  test.each([
    ['gone.wav', 400],
    ['empty.wav', 400],
    ['large.wav', 413],
  ])('a clip at an address that gives no clip is refused by the field: %s', async (name, status) => {
    const requests = async () => Number((await gateway.admin('counters?mount=mistral'))['requests'])
    const before = await requests()
    const url = `http://127.0.0.1:${clipServer.port}/${name}`
    const answer = await speak({
      model: 'mistralai/voxtral-mini-tts-3-0',
      input: text,
      input_references: [{ type: 'input_audio', input_audio: { url } }],
    })
    expect([answer.status, answer.error?.['param']]).toEqual([status, 'input_references'])
    expect(await requests()).toBe(before)
  })

  test('Mistral speaks like one clip, with or without its transcript, and like no two', async () => {
    const clip = { type: 'input_audio', input_audio: { data: 'data:audio/wav;base64,UklGRg==' } }
    const words = { type: 'text', text: 'what is said in it' }
    const cloned = (...parts: unknown[]) =>
      speak({ model: 'mistralai/voxtral-mini-tts-3-0', input: text, input_references: parts })
    expect((await cloned(clip)).status).toBe(200)
    expect((await cloned(clip, words)).status).toBe(200)
    expect((await cloned(clip, words, clip, words)).status).toBe(404)
  })

  test.each([
    [1002, 429],
    [1004, 502],
    [1008, 502],
    [1026, 400],
    [1039, 429],
    [2013, 400],
    [20132, 400],
    [1000, 502],
  ])('MiniMax’s code %i in a 200 is %i for the caller', async (code, told) => {
    const minimax = await startTestGateway({ providers: speechDeployments })
    try {
      await minimax.admin('faults', { mount: 'minimax', rules: [{ fault: `status=400;code=${code}` }] })
      const asked = { model: 'minimax/speech-2.8-turbo', input: text, voice: 'v' }
      expect((await speak(asked, minimax)).status).toBe(told)
    } finally {
      await minimax.stop()
    }
  })

  test.each([
    ['inworld', 'inworld/inworld-tts-2', 8, 429],
    ['minimax', 'minimax/speech-2.8-turbo', 1002, 429],
    ['mistral', 'mistralai/voxtral-mini-tts-3-0', 500, 502],
  ])(
    '%s may fail within its answer: before the first sound it is an error, then the stream breaks',
    async (...told) => {
      const [preset, model, code, status] = told
      const asked = { model, input: text, voice: 'v' }
      await fault(preset, [{ fault: `tone,error_chunk=0;code=${code}` }])
      expect((await speak(asked)).status).toBe(status)
      await fault(preset, [{ fault: `tone,error_chunk=2;code=${code}` }])
      const response = await gateway.request('/audio/speech', {
        method: 'POST',
        key: gateway.key,
        body: asked,
      })
      expect(response.status).toBe(200)
      expect(await readUntilItBreaks(response)).toBeGreaterThan(1)
      await fault(preset, [{ fault: 'tone' }])
    },
  )

  test('ElevenLabs’ account without credits is no bad key, though it has the status of one', async () => {
    const elevenlabs = await startTestGateway({ providers: speechDeployments })
    try {
      await elevenlabs.admin('faults', {
        mount: 'elevenlabs',
        rules: [{ fault: 'status=401;code=quota_exceeded' }],
      })
      const asked = { model: 'elevenlabs/eleven_v3', input: text, voice: 'JBFqnCBsd6RMkjVDRZzb' }
      const { status, error } = await speak({ ...asked, model: 'elevenlabs/eleven_flash_v2_5' }, elevenlabs)
      expect([status, error?.['message']]).toEqual([
        502,
        "The gateway's account with the provider has no quota left.",
      ])
    } finally {
      await elevenlabs.stop()
    }
  })
})

describe.each([
  [401, 'key'],
  [402, 'account'],
])('a refusal with %i', (status, whose) => {
  test(`is the operator’s ${whose} at fault, and not the caller’s`, async () => {
    const refused = await startTestGateway({ providers: speechDeployments })
    try {
      for (const { preset, model, voice } of speechProviders) {
        await refused.admin('faults', { mount: preset, rules: [{ fault: `status=${status}` }] })
        const answer = await speak({ model, input: text, voice: voice ?? 'any' }, refused)
        expect([preset, answer.status]).toEqual([preset, 502])
        // The deployment is out until the operator acts.
        expect([
          preset,
          (await speak({ model, input: text, voice: voice ?? 'any' }, refused)).status,
        ]).toEqual([preset, 503])
      }
    } finally {
      await refused.stop()
    }
  })
})
