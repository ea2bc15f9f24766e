import { describe, expect, test } from 'bun:test'
import type {
  AudioIntake,
  AudioSpool,
  DecodedTranscription,
  SoundFinding,
  StoredAudio,
} from '../../canonical/audio.ts'
import { isRemoteAudio } from '../../canonical/audio.ts'
import { GatewayError } from '../../core/errors.ts'
import type { AudioHeaders } from './audio-fields.ts'
import { describeFault } from '../../json/faults.ts'
import { AudioJsonScanner, decodeTranscriptionJson } from './decode-json.ts'

const noHeaders: AudioHeaders = { sessionId: null, accept: null }
const wav = Buffer.from('RIFF....WAVEfmt and so on')

/** Recognises only WAV by its bytes. */
async function recognizeWav({ head }: StoredAudio, stated: string | null): Promise<SoundFinding> {
  const text = Buffer.from(head).toString('latin1')
  if (text.startsWith('<html>')) return { type: 'no_sound', what: 'text' }
  const isOther = text.startsWith('RIFF') && stated !== 'wav' && stated !== 'rf64'
  return isOther ? { type: 'other_sound', format: 'wav' } : { type: 'sound', format: stated ?? 'wav' }
}

/** An intake in memory that counts how it was closed. */
function memoryIntake(): AudioIntake & { discarded: number } {
  const intake = {
    discarded: 0,
    recognize: recognizeWav,
    createSpool(): AudioSpool {
      const chunks: Uint8Array[] = []
      return {
        write: async (chunk) => void chunks.push(chunk.slice()),
        finish: async () => {
          const bytes = Buffer.concat(chunks)
          return {
            sizeBytes: bytes.length,
            head: bytes.subarray(0, 64),
            open: () => new Blob([bytes]).stream(),
            blob: () => new Blob([bytes]),
            dispose: async () => {},
          }
        },
        discard: async () => void intake.discarded++,
      }
    },
  }
  return intake
}

function bodyOf(text: string, cut = 5): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  let offset = 0
  return new ReadableStream({
    pull(controller) {
      if (offset >= bytes.length) return controller.close()
      controller.enqueue(bytes.slice(offset, offset + cut))
      offset += cut
    },
  })
}

function decodeText(text: string, headers = noHeaders, cut = 5): Promise<DecodedTranscription> {
  return decodeTranscriptionJson(bodyOf(text, cut), memoryIntake(), headers)
}

function decode(fields: Record<string, unknown>, headers = noHeaders): Promise<DecodedTranscription> {
  const whole = { model: 'a/b', input_audio: { data: wav.toString('base64'), format: 'wav' }, ...fields }
  return decodeText(JSON.stringify(whole), headers, 64)
}

async function refusal(promise: Promise<unknown>): Promise<GatewayError> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (error instanceof GatewayError) return error
  throw new Error(`expected a refusal, got ${String(error)}`)
}

async function bytesOf(decoded: DecodedTranscription): Promise<string> {
  return Buffer.from(await new Response(decoded.call.audio.open()).arrayBuffer()).toString('latin1')
}

describe('the audio in a JSON body', () => {
  test('is decoded whatever the order of members and wherever chunks are cut', async () => {
    const data = wav.toString('base64')
    const first = `{"input_audio":{"data":"${data}","format":"wav"},"model":"a/b"}`
    const last = ` { "trace":{"input_audio":{"data":"x"}}, "model" : "a/b", "input_audio" : { "format":"wav", "data" : "${data}" } } `
    for (const text of [first, last]) {
      for (let cut = 1; cut <= text.length; cut++) {
        expect(await bytesOf(await decodeText(text, noHeaders, cut))).toBe(wav.toString('latin1'))
      }
    }
  })

  test('may have escaped slashes, line breaks and an escaped key', async () => {
    const data = Buffer.from([255, 255, 255, 254, 1]).toString('base64')
    const text = `{"model":"a/b","\\u0069nput_audio":{"data":"${data.replaceAll('/', '\\/').replace('A', '\\n\\u0041')}","format":"mp3"}}`
    for (let cut = 1; cut <= text.length; cut++) {
      const decoded = await decodeText(text, noHeaders, cut)
      expect(await bytesOf(decoded)).toBe('\xff\xff\xff\xfe\x01')
    }
  })

  test('with an escape in every group is decoded in one piece per chunk, in time that grows with its length', () => {
    const open = Buffer.from('{"model":"a/b","input_audio":{"data":"')
    const scanner = new AudioJsonScanner()
    scanner.push(open)
    const pieces = scanner.push(Buffer.from('\\/'.repeat(2_000_000)))
    expect(pieces.map(({ length }) => length)).toEqual([1_500_000])
    expect(pieces[0]?.every((byte) => byte === 255)).toBe(true)
  }, 5_000)

  test('with an escaped quote is refused, and does not end there', async () => {
    for (const cut of [1, 2, 1000]) {
      const text = '{"model":"a/b","input_audio":{"data":"QUJD\\"QUJD","format":"wav"}}'
      const error = await refusal(decodeText(text, noHeaders, cut))
      expect(error.param).toBe('input_audio.data')
      expect(error.message).toContain('base64')
    }
  })

  test.each(['data:audio/mpeg;base64,', 'DATA:audio/mpeg;BASE64,'])(
    'may be a data URL that begins with %s, whose type gives the format when none is named',
    async (begin) => {
      const decoded = await decode({
        input_audio: { data: begin + Buffer.from('frames').toString('base64') },
      })
      expect(decoded.call.audio.format).toBe('mp3')
      expect(await bytesOf(decoded)).toBe('frames')
    },
  )

  test('may lack its padding', async () => {
    const decoded = await decode({ input_audio: { data: 'QUJDRA', format: 'mp3' } })
    expect(await bytesOf(decoded)).toBe('ABCD')
  })

  test.each([
    ['a wrong character', 'QUJD*UJD', 'input_audio.data', 'character 4'],
    ['text after the padding', 'QUI=QUJD', 'input_audio.data', 'base64'],
    ['a lone character at the end', 'QUJDQ', 'input_audio.data', 'character 4'],
    ['a data URL without base64', 'data:audio/wav,abc', 'input_audio.data', 'data URL'],
    ['nothing', '', 'input_audio.data', 'empty'],
  ])('with %s is refused', async (_, data, param, part) => {
    for (const cut of [1, 3, 4, 1000]) {
      const text = JSON.stringify({ model: 'a/b', input_audio: { data, format: 'wav' } })
      const error = await refusal(decodeText(text, noHeaders, cut))
      expect({ status: error.status, param: error.param }).toEqual({ status: 400, param })
      expect(error.message).toContain(part)
    }
  })

  test('needs a format', async () => {
    const error = await refusal(decode({ input_audio: { data: 'QUJD' } }))
    expect(error.param).toBe('input_audio.format')
  })

  test('may be an address instead, and is then not opened', async () => {
    const { call } = await decode({ input_audio: { url: 'https://example.com/a/talk.MP3?x=1' } })
    expect(isRemoteAudio(call.audio) && call.audio.url).toBe('https://example.com/a/talk.MP3?x=1')
    expect(call.audio.format).toBe('mp3')
  })

  test.each([
    ['both forms', { url: 'https://example.com/a.mp3', data: 'QUJD', format: 'mp3' }, 'input_audio'],
    ['neither form', { format: 'mp3' }, 'input_audio'],
    ['another scheme', { url: 'file:///etc/passwd' }, 'input_audio.url'],
    [
      'an address over 8000 characters',
      { url: `https://example.com/${'a'.repeat(8000)}` },
      'input_audio.url',
    ],
    ['a number as data', { data: 5, format: 'mp3' }, 'input_audio.data'],
    ['a format with a slash', { data: 'QUJD', format: 'audio/mp3' }, 'input_audio.format'],
    ['text', 'QUJD', 'input_audio'],
  ])('with %s is refused', async (_, inputAudio, param) => {
    const error = await refusal(decode({ input_audio: inputAudio }))
    expect({ status: error.status, param: error.param }).toEqual({ status: 400, param })
  })

  test.each(['pcm', 'mp3', 'webm'])(
    'that is named %s and is a WAV file is refused with both formats and the remedy, because providers use the name',
    async (format) => {
      const error = await refusal(decode({ input_audio: { data: wav.toString('base64'), format } }))
      expect([error.status, error.param, error.message]).toEqual([
        400,
        'input_audio.format',
        `"input_audio.format" says "${format}", but the bytes are "wav". Say "wav" there, or convert the audio to "${format}".`,
      ])
    },
  )

  test('that is not sound is refused by the field of its bytes, with its real type and the accepted formats', async () => {
    const data = Buffer.from('<html>not found').toString('base64')
    const error = await refusal(decode({ input_audio: { data, format: 'mp3' } }))
    expect([error.status, error.param]).toEqual([400, 'input_audio.data'])
    expect(error.message).toStartWith('"input_audio.data" is text and not mp3 audio. Convert it to wav, mp3,')
  })

  test('of a format that is not known keeps its name', async () => {
    const decoded = await decode({ input_audio: { data: wav.toString('base64'), format: 'rf64' } })
    expect(decoded.call.audio.format).toBe('rf64')
  })

  test('leaves nothing behind when it is refused', async () => {
    const intake = memoryIntake()
    await refusal(
      decodeTranscriptionJson(bodyOf('{"input_audio":{"data":"QUJD"},"model":'), intake, noHeaders),
    )
    expect(intake.discarded).toBe(1)
  })
})

describe('the fields of a JSON body', () => {
  test.each([
    ['model', undefined],
    ['model', ''],
    ['model', 5],
    ['language', 'eng'],
    ['language', ''],
    ['language', '12'],
    ['temperature', 1.01],
    ['temperature', -0.1],
    ['temperature', '0'],
    ['response_format', 5],
    ['timestamp_granularities', 'word'],
    ['timestamp_granularities[1]', ['word', 'sentence']],
    ['diarize', 'true'],
    ['diarize', true],
    ['keyterms[0]', ['']],
    ['keyterms[1]', ['ok', 'x'.repeat(101)]],
    ['keyterms', Array.from({ length: 101 }, () => 'x')],
    ['keyterms', 'term'],
    ['session_id', 'x'.repeat(257)],
    ['user', 'x'.repeat(257)],
    ['trace', []],
    ['provider.zdr', { zdr: 'yes' }],
    ['provider.data_collection', { data_collection: 'maybe' }],
    ['provider.zrd', { zrd: true }],
    ['provider', []],
  ])('%s is refused when it is wrong (%#)', async (param, value) => {
    const name = /^\w+/.exec(param)?.[0] ?? ''
    const error = await refusal(decode({ [name]: value }))
    expect({ status: error.status, param: error.param }).toEqual({ status: 400, param })
    expect(error.message).toContain(param)
  })

  test('a body that is not JSON is refused with line and column, counting the audio', async () => {
    const audio = wav.toString('base64')
    const bodies = [
      '{"model": "a/b",}',
      `{"input_audio": {"data": "${audio}", "format": "wav"} "model": "a/b"}`,
      `{\n"input_audio": {"data": "${audio}",\n "format": wav}}`,
      `{"model": "a/b", "input_audio": {"data": "${audio}`,
      '{"mo\\del": "a/b"}',
    ]
    for (const body of bodies) {
      const { message } = await refusal(decodeText(body))
      expect(message).toBe(
        `The request body is not valid JSON: ${describeFault(Buffer.from(body))}. Send one JSON object.`,
      )
    }
  })

  test('another response format gets the contract’s message', async () => {
    for (const format of ['srt', 'text', 'vtt', 'diarized_json']) {
      const error = await refusal(decode({ response_format: format }))
      expect(error.message).toBe(
        `Unsupported response_format "${format}". Only "json" and "verbose_json" are supported.`,
      )
    }
  })

  test('bounds count code points', async () => {
    const { call } = await decode({ keyterms: ['🎧'.repeat(100)], user: '🎧'.repeat(256) })
    expect(call.keyterms).toEqual(['🎧'.repeat(100)])
    expect((await refusal(decode({ keyterms: ['🎧'.repeat(101)] }))).param).toBe('keyterms[0]')
  })

  test('exactly the bounds are accepted', async () => {
    const { call } = await decode({
      keyterms: Array.from({ length: 100 }, (_, index) => String(index).padEnd(100, 'x')),
      session_id: 's'.repeat(256),
      temperature: 1,
      language: 'EN',
    })
    expect(call.keyterms).toHaveLength(100)
    expect(call).toMatchObject({ temperature: 1, language: 'en', sessionId: 's'.repeat(256) })
  })

  test('diarize needs verbose_json, and false needs nothing', async () => {
    expect((await refusal(decode({ diarize: true, response_format: 'json' }))).param).toBe('diarize')
    expect((await decode({ diarize: false })).call.parameters).toEqual([])
    expect((await decode({ diarize: true, response_format: 'verbose_json' })).call.diarize).toBe(true)
  })

  test('an invalid granularity is refused also with json, a valid one is then ignored', async () => {
    const wrong = decode({ response_format: 'json', timestamp_granularities: ['line'] })
    expect((await refusal(wrong)).param).toBe('timestamp_granularities[0]')
    expect((await decode({ timestamp_granularities: ['word'] })).call.granularities).toEqual([])
  })

  test('no key terms are the same as none', async () => {
    for (const keyterms of [[], [' ', '\t']]) {
      const { call } = await decode({ keyterms })
      expect({ keyterms: call.keyterms, parameters: call.parameters }).toEqual({
        keyterms: [],
        parameters: [],
      })
      // Empty options are not charged either.
      expect(call.demand.audioFeatures).toBeUndefined()
    }
    const { call } = await decode({ keyterms: [' head race ', 'head race', ' '] })
    expect(call.keyterms).toEqual(['head race'])
  })

  test('the session of the body wins, and then the header is not validated', async () => {
    const headers = { sessionId: 'x'.repeat(300), accept: null }
    expect((await decode({ session_id: 'mine' }, headers)).call.sessionId).toBe('mine')
    expect((await refusal(decode({}, headers))).param).toBe('x-session-id')
    expect((await decode({}, { sessionId: 'header', accept: null })).call.sessionId).toBe('header')
  })

  test('provider preferences are read, with options by provider', async () => {
    const provider = {
      zdr: true,
      data_collection: 'deny',
      only: ['groq'],
      options: { groq: { prompt: 'x' } },
      max_price: { audio: '2.5' },
    }
    expect((await decode({ provider })).call.preferences).toMatchObject({
      requireZdr: true,
      denyDataCollection: true,
      only: ['groq'],
      options: { groq: { prompt: 'x' } },
      maxPrice: { audio: 2_500_000_000n },
    })
  })

  test('unknown members are accepted and listed', async () => {
    const { call } = await decode({ prompt: 'hint', chunking_strategy: 'auto' })
    expect(call.dropped).toEqual(['prompt', 'chunking_strategy'])
  })

  test('a format in the body wins over Accept, which decides only when the body has none', async () => {
    for (const accept of ['text/vtt', 'application/x-subrip', 'text/plain']) {
      const headers = { sessionId: null, accept }
      expect(await decode({ response_format: 'json' }, headers)).toMatchObject({
        media: 'json',
        call: { responseFormat: 'json' },
      })
      const named = await decode({ response_format: 'verbose_json' }, headers)
      expect(named.media).not.toBe('json')
      expect((await decode({}, headers)).media).toBe(named.media)
    }
  })

  test('subtitles are asked for by Accept, and need times', async () => {
    const decoded = await decode({}, { sessionId: null, accept: 'text/vtt' })
    expect({ media: decoded.media, format: decoded.call.responseFormat }).toEqual({
      media: 'vtt',
      format: 'verbose_json',
    })
    expect((await decode({}, { sessionId: null, accept: 'text/plain, */*' })).media).toBe('json')
  })

  test.each([
    '',
    '[]',
    'null',
    '"x"',
    '{',
    '{"model":"a/b"}}',
    '{"model":"a/b",}',
    '['.repeat(100),
    '{"input_audio":{"data":"QQ==',
  ])('a body that is not one JSON object is refused: %s', async (text) => {
    expect((await refusal(decodeText(text))).status).toBe(400)
  })

  test('a body whose fields are larger than the bound is refused', async () => {
    const error = await refusal(
      decodeText(JSON.stringify({ model: 'x'.repeat(1_100_000) }), noHeaders, 65_536),
    )
    expect(error.type).toBe('payload_too_large')
  })
})

test('300 MB of audio are read in flat memory', async () => {
  const block = new TextEncoder().encode(Buffer.alloc(48 * 1024, 7).toString('base64'))
  const blocks = Math.ceil(300_000_000 / block.length)
  let sent = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (sent === 0)
          controller.enqueue(
            new TextEncoder().encode('{"model":"a/b","input_audio":{"format":"mp3","data":"'),
          )
        else if (sent <= blocks) controller.enqueue(new Uint8Array(block))
        else {
          controller.enqueue(new TextEncoder().encode('"}}'))
          controller.close()
        }
        sent += 1
      },
    },
    { highWaterMark: 0 },
  )
  Bun.gc(true)
  const before = process.memoryUsage.rss()
  let peak = before
  let size = 0
  const counting: AudioIntake = {
    recognize: async () => ({ type: 'sound', format: 'wav' }),
    createSpool: () => ({
      async write(chunk) {
        size += chunk.length
        if (size % (48 * 1024 * 128) >= chunk.length) return
        // The test measures retained memory, not how soon the garbage collector runs.
        Bun.gc(true)
        peak = Math.max(peak, process.memoryUsage.rss())
      },
      finish: async () => ({
        sizeBytes: size,
        head: new Uint8Array(0),
        open: () => new Blob([]).stream(),
        blob: () => new Blob([]),
        dispose: async () => {},
      }),
      discard: async () => {},
    }),
  }
  const decoded = await decodeTranscriptionJson(body, counting, noHeaders)
  expect(decoded.call.audio.sizeBytes).toBe(blocks * 48 * 1024)
  expect(peak - before).toBeLessThan(64_000_000)
}, 20_000)
