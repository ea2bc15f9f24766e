import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { createPublicFetch } from '../../src/transport/public-fetch.ts'
import { at, sandboxProvider, startTestGateway, toneWav } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// The three ways to send audio, the check of its bytes, and the choice of who fetches an address.

const wav = toneWav(2)
const asked: string[] = []
const files = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname } = new URL(request.url)
    asked.push(pathname)
    if (pathname === '/page.mp3')
      return new Response('<html>sign in</html>', { headers: { 'content-type': 'audio/mpeg' } })
    if (pathname === '/none.wav') return new Response('')
    // A server that gives every file the same media type does not describe the sound.
    return new Response(wav, { headers: { 'content-type': 'audio/mpeg' } })
  },
})
const host = `127.0.0.1:${files.port}`
const address = `http://${host}/clip.wav`

const taker = startScriptedUpstream()
const other = startScriptedUpstream()
const heard = {
  text: 'Open the gate.',
  usage: { prompt_audio_seconds: 7, prompt_tokens: 1, completion_tokens: 3 },
}
taker.answer(() => Response.json(heard))
other.answer(() => Response.json({ text: 'Open the gate.' }))

const prices = { audio_per_minute: '0.06' }
const at1 = { discover: false, weight: 1 }
const providers = (url: string) => [
  sandboxProvider(url),
  sandboxProvider(taker.url, {
    preset: 'mistral',
    ...at1,
    models: [
      { id: 'mistralai/voxtral-mini-2602', upstream: 'voxtral-mini-2602', modality: 'transcription', prices },
      { id: 'both/ears', upstream: 'voxtral-mini-2602', modality: 'transcription', prices },
    ],
  }),
  sandboxProvider(taker.url, {
    preset: 'deepgram',
    ...at1,
    models: [{ id: 'deepgram/nova-3', upstream: 'nova-3', modality: 'transcription', prices }],
  }),
  sandboxProvider(other.url, {
    preset: 'custom',
    id: 'acme',
    ...at1,
    models: [{ id: 'both/ears', upstream: 'ears', modality: 'transcription', prices }],
  }),
]
const gateway = await startTestGateway({ providers, fetchHosts: [host] })

// A recogniser that really listens takes its time.
const scripted = [{ match: { path: '/audio/transcriptions' }, fault: 'text=Open%20the%20gate.' }]
await gateway.admin('faults', scripted)

/** As if the address were public: the host is fetched from, and no host is the operator's own. */
const fetchAny = createPublicFetch({ allowedHosts: [host] })
const open = await startTestGateway({
  providers,
  hooks: {
    writeLog: () => undefined,
    publicFetch: Object.assign(fetchAny.bind(null), {
      check: async (url: string) => ({ url, isConfigured: false }),
    }),
  },
})
afterAll(async () => {
  await gateway.stop()
  await open.stop()
  await taker.stop()
  await other.stop()
  await files.stop(true)
})
beforeEach(() => {
  asked.length = 0
  taker.seen.length = 0
  other.seen.length = 0
})

const model = 'openai/whisper-1'
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const mp3Frame = () => {
  const frame = Buffer.alloc(192, 0x55)
  frame.set([0xff, 0xfb, 0x54, 0xc4])
  return frame
}
const mp3 = Buffer.concat([mp3Frame(), mp3Frame(), mp3Frame()])
const text = Buffer.from('Minutes of the meeting: the gate is to be opened.')
const page = Buffer.from('<!DOCTYPE html><html><body>Not Found</body></html>')

async function refusalOf(body: unknown): Promise<[status: number, param: unknown, message: string]> {
  const { status, json } = await gateway.post('/audio/transcriptions', body)
  return [status, at(json, 'error.param'), String(at(json, 'error.message'))]
}

function form(name: string, bytes: Uint8Array, type = ''): FormData {
  const made = new FormData()
  made.append('model', model)
  made.append('file', new File([new Uint8Array(bytes)], name, { type }))
  return made
}

describe('the stated format is compared with the bytes, on the sandbox as well', () => {
  test('4.3.f1b another format than the bytes have is refused by the field that states it, with both and what to do', async () => {
    const json = { model, input_audio: { data: base64(wav), format: 'mp3' } }
    expect(await refusalOf(json)).toEqual([
      400,
      'input_audio.format',
      '"input_audio.format" says "mp3", but the bytes are "wav". Say "wav" there, or convert the audio to "mp3".',
    ])
    const dataUrl = { model, input_audio: { data: `data:audio/flac;base64,${base64(wav)}` } }
    expect(await refusalOf(dataUrl)).toMatchObject([
      400,
      'input_audio.data',
      expect.stringContaining('"flac"'),
    ])
    expect(await refusalOf(form('clip.webm', mp3))).toEqual([
      400,
      'file',
      'The name of "file" says "webm", but the bytes are "mp3". Say "mp3" there, or convert the audio to "webm".',
    ])
    expect(await refusalOf(form('clip', mp3, 'audio/wav'))).toEqual([
      400,
      'file',
      'The content type of "file" says "wav", but the bytes are "mp3". Say "mp3" there, or convert the audio to "wav".',
    ])
    const remote = { model, input_audio: { url: address, format: 'ogg' } }
    expect(await refusalOf(remote)).toMatchObject([
      400,
      'input_audio.format',
      expect.stringContaining('"wav"'),
    ])
  })

  test('4.3.f1c bytes that are not sound are refused with their real type', async () => {
    for (const [bytes, word] of [
      [text, 'text'],
      [page, 'text'],
      [Buffer.from('\x89PNG\r\n\x1a\n and so on', 'latin1'), 'a PNG image'],
    ] as const) {
      const named = await refusalOf(form('talk.mp3', bytes, 'audio/mpeg'))
      expect(named).toMatchObject([
        400,
        'file',
        expect.stringContaining(`"file" is ${word} and not mp3 audio. Convert it to`),
      ])
      const inline = await refusalOf({ model, input_audio: { data: base64(bytes), format: 'wav' } })
      expect(inline).toMatchObject([
        400,
        'input_audio.data',
        expect.stringContaining(`is ${word} and not wav`),
      ])
      const raw = await refusalOf({ model, input_audio: { data: base64(bytes), format: 'pcm' } })
      expect(raw).toMatchObject([400, 'input_audio.data', expect.stringContaining(`is ${word} and not pcm`)])
    }
    expect(await refusalOf(form('talk.mp3', new Uint8Array(0)))).toMatchObject([
      400,
      'file',
      expect.stringContaining('empty'),
    ])
    expect(await refusalOf(form('talk.mp3', Buffer.alloc(5_000)))).toMatchObject([
      400,
      'file',
      expect.stringContaining('is not mp3 audio'),
    ])
    const fetched = await refusalOf({ model, input_audio: { url: `http://${host}/page.mp3` } })
    expect(fetched).toMatchObject([400, 'input_audio.url', expect.stringContaining('is text')])
    const empty = await refusalOf({ model, input_audio: { url: `http://${host}/none.wav` } })
    expect(empty).toMatchObject([400, 'input_audio.url', expect.stringContaining('empty')])
  })

  test('a format that the caller does not state is recognised by the bytes', async () => {
    for (const body of [
      form('blob', wav),
      form('blob', wav, 'application/octet-stream'),
      { model, input_audio: { url: address } },
    ]) {
      const { status, json } = await gateway.post('/audio/transcriptions', body)
      expect([status, at(json, 'usage.seconds')]).toEqual([200, 2])
    }
  })

  test('samples have no header and are taken as they are', async () => {
    const { status, json } = await gateway.post('/audio/transcriptions', {
      model,
      input_audio: { data: base64(wav.subarray(44)), format: 'pcm' },
    })
    expect([status, at(json, 'usage.seconds')]).toEqual([200, 2])
  })
})

describe('a form', () => {
  const send = (fields: readonly (readonly [string, string])[], withFile = true) => {
    const made = new FormData()
    if (withFile) made.append('file', new File([wav], 'clip.wav'))
    for (const [name, value] of fields) made.append(name, value)
    return gateway.post('/audio/transcriptions', made)
  }
  const verbose = [
    ['model', model],
    ['response_format', 'verbose_json'],
  ] as const

  test('4.3.i2c a form has its audio as a file or at an address, and exactly one of the two', async () => {
    expect(
      (
        await send(
          [
            ['model', model],
            ['source_url', address],
          ],
          false,
        )
      ).status,
    ).toBe(200)
    expect(asked).toEqual(['/clip.wav'])
    for (const answer of [
      await send([
        ['model', model],
        ['source_url', address],
      ]),
      await send([['model', model]], false),
    ]) {
      expect([answer.status, at(answer.json, 'error.param')]).toEqual([400, 'file'])
      expect(String(at(answer.json, 'error.message'))).toContain('source_url')
    }
  })

  test('4.3.i2b a form has granularities repeated or joined with commas, with or without brackets', async () => {
    const both: readonly (readonly [string, string])[][] = [
      [
        ['timestamp_granularities[]', 'word'],
        ['timestamp_granularities[]', 'segment'],
      ],
      [['timestamp_granularities[]', 'word,segment']],
      [['timestamp_granularities', 'segment, word']],
    ]
    for (const granularities of both) {
      const { status, json } = await send([...verbose, ...granularities])
      expect([status, Array.isArray(json['words']), Array.isArray(json['segments'])]).toEqual([
        200,
        true,
        true,
      ])
    }
    expect((await send([...verbose, ['timestamp_granularities[]', 'word,sentence']])).status).toBe(400)
  })

  test('4.3.i2d a form has key terms repeated, and JSON in provider and trace', async () => {
    const voxtral = [
      ['model', 'mistralai/voxtral-mini-2602'],
      ['keyterms[]', 'penstock'],
      ['keyterms[]', 'surge tank'],
    ] as const
    const json = [
      ['trace', '{"trace_id":"t-1"}'],
      ['provider', '{"only":["mistral"],"options":{"mistral":{"style":"calm"}}}'],
    ] as const
    expect((await send([...voxtral, ...json])).status).toBe(200)
    const sent = taker.seen.at(-1)?.body ?? ''
    for (const words of ['penstock', 'surge_tank', 'calm']) expect(sent).toContain(words)
    expect(sent).not.toContain('t-1')
    for (const broken of [
      ['trace', '{'],
      ['provider', '{"data_collection":"never"}'],
    ] as const) {
      const { status, json: refused } = await send([...voxtral, broken])
      expect([status, String(at(refused, 'error.message')).includes(broken[0])]).toEqual([400, true])
    }
  })
})

describe('audio at an address', () => {
  const remote = (name: string) => ({ model: name, input_audio: { url: address } })

  test('4.3.i3c an address is fetched by a provider that takes addresses, and billed by the length that it tells', async () => {
    const { status, json } = await open.post('/audio/transcriptions', remote('mistralai/voxtral-mini-2602'))
    expect([status, at(json, 'usage.seconds'), at(json, 'usage.cost')]).toEqual([200, 7, 0.007])
    expect(asked).toEqual([])
    expect(taker.seen.at(-1)?.body).toContain(address)
  })

  test('4.3.i3e sound that only its provider has seen is billed for the channels that the provider reports', async () => {
    taker.answer(() =>
      Response.json({
        metadata: { duration: 7, channels: 2 },
        results: { channels: [{ alternatives: [{ transcript: 'Open the gate.', words: [] }] }] },
      }),
    )
    const options = { deepgram: { multichannel: true } }
    const apart = { ...remote('deepgram/nova-3'), provider: { options } }
    const { status, json } = await open.post('/audio/transcriptions', apart)
    taker.answer(() => Response.json(heard))
    // Two channels of seven seconds at 0.06 a minute.
    expect([status, at(json, 'usage.seconds'), at(json, 'usage.cost')]).toEqual([200, 7, 0.014])
  })

  test('4.3.i3d an address is fetched once by the gateway where an endpoint of the model takes none, and all are sent its bytes', async () => {
    taker.answer(() => Response.json({ error: { message: 'down' } }, { status: 503 }))
    const { status, json } = await open.post('/audio/transcriptions', remote('both/ears'))
    taker.answer(() => Response.json(heard))
    expect([status, at(json, 'usage.seconds'), asked]).toEqual([200, 2, ['/clip.wav']])
    expect(other.seen.at(-1)?.body).toContain('RIFF')
    for (const { body } of taker.seen)
      expect([body.includes('RIFF'), body.includes(address)]).toEqual([true, false])
  })

  test('of a host that the operator configured is fetched by the gateway in any case', async () => {
    expect((await gateway.post('/audio/transcriptions', remote('mistralai/voxtral-mini-2602'))).status).toBe(
      200,
    )
    expect([asked, taker.seen.at(-1)?.body.includes('RIFF')]).toEqual([['/clip.wav'], true])
  })

  test('is measured where the balance does not cover sound of unknown length', async () => {
    // An hour is held for what nobody has measured: 3.60 credits. Two seconds are held as three: 0.003.
    const poor = await open.addOrganization({ credits: '0.5' })
    const init = { key: poor.key }
    const { status, json } = await open.post(
      '/audio/transcriptions',
      remote('mistralai/voxtral-mini-2602'),
      init,
    )
    expect([status, at(json, 'usage.cost'), asked]).toEqual([200, 0.002, ['/clip.wav']])
    const rich = await open.addOrganization({ credits: '5' })
    asked.length = 0
    const billed = await open.post('/audio/transcriptions', remote('mistralai/voxtral-mini-2602'), {
      key: rich.key,
    })
    expect([billed.status, at(billed.json, 'usage.cost'), asked]).toEqual([200, 0.007, []])
    const poorest = await open.addOrganization({ credits: '0.0001' })
    expect(
      (await open.post('/audio/transcriptions', remote('mistralai/voxtral-mini-2602'), { key: poorest.key }))
        .status,
    ).toBe(402)
  })

  test('that is not public is refused also where the provider would fetch it', async () => {
    for (const url of [
      'http://169.254.169.254/latest',
      'http://10.0.0.8/clip.wav',
      'http://user:secret@93.184.216.34/a.wav',
    ]) {
      const { status, json } = await gateway.post('/audio/transcriptions', {
        model: 'mistralai/voxtral-mini-2602',
        input_audio: { url },
      })
      expect([url, status, at(json, 'error.param')]).toEqual([url, 400, 'input_audio.url'])
    }
    expect(taker.seen).toEqual([])
  })

  test('is not fetched for a model that no endpoint serves', async () => {
    expect((await gateway.post('/audio/transcriptions', remote('nobody/has-this'))).status).toBe(400)
    expect(asked).toEqual([])
  })
})
