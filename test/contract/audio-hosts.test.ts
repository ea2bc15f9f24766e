import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { at, startTestGateway, toneWav, type TestGateway } from '../support/gateway.ts'

// Transcription at each provider that took over OpenAI's form, and at OpenRouter: the simulated ones refuse what their
// documents refuse, so that an answer says that the request was right.

const prices = { audio_per_minute: '0.06' }
const hosts = [
  { preset: 'openai', path: '/v1', model: 'openai/whisper-1' },
  { preset: 'openai', path: '/v1', model: 'openai/gpt-4o-transcribe', cost: 0.0007 },
  { preset: 'openai', path: '/v1', model: 'openai/gpt-4o-transcribe-diarize', cost: 0.0007 },
  { preset: 'openai', path: '/v1', model: 'openai/gpt-transcribe' },
  { preset: 'azure', path: '/openai/v1', model: 'openai/whisper-1' },
  { preset: 'azure', path: '/openai', model: 'openai/whisper-1', query: { 'api-version': '2024-10-21' } },
  { preset: 'groq', path: '/groq/openai/v1', model: 'groq/whisper-large-v3' },
  { preset: 'mistral', path: '/mistral/v1', model: 'mistralai/voxtral-mini-2602' },
  { preset: 'mistral', path: '/mistral/v1', model: 'mistralai/voxtral-mini-transcribe-3-0' },
  { preset: 'fireworks', path: '/fireworks/v1', model: 'fireworks/whisper-v3' },
  {
    preset: 'together',
    path: '/together/v1',
    model: 'openai/whisper-large-v3',
    upstream: 'openai/whisper-large-v3',
  },
  {
    preset: 'deepinfra',
    path: '/deepinfra/v1/openai',
    model: 'openai/whisper-large-v3',
    upstream: 'openai/whisper-large-v3',
  },
  { preset: 'xai', path: '/xai/v1', model: 'x-ai/grok-stt' },
  { preset: 'openrouter', path: '/openrouter/api/v1', model: 'deepgram/nova-3', upstream: 'deepgram/nova-3' },
].map((host, index) => ({ ...host, id: `host-${index}`, name: `${host.preset} ${host.model} ${host.path}` }))

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway({
    credits: '50',
    providers: (url) =>
      hosts.map(({ id, preset, path, model, upstream, query, cost }) => ({
        id,
        preset,
        base_url: `${url}/p/${id}${path}`,
        api_key: 'simulated-key',
        discover: false,
        weight: 1,
        ...(query === undefined ? {} : { query }),
        models: [
          {
            id: `${id}/ears`,
            upstream: upstream ?? model.split('/')[1] ?? '',
            modality: 'transcription',
            // The price list has the token prices of the others.
            ...(cost === undefined ? { prices } : {}),
          },
        ],
      })),
  })
  for (const { id } of hosts) {
    await gateway.admin(`faults?mount=${id}`, [
      { fault: 'text=We%20met%20Anna%20in%20New%20York%20at%20the%20head%20race' },
    ])
  }
})
afterAll(() => gateway.stop())

const seconds = 10
const input_audio = { data: Buffer.from(toneWav(seconds)).toString('base64'), format: 'wav' }
const text = 'We met Anna in New York at the head race'

const hear = (id: string, members: Record<string, unknown> = {}) =>
  gateway.post('/audio/transcriptions', { model: `${id}/ears`, input_audio, ...members })
const verbose = { response_format: 'verbose_json' }
const traits = {
  words: new Set(['whisper-1', 'whisper-large-v3', 'voxtral-mini-2602', 'whisper-v3', 'grok-stt', 'nova-3']),
  speakers: new Set(['fireworks', 'together', 'xai', 'openrouter']),
  segmentSpeakers: new Set(['gpt-4o-transcribe-diarize', 'voxtral-mini-2602', 'voxtral-mini-transcribe-3-0']),
  terms: new Set([
    'gpt-transcribe',
    'voxtral-mini-2602',
    'voxtral-mini-transcribe-3-0',
    'grok-stt',
    'nova-3',
  ]),
}

describe.each(hosts)('$name', ({ id, preset, model, cost = 0.01 }) => {
  const name = model.split('/')[1] ?? ''

  test('transcribes, and costs the same whatever the answer’s format', async () => {
    const short = await hear(id)
    expect([short.status, at(short.json, 'text')]).toEqual([200, text])
    const long = await hear(id, verbose)
    // Ten seconds at six cents a minute; or 100 tokens of sound at $6 a million, and 10 of words at $10.
    for (const { json } of [short, long]) expect(at(json, 'usage')).toMatchObject({ cost, seconds })
    expect(long.json).toMatchObject({ task: 'transcribe', duration: seconds, text })
    const segments = at(long.json, 'segments') as Record<string, unknown>[]
    expect(segments.map(({ start }) => start)[0]).toBe(0)
    const hasSpeakers = traits.segmentSpeakers.has(name)
    for (const segment of segments) expect('speaker' in segment).toBe(hasSpeakers)
    if (hasSpeakers) expect(segments.map(({ speaker }) => speaker)).toEqual([0, 1])
  })

  test('takes headerless samples, a language and a temperature', async () => {
    const samples = Buffer.from(toneWav(2).subarray(44))
    const asked = { language: 'en', temperature: 0.2 }
    const { status, json } = await hear(id, {
      ...asked,
      input_audio: { data: samples.toString('base64'), format: 'pcm' },
    })
    expect([status, at(json, 'text')]).toEqual([200, text])
    expect(at(json, 'headrace_metadata.dropped')).toEqual(preset === 'xai' ? ['temperature'] : undefined)
  })

  test('gives words if it has them, and a call for words is refused otherwise', async () => {
    const { status, json } = await hear(id, { ...verbose, timestamp_granularities: ['word'] })
    if (!traits.words.has(name)) {
      expect([status, String(at(json, 'error.message'))]).toEqual([
        400,
        expect.stringContaining('timestamp_granularities'),
      ])
      return
    }
    expect(status).toBe(200)
    expect(at(json, 'words.2')).toMatchObject({ word: 'Anna', start: 2, end: 3 })
    expect(at(json, 'segments.0.start')).toBe(0)
  })

  test('gives words with speakers, or refuses to', async () => {
    const { status, json } = await hear(id, { ...verbose, diarize: true })
    if (!traits.speakers.has(preset)) {
      expect([status, String(at(json, 'error.message'))]).toEqual([
        400,
        expect.stringContaining('does not support diarize'),
      ])
      return
    }
    const words = at(json, 'words') as Record<string, unknown>[]
    expect(words.map(({ speaker }) => speaker)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 1, 1])
  })

  test('takes terms, or refuses to', async () => {
    const { status, json } = await hear(id, { keyterms: ['head race', 'Anna'] })
    expect(status).toBe(traits.terms.has(name) ? 200 : 400)
    // Mistral returns the underscore of a joined term; the caller does not see it.
    if (status === 200) expect(at(json, 'text')).toBe(text)
    else expect(String(at(json, 'error.message'))).toContain('does not support keyterms')
  })

  test('refuses a call beyond a limit in its own form', async () => {
    await gateway.admin(`faults?mount=${id}`, [{ fault: 'status=429;retry_after=7', times: 9 }])
    const { status, headers } = await hear(id)
    await gateway.admin(`faults?mount=${id}`, [{ fault: `text=${encodeURIComponent(text)}` }])
    expect([status, headers.get('retry-after')]).toEqual([429, '7'])
  })
})
