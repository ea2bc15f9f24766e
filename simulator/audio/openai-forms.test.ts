import { describe, expect, test } from 'bun:test'
import { at, readAnswer, simulatorForTests } from '../testing.ts'
import { wave } from './testing.ts'

const simulator = simulatorForTests()

type Part = readonly [name: string, value: string]

const addresses = {
  groq: '/groq/openai/v1/audio/transcriptions',
  mistral: '/mistral/v1/audio/transcriptions',
  fireworks: '/fireworks/v1/audio/transcriptions',
  together: '/together/v1/audio/transcriptions',
  deepinfra: '/deepinfra/v1/openai/audio/transcriptions',
  xai: '/xai/v1/stt',
}

/** Posts parts in their order; the file goes where its mark is, or last without a mark. */
async function post(
  slug: keyof typeof addresses,
  parts: readonly Part[],
  {
    text = 'one two three four',
    key = 'key',
    seconds = 2,
  }: { text?: string; key?: string; seconds?: number | null } = {},
) {
  const form = new FormData()
  const file = seconds === null ? null : new File([wave(seconds)], 'audio.wav', { type: 'audio/wav' })
  for (const [name, value] of parts) {
    if (name === '<file>' && file !== null) form.append('file', file)
    else form.append(name, value)
  }
  if (file !== null && !form.has('file')) form.append('file', file)
  const headers = {
    authorization: `Bearer ${key}`,
    'x-simulator-fault': `text=${encodeURIComponent(text)}`,
  }
  return readAnswer(
    await fetch(`${simulator.url('audio')}${addresses[slug]}`, { method: 'POST', body: form, headers }),
  )
}

const long: Part = ['response_format', 'verbose_json']

describe('Groq', () => {
  test('gives no usage, a text with a space in front, and the duration only in verbose_json', async () => {
    const short = await post('groq', [['model', 'whisper-large-v3']])
    expect(short.json).toEqual({
      text: ' one two three four',
      x_groq: { id: expect.stringMatching(/^req_[a-z0-9]{26}$/) },
    })
    const full = await post('groq', [
      ['model', 'whisper-large-v3-turbo'],
      long,
      ['timestamp_granularities[]', 'word'],
    ])
    expect(full.json).toMatchObject({ task: 'transcribe', language: 'English', duration: 2 })
    expect(at(full.json, 'words.3')).toEqual({ word: 'four', start: 1.5, end: 2 })
    expect(full.json).not.toHaveProperty('segments')
    expect(full.json).not.toHaveProperty('usage')
  })

  test('fetches an address, and requires either an address or a file', async () => {
    const server = Bun.serve({ port: 0, fetch: () => new Response(wave(1)) })
    const parts: Part[] = [['model', 'whisper-large-v3'], long, ['url', `${server.url}a.wav`]]
    expect((await post('groq', parts, { seconds: null })).json).toMatchObject({ duration: 1 })
    expect((await post('groq', parts)).status).toBe(400)
    await server.stop(true)
    const { status, json } = await post('groq', parts, { seconds: null })
    expect([status, json]).toEqual([
      400,
      { error: { message: expect.any(String), type: 'invalid_request_error' } },
    ])
  })

  test.each([
    [[['model', 'whisper-1']], 404],
    [
      [
        ['model', 'whisper-large-v3'],
        ['timestamp_granularities[]', 'word'],
      ],
      400,
    ],
    [[['model', 'whisper-large-v3'], ['timestamp_granularities', 'word'], long], 400],
    [
      [
        ['model', 'whisper-large-v3'],
        ['response_format', 'srt'],
      ],
      400,
    ],
    [
      [
        ['model', 'whisper-large-v3'],
        ['temperature', '2'],
      ],
      400,
    ],
  ] as [Part[], number][])('refuses %j', async (parts, status) => {
    expect((await post('groq', parts)).status).toBe(status)
  })
})

describe('Mistral', () => {
  const model: Part = ['model', 'voxtral-mini-2602']

  test('gives segments with speakers, words of segments, and the seconds in the usage', async () => {
    const segments = await post('mistral', [
      model,
      ['timestamp_granularities', 'segment'],
      ['diarize', 'true'],
    ])
    expect(segments.json).toMatchObject({
      model: 'voxtral-mini-2602',
      text: 'one two three four',
      language: null,
      segments: [{ type: 'transcription_segment', start: 0, end: 2, speaker_id: 'speaker_1' }],
      usage: { prompt_audio_seconds: 2 },
    })
    const words = await post('mistral', [model, ['timestamp_granularities', 'word']])
    expect(at(words.json, 'segments.1')).toMatchObject({ text: 'two', start: 0.5, end: 1, speaker_id: null })
    expect(words.json).not.toHaveProperty('words')
  })

  test('returns a key term with its underscores', async () => {
    const { json } = await post('mistral', [model, ['context_bias', 'head_race']], {
      text: 'The Head Race is dry',
    })
    expect(json).toMatchObject({ text: 'The Head_Race is dry', segments: [] })
  })

  test.each([
    [[model, ['context_bias', 'head race']], 422],
    [[model, ['context_bias[]', 'x']], 422],
    [[model, ['timestamp_granularities[]', 'word']], 422],
    [[model, ['language', 'deu']], 422],
    [[model, ['language', 'de'], ['timestamp_granularities', 'segment']], 400],
    [[model, ['timestamp_granularities', 'word'], ['diarize', 'true']], 400],
    [
      [
        ['model', 'voxtral-mini-transcribe-3-0'],
        ['timestamp_granularities', 'word'],
      ],
      400,
    ],
    [[['model', 'whisper-1']], 400],
    [Array.from({ length: 101 }, (_, index) => ['context_bias', `t${index}`]).concat([[...model]]), 422],
  ] as [Part[], number][])('refuses %j', async (parts, status) => {
    const told = await post('mistral', parts)
    expect(told.status).toBe(status)
    if (status === 422) expect(at(told.json, 'detail.0.msg')).toEqual(expect.any(String))
    else expect(told.json).toMatchObject({ object: 'error', param: null, code: null })
  })

  test('takes a language together with segments for a model of the third generation', async () => {
    const parts: Part[] = [
      ['model', 'voxtral-mini-transcribe-3-0'],
      ['language', 'fr'],
      ['timestamp_granularities', 'segment'],
    ]
    expect((await post('mistral', parts)).json).toMatchObject({ language: 'fr', segments: [{ start: 0 }] })
  })
})

describe('hosts of Whisper', () => {
  const nineWords = 'one two three four five six seven eight nine'

  test('Together lists its speakers beside the segments', async () => {
    const parts: Part[] = [
      long,
      ['language', 'auto'],
      ['diarize', 'true'],
      ['timestamp_granularities[]', 'word'],
    ]
    const { json } = await post('together', parts, { text: nineWords, seconds: 9 })
    expect(json).toMatchObject({ language: 'english', duration: 9, text: nineWords })
    expect(at(json, 'speaker_segments.1')).toEqual({
      id: 1,
      speaker_id: 'SPEAKER_01',
      start: 8,
      end: 9,
      text: 'nine',
      words: [{ word: 'nine', start: 8, end: 9 }],
    })
  })

  test('Fireworks marks words and segments', async () => {
    const parts: Part[] = [
      ['model', 'whisper-v3'],
      long,
      ['diarize', 'true'],
      ['timestamp_granularities', 'word'],
      ['timestamp_granularities', 'segment'],
    ]
    const { json } = await post('fireworks', parts, { text: nineWords, seconds: 9 })
    expect(at(json, 'words.8')).toEqual({ word: 'nine', start: 8, end: 9, speaker_id: 'SPEAKER_01' })
    expect(at(json, 'segments.1')).toMatchObject({ start: 8, speaker_id: 'SPEAKER_01' })
  })

  test('take an address in place of the file, if they take addresses at all', async () => {
    const server = Bun.serve({ port: 0, fetch: () => new Response(wave(3)) })
    const address: Part = ['file', `${server.url}a.wav`]
    for (const [slug, model] of [
      ['together', 'openai/whisper-large-v3'],
      ['fireworks', 'whisper-v3'],
    ] as const) {
      const { json } = await post(slug, [['model', model], long, address], { seconds: null })
      expect(json).toMatchObject({ duration: 3 })
    }
    const refused = await post('deepinfra', [['model', 'openai/whisper-large-v3'], address], {
      seconds: null,
    })
    expect(refused.status).toBe(400)
    await server.stop(true)
  })

  test('differ in the name of a repeated field', async () => {
    const marked: Part = ['timestamp_granularities[]', 'word']
    const plain: Part = ['timestamp_granularities', 'word']
    const status = async (slug: 'together' | 'fireworks' | 'deepinfra', model: string, part: Part) =>
      (await post(slug, [['model', model], long, part])).status
    expect(await status('together', 'openai/whisper-large-v3', plain)).toBe(400)
    expect(await status('together', 'openai/whisper-large-v3', marked)).toBe(200)
    expect(await status('fireworks', 'whisper-v3', marked)).toBe(400)
    expect(await status('deepinfra', 'openai/whisper-large-v3', marked)).toBe(200)
    expect(await status('deepinfra', 'openai/whisper-large-v3', plain)).toBe(400)
  })
})

describe('xAI', () => {
  test('hears a file that is the last part, and gives words', async () => {
    const { json, headers } = await post('xai', [
      ['language', 'en'],
      ['keyterm', 'a'],
      ['keyterm', 'b c'],
    ])
    expect(json).toMatchObject({ text: 'one two three four', language: 'en', duration: 2 })
    expect(at(json, 'words.1')).toEqual({ text: 'two', start: 0.5, end: 1 })
    expect(headers.get('x-trace-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('refuses a file that another part follows, an unknown model, and a bad key, with a different message each', async () => {
    const early = await post('xai', [
      ['<file>', ''],
      ['language', 'en'],
    ])
    expect([early.status, early.json]).toEqual([
      400,
      { error: "The part 'file' must be the last of the form." },
    ])
    expect((await post('xai', [['model', 'grok-stt']])).status).toBe(400)
    expect((await post('xai', [['model', 'another']])).status).toBe(200)
    const key = await post('xai', [], { key: 'bad-key-1' })
    expect([key.status, at(key.json, 'code')]).toEqual([400, 'invalid-argument'])
  })
})

describe('OpenRouter', () => {
  const ask = async (members: Record<string, unknown>, fault = 'text=we%20met%20Anna%20in%20New%20York') => {
    const input_audio = { data: Buffer.from(wave(3)).toString('base64'), format: 'wav' }
    const body = JSON.stringify({ model: 'deepgram/nova-3', input_audio, ...members })
    const headers = {
      authorization: 'Bearer key',
      'content-type': 'application/json',
      'x-simulator-fault': fault,
    }
    const url = `${simulator.url('audio')}/openrouter/api/v1/audio/transcriptions`
    return readAnswer(await fetch(url, { method: 'POST', body, headers }))
  }

  test('hears base64 and reports the cost', async () => {
    const { json, headers } = await ask({})
    expect(json).toEqual({ text: 'we met Anna in New York', usage: { cost: 0.0003, seconds: 3 } })
    expect(headers.get('x-generation-id')).toMatch(/^gen-stt-\d+-\w{20}$/)
  })

  test('gives words, speakers and entities in verbose_json', async () => {
    const { json } = await ask({ response_format: 'verbose_json', diarize: true })
    expect(at(json, 'words.2')).toMatchObject({
      word: 'Anna',
      speaker: 0,
      speaker_label: 'speaker_0',
      type: 'word',
    })
    expect(at(json, 'entities')).toEqual([
      { text: 'Anna', type: 'name', start_char: 7, end_char: 11 },
      { text: 'New York', type: 'place', start_char: 15, end_char: 23 },
    ])
  })

  test.each([
    [
      { model: 'openai/whisper-1', diarize: true, response_format: 'verbose_json' },
      /does not support diarize/,
    ],
    [{ model: 'openai/whisper-1', keyterms: ['x'] }, /does not support keyterms/],
    [{ diarize: true }, /verbose_json/],
    [{ response_format: 'srt' }, /Unsupported response_format "srt"/],
    [{ model: 'nobody/nothing' }, /not a valid model ID/],
    [{ input_audio: { data: 'data:audio/wav;base64,UklGRg==', format: 'wav' } }, /not base64/],
    [{ input_audio: {} }, /either data or url/],
    [{ prompt: 'x' }, /Unrecognized key/],
  ])('refuses %j', async (members, message) => {
    const { status, json } = await ask(members)
    expect([status, at(json, 'error.code')]).toEqual([400, 400])
    expect(String(at(json, 'error.message'))).toMatch(message)
  })
})
