import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { at, startTestGateway, type TestGateway } from '../support/gateway.ts'

// Speech at each provider that took over OpenAI's call: the simulated ones refuse what their documents refuse, and give
// sound in the way of each, such as a WAV file at another rate.

const prices = { characters_per_million: '100' }
const hosts = [
  { preset: 'openai', path: '/v1', upstream: 'tts-1', voice: 'alloy', speed: 2 },
  { preset: 'openai', path: '/v1', upstream: 'gpt-4o-mini-tts', voice: 'verse', speed: 0.5 },
  { preset: 'azure', path: '/openai/v1', upstream: 'tts-1', voice: 'alloy', speed: 2 },
  {
    preset: 'azure',
    path: '/openai',
    upstream: 'tts-1',
    voice: 'alloy',
    speed: 2,
    query: { 'api-version': '2024-10-21' },
  },
  { preset: 'groq', path: '/groq/openai/v1', upstream: 'canopylabs/orpheus-v1-english', voice: 'hannah' },
  { preset: 'mistral', path: '/mistral/v1', upstream: 'voxtral-mini-tts-3-0', voice: 'voice_478', clips: 1 },
  { preset: 'together', path: '/together/v1', upstream: 'cartesia/sonic', voice: 'anyone' },
  { preset: 'together', path: '/together/v1', upstream: 'hexgrad/Kokoro-82M', voice: 'af_heart' },
  { preset: 'deepinfra', path: '/deepinfra/v1/openai', upstream: 'hexgrad/Kokoro-82M', voice: 'af_heart' },
  { preset: 'xai', path: '/xai/v1', upstream: 'grok-tts', voice: 'ara', speed: 1.5 },
  {
    preset: 'openrouter',
    path: '/openrouter/api/v1',
    upstream: 'mimic/all-voices',
    voice: 'any',
    speed: 2,
    clips: 3,
    image: true,
  },
].map((host, index) => ({
  speed: null,
  clips: 0,
  image: false,
  ...host,
  id: `mouth-${index}`,
  name: `${host.preset} ${host.upstream} ${host.path}`,
}))

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway({
    credits: '50',
    providers: (url) =>
      hosts.map(({ id, preset, path, upstream, query }) => ({
        id,
        preset,
        base_url: `${url}/p/${id}${path}`,
        api_key: 'simulated-key',
        discover: false,
        weight: 1,
        ...(query === undefined ? {} : { query }),
        models: [{ id: `${id}/mouth`, upstream, modality: 'speech', prices }],
      })),
  })
  for (const { id } of hosts) await gateway.admin(`settings?mount=${id}`, { mount: id, speech: 'tone' })
})
afterAll(() => gateway.stop())

const input = 'Twenty characters ok'

async function say(id: string, members: Record<string, unknown>) {
  const body = { model: `${id}/mouth`, input, ...members }
  const response = await gateway.request('/audio/speech', { method: 'POST', body })
  const bytes = await response.bytes()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  const json: Record<string, unknown> = isJson ? JSON.parse(new TextDecoder().decode(bytes)) : {}
  return { status: response.status, headers: response.headers, bytes, json }
}

/** Seconds of samples, and how often they cross zero in each, which is twice the pitch. */
function heard(bytes: Uint8Array): { seconds: number; crossings: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const samples = Math.floor(bytes.length / 2)
  let crossings = 0
  for (let index = 1; index < samples; index++)
    if (view.getInt16(index * 2 - 2, true) < 0 !== view.getInt16(index * 2, true) < 0) crossings += 1
  const seconds = samples / 24_000
  return { seconds, crossings: crossings / seconds }
}

const clip = (text?: string) => [
  {
    type: 'input_audio',
    input_audio: { data: Buffer.from('RIFF a clip').toString('base64'), format: 'wav' },
  },
  ...(text === undefined ? [] : [{ type: 'text', text }]),
]

async function lastBody(id: string): Promise<Record<string, unknown>> {
  const counters = await gateway.admin(`counters?mount=${id}`)
  const last = (counters['last_requests'] as { body: string }[]).at(-1)
  return JSON.parse(last?.body ?? '{}')
}

describe.each(hosts)('$name', ({ id, preset, voice, speed, clips, image }) => {
  test('speaks samples of the contract: the right pitch for the right time', async () => {
    const { status, headers, bytes } = await say(id, { voice })
    expect([status, headers.get('content-type')]).toEqual([200, 'audio/pcm;rate=24000;channels=1'])
    const { seconds, crossings } = heard(bytes)
    // Sixty milliseconds a character of a tone of 440 Hz.
    expect(seconds).toBeCloseTo(1.2, 1)
    expect(Math.abs(crossings - 880)).toBeLessThan(20)
  })

  test('speaks mp3, made here where the provider has none', async () => {
    const { status, headers, bytes } = await say(id, { voice, response_format: 'mp3' })
    expect([status, headers.get('content-type')]).toEqual([200, 'audio/mpeg'])
    expect([bytes[0], (bytes[1] ?? 0) & 0xe0]).toEqual([0xff, 0xe0])
  })

  test('speaks at another speed, or refuses to', async () => {
    if (speed === null) {
      const refused = await say(id, { voice, speed: 1.2 })
      expect([refused.status, String(at(refused.json, 'error.message'))]).toEqual([
        400,
        expect.stringContaining('speed'),
      ])
      return
    }
    const { status, bytes } = await say(id, { voice, speed })
    expect(status).toBe(200)
    expect(heard(bytes).seconds).toBeCloseTo(1.2 / speed, 1)
  })

  test('speaks like a clip, several clips or a picture, or refuses to', async () => {
    const asked = clips === 0 ? { voice } : {}
    const one = await say(id, { ...asked, input_references: clip('what is said') })
    expect(one.status).toBe(clips > 0 ? 200 : 404)
    const three = await say(id, { ...asked, input_references: [...clip(), ...clip('two'), ...clip()] })
    expect(three.status).toBe(clips >= 3 ? 200 : 404)
    const picture = { type: 'image_url', image_url: { url: 'https://example.com/face.png' } }
    const seen = await say(id, { ...asked, input_references: [picture] })
    expect(seen.status).toBe(image ? 200 : 404)
    for (const { status, json } of [one, three, seen])
      if (status === 404) expect(String(at(json, 'error.message'))).toContain('input_references')
  })

  test('lists at its endpoint which references it takes', async () => {
    const { json } = await gateway.get(`/models/${id}/mouth/endpoints`)
    expect(at(json, 'data.endpoints.0')).toMatchObject({
      supports_voice_cloning: clips > 0,
      supports_multiple_audio_references: clips > 1,
      supports_image_reference: image,
    })
  })

  test('requires a voice when the provider has no default voice', async () => {
    const { status } = await say(id, {})
    expect(status).toBe(preset === 'openrouter' ? 200 : 400)
  })

  test('refuses a call beyond a limit in its own form', async () => {
    await gateway.admin(`faults?mount=${id}`, [{ fault: 'status=429;retry_after=7', times: 9 }])
    const { status, headers } = await say(id, { voice })
    await gateway.admin(`faults?mount=${id}`, [])
    expect([status, headers.get('retry-after')]).toEqual([429, '7'])
  })
})

const idOf = (preset: string) => hosts.find((host) => host.preset === preset)?.id ?? ''

describe('the request to each provider', () => {
  test('Mistral: a clip in place of a voice, and never both', async () => {
    const id = idOf('mistral')
    await say(id, { input_references: clip('said') })
    expect(await lastBody(id)).toEqual({
      model: 'voxtral-mini-tts-3-0',
      input,
      stream: true,
      response_format: 'pcm',
      ref_audio: Buffer.from('RIFF a clip').toString('base64'),
    })
    const both = await say(id, { voice: 'voice_478', input_references: clip() })
    expect([both.status, String(at(both.json, 'error.message'))]).toEqual([
      400,
      expect.stringContaining('input_references'),
    ])
  })

  test('Mistral: moderation is a refusal of the text', async () => {
    const { status, json } = await say(idOf('mistral'), { voice: 'voice_478', input: 'some forbidden words' })
    // 403 there; the contract has 400 for whatever a content policy refuses.
    expect([status, at(json, 'error.metadata.error_type')]).toEqual([400, 'content_policy_violation'])
  })

  test('OpenRouter: references as the contract has them', async () => {
    const id = idOf('openrouter')
    await say(id, { input_references: [...clip('one'), ...clip()], response_format: 'pcm' })
    const data = Buffer.from('RIFF a clip').toString('base64')
    expect(await lastBody(id)).toEqual({
      model: 'mimic/all-voices',
      input,
      response_format: 'pcm',
      input_references: [
        { type: 'input_audio', input_audio: { data, format: 'wav' } },
        { type: 'text', text: 'one' },
        { type: 'input_audio', input_audio: { data, format: 'wav' } },
      ],
    })
  })

  test('xAI: no model, and a codec', async () => {
    const id = idOf('xai')
    await say(id, { voice: 'ara' })
    expect(await lastBody(id)).toEqual({
      text: input,
      voice_id: 'ara',
      language: 'auto',
      output_format: { codec: 'pcm', sample_rate: 24_000 },
    })
  })

  test('OpenAI: instructions as an option, and a refusal of the old models that have none', async () => {
    const provider = { options: { openai: { instructions: 'Speak calmly.' } } }
    const newer = hosts.find(({ upstream }) => upstream === 'gpt-4o-mini-tts')?.id ?? ''
    expect((await say(newer, { voice: 'verse', provider })).status).toBe(200)
    expect(await lastBody(newer)).toMatchObject({ instructions: 'Speak calmly.', voice: 'verse' })
    const { status, json } = await say(idOf('openai'), { voice: 'alloy', provider })
    expect([status, String(at(json, 'error.message'))]).toEqual([
      400,
      expect.stringContaining('instructions'),
    ])
  })

  test('OpenAI: a voice of the account’s own by its id, beside those that all accounts have', async () => {
    const newer = hosts.find(({ upstream }) => upstream === 'gpt-4o-mini-tts')?.id ?? ''
    expect((await say(newer, { voice: 'voice_abc123' })).status).toBe(200)
    expect(await lastBody(newer)).toMatchObject({ voice: { id: 'voice_abc123' } })
    const { status, json } = await say(newer, { voice: 'abc123' })
    expect([status, at(json, 'error.param')]).toEqual([400, 'voice'])
  })

  test('texts that are too long are refused before anything is sent', async () => {
    for (const [preset, voice, most] of [
      ['openai', 'alloy', 4096],
      ['groq', 'hannah', 200],
      ['xai', 'ara', 15_000],
    ] as const) {
      expect((await say(idOf(preset), { voice, input: 'a'.repeat(most + 1) })).status).toBe(400)
    }
  })
})

// This test is the last, because the account is not asked again for a while.
test('an account without quota is the operator’s fault, and is not asked twice', async () => {
  const id = hosts[0]?.id ?? ''
  const requests = async () => Number((await gateway.admin(`counters?mount=${id}`))['requests'])
  const before = await requests()
  await gateway.admin(`faults?mount=${id}`, [{ fault: 'insufficient_quota' }])
  const { status, json } = await say(id, { voice: 'alloy' })
  await gateway.admin(`faults?mount=${id}`, [])
  expect([status, at(json, 'error.metadata.error_type')]).toEqual([502, 'provider_unavailable'])
  expect((await requests()) - before).toBe(1)
})
