import { describe, expect, test } from 'bun:test'
import type { SpeechAdapter } from '../../canonical/audio.ts'
import { joinPieces } from '../../core/body.ts'
import type { SpeechCall, SpeechReference } from '../../canonical/call.ts'
import type { AudioCapabilities, Endpoint } from '../../canonical/endpoint.ts'
import { GatewayError } from '../../core/errors.ts'
import { testContext } from '../text/testing.ts'
import { atOnce } from '../../core/turns.ts'
import { decodeSpeechJson } from './decode-speech.ts'
import { pcmFromWav } from './openai-speech-options.ts'
import { openAiSpeech } from './openai-speech.ts'
import { speechRequirements } from './speech-requirements.ts'

const required = { model: 'a/b', input: 'Hello' }
const noSession = { sessionId: null, accept: null }

function decode(
  fields: Record<string, unknown> = {},
  headers: { sessionId?: string | null; accept?: string | null } = {},
) {
  const bytes = new TextEncoder().encode(JSON.stringify({ ...required, ...fields }))
  return atOnce(decodeSpeechJson(bytes, { ...noSession, ...headers }))
}

function refusal(fields: Record<string, unknown>): GatewayError {
  try {
    decode(fields)
  } catch (error) {
    if (error instanceof GatewayError) return error
  }
  throw new Error('expected a refusal')
}

const clip = (data = 'QUJD') => ({ type: 'input_audio', input_audio: { data } })
const soundOf = (data: SpeechReference['data'] | undefined) => Buffer.concat(data ?? []).toString()
const text = (words: string) => ({ type: 'text', text: words })
const image = (url = 'https://example.com/face.png') => ({ type: 'image_url', image_url: { url } })

describe('a speech request', () => {
  test('has the contract’s defaults', () => {
    expect(decode()).toMatchObject({
      responseFormat: 'pcm',
      speed: 1,
      voice: null,
      references: [],
      parameters: [],
      dropped: [],
    })
  })

  test('has every field, and counts code points', () => {
    const call = decode({
      input: 'a🎧',
      voice: 'alloy',
      response_format: 'mp3',
      speed: 1.5,
      provider: { zdr: true, options: { openai: { instructions: 'calm' } } },
      session_id: 's',
      user: 'u',
      trace: { trace_id: 't' },
      instructions: 'x',
    })
    expect(call).toMatchObject({
      responseFormat: 'mp3',
      speed: 1.5,
      voice: 'alloy',
      sessionId: 's',
      userId: 'u',
      dropped: ['instructions'],
    })
    expect(call.demand.characters).toBe(2)
    expect(call.parameters).toEqual(['voice', 'response_format', 'speed'])
  })

  test.each([
    ['model', undefined],
    ['input', undefined],
    ['input', ''],
    ['input', ' \n\t\u3000'],
    ['input', ['a']],
    ['voice', ''],
    ['voice', { id: 'x' }],
    ['voice', 'half a pair: \ud83d'],
    ['response_format', 'wav'],
    ['speed', 0],
    ['speed', -1],
    ['speed', '1'],
    ['session_id', 'x'.repeat(257)],
    ['user', 5],
    ['trace', 'x'],
    ['input_references', {}],
    ['provider', 'x'],
  ])('is refused by the name of %s (%#)', (param, value) => {
    expect(refusal({ [param]: value })).toMatchObject({ status: 400, param })
  })

  test.each([
    [{}, 'audio/wav', true],
    [{}, 'audio/pcm;q=0.5, Audio/X-Wav', true],
    [{}, 'audio/wav;q=0', false],
    [{}, '*/*, audio/wav', false],
    [{}, 'text/html', false],
    [{ response_format: 'pcm' }, 'audio/wav', false],
    [{ response_format: 'mp3' }, 'audio/wav', false],
  ])(
    'asks for a WAV file when the header does and the body names no format: %j, %s',
    (fields, accept, isWav) => {
      expect(decode(fields, { accept }).isWav).toBe(isWav)
    },
  )

  test.each([
    [{}, 'audio/mpeg', 'mp3'],
    [{}, 'audio/wav;q=0.5, audio/mpeg', 'mp3'],
    [{}, 'application/octet-stream', 'pcm'],
    [{}, 'audio/*', 'pcm'],
    [{ response_format: 'pcm' }, 'audio/mpeg', 'pcm'],
  ])('asks for MPEG when the header does and the body names no format: %j, %s', (fields, accept, format) => {
    const { responseFormat, isWav } = decode(fields, { accept })
    expect({ responseFormat, isWav }).toEqual({ responseFormat: format as 'mp3' | 'pcm', isWav: false })
  })

  test('with a speed that is no finite number is refused', () => {
    const bytes = new TextEncoder().encode('{"model":"a/b","input":"x","speed":1e999}')
    expect(() => atOnce(decodeSpeechJson(bytes, noSession))).toThrow(/speed/)
  })

  test.each(['', '[]', 'null', '{', '{"model":1}', '\xff'])(
    'that is not one JSON object is refused: %s',
    (body) => {
      expect(() => atOnce(decodeSpeechJson(Buffer.from(body, 'latin1'), noSession))).toThrow(GatewayError)
    },
  )

  test('prefers the session of the body, and validates the header only without it', () => {
    const headers = { sessionId: 'x'.repeat(257) }
    expect(decode({ session_id: 'mine' }, headers).sessionId).toBe('mine')
    expect(() => decode({}, headers)).toThrow(/x-session-id/)
  })
})

describe('references', () => {
  test.each([
    [[clip()], [null]],
    [[clip(), text('a')], ['a']],
    [[text('a'), clip()], ['a']],
    [
      [clip(), clip()],
      [null, null],
    ],
    [
      [clip(), text('a'), clip(), clip(), text('c')],
      ['a', null, 'c'],
    ],
  ])('pair clips with their texts (%#)', (parts, transcripts) => {
    const { references } = decode({ input_references: parts })
    expect(references.map(({ transcript }) => transcript)).toEqual(transcripts)
    expect(references.every(({ type, data }) => type === 'audio' && soundOf(data) === 'ABC')).toBe(true)
  })

  test('may be a data URL, an address, or one image', () => {
    expect(decode({ input_references: [clip('data:audio/wav;base64,QUJD')] }).references).toEqual([
      {
        type: 'audio',
        data: [new Uint8Array(Buffer.from('ABC'))],
        url: null,
        format: 'wav',
        transcript: null,
      },
    ])
    const url = { type: 'input_audio', input_audio: { url: 'https://example.com/a.wav', format: 'WAV' } }
    expect(decode({ input_references: [url] }).references).toEqual([
      { type: 'audio', data: null, url: 'https://example.com/a.wav', format: 'wav', transcript: null },
    ])
    expect(decode({ input_references: [image()] }).references).toEqual([
      { type: 'image', data: null, url: 'https://example.com/face.png', format: null, transcript: null },
    ])
  })

  test.each([
    'Q0\nQ=',
    ' Q0Q= ',
    'Q0Q',
    'Q0Q\n',
    'data:audio/wav;base64,Q0\r\nQ=',
    'DATA:audio/wav;BASE64,Q0Q=',
  ])('are read however their base64 is wrapped: %j', (data) => {
    expect(soundOf(decode({ input_references: [clip(data)] }).references[0]?.data)).toBe('CD')
  })

  test('that are empty require nothing of an endpoint', () => {
    expect(decode({ input_references: [] })).toMatchObject({ references: [], parameters: [] })
  })

  test.each([
    ['a text without a clip', [text('a')], 0],
    ['two texts around one clip', [text('a'), clip(), text('b')], 2],
    ['two texts after one clip', [clip(), text('a'), text('b')], 2],
    ['a leading text before several clips', [text('a'), clip(), clip()], 0],
    ['two texts in a row among clips', [clip(), text('a'), text('b'), clip()], 2],
    ['four clips', [clip(), clip(), text('a'), clip(), clip()], 4],
    ['a text beside an image', [image(), text('a')], 1],
    ['a clip beside an image', [clip(), image()], 0],
    ['two images', [image(), image()], 1],
    ['bad base64', [clip(), clip('QUJ*')], 1],
    ['an empty clip', [clip('')], 0],
    ['a data URL without base64', [clip('data:audio/wav,abc')], 0],
    ['a clip over the bound', [clip(Buffer.alloc(15 * 1024 * 1024 + 1).toString('base64'))], 0],
    [
      'a clip with both forms',
      [{ type: 'input_audio', input_audio: { data: 'QUJD', url: 'https://example.com/' } }],
      0,
    ],
    ['a text over the bound', [clip(), text('x'.repeat(10_001))], 1],
    ['an address over the bound', [image(`https://example.com/${'x'.repeat(2_048)}`)], 0],
    ['an unknown type', [clip(), { type: 'video' }], 1],
    ['no object', [clip(), 'x'], 1],
  ])('with %s are refused by the index', (_, parts, index) => {
    const error = refusal({ input_references: parts })
    expect(error.status).toBe(400)
    expect(error.param).toStartWith(`input_references[${index}]`)
    expect(error.message).toContain(`input_references[${index}]`)
  })
})

function endpointWith(audio: Partial<AudioCapabilities> = {}): Endpoint {
  return {
    id: 'openai/tts-1',
    deployment: {
      id: 'openai',
      preset: 'openai',
      provider: 'openai',
      providerName: 'OpenAI',
      baseUrl: 'http://localhost',
      region: null,
      weight: 1,
      concurrencyMax: null,
    },
    model: 'openai/tts-1',
    upstreamModel: 'tts-1',
    modality: 'speech',
    price: {},
    longPrices: [],
    isPriced: false,
    contextLength: null,
    outputTokensMax: null,
    parameters: null,
    inputModalities: ['text'],
    outputModalities: ['speech'],
    dataPolicy: { zdr: false, trains: false, stores: false },
    reasons: false,
    quantization: null,
    batch: 'none',
    audio: {
      verboseJson: false,
      wordTimes: false,
      diarize: false,
      segmentSpeakers: false,
      keyterms: null,
      entities: false,
      url: false,
      uploadFormats: null,
      audioMillisecondsMax: null,
      languages: null,
      speed: { min: 0.25, max: 4 },
      speechFormats: ['mp3', 'pcm'],
      inputCharactersMax: 10,
      uploadBytesMax: null,
      voiceCloning: false,
      multipleReferences: false,
      referenceTranscripts: false,
      imageReference: false,
      defaultVoice: 'alloy',
      isVoiceOptional: false,
      voices: ['alloy', 'nova'],
      ...audio,
    },
  }
}

describe('the requirements of speech', () => {
  const firstUnmet = (fields: Record<string, unknown>, audio: Partial<AudioCapabilities> = {}) =>
    speechRequirements(decode(fields))
      .find((requirement) => !requirement.isMet(endpointWith(audio)))
      ?.refuse('a/b', [])

  test('are empty for a plain call, and speed 1 needs no speed control', () => {
    expect(firstUnmet({ speed: 1 }, { speed: null })).toBeUndefined()
  })

  test('have no format, because the gateway makes each of the two from the other', () => {
    expect(firstUnmet({ response_format: 'mp3' }, { speechFormats: ['pcm'] })).toBeUndefined()
    expect(firstUnmet({ response_format: 'pcm' }, { speechFormats: ['mp3'] })).toBeUndefined()
  })

  test.each([
    [{ speed: 1.1 }, { speed: null }, 400, 'speed'],
    [{ speed: 4.1 }, {}, 400, 'speed'],
    [{}, { defaultVoice: null }, 400, 'voice'],
    [{ voice: 'unknown' }, {}, 400, 'voice'],
    [{ input: '12345678901' }, {}, 400, 'input'],
    [{ input_references: [clip()] }, {}, 404, 'input_references'],
    [{ input_references: [clip(), clip()] }, { voiceCloning: true }, 404, 'input_references'],
    [
      { input_references: [image()] },
      { voiceCloning: true, multipleReferences: true },
      404,
      'input_references',
    ],
  ] as [Record<string, unknown>, Partial<AudioCapabilities>, number, string][])(
    'refuse a call by the field’s name (%#)',
    (fields, audio, status, param) => {
      const error = firstUnmet(fields, audio)
      expect(error).toMatchObject({ status, param })
      expect(error?.message).toContain(param)
    },
  )

  test('name the largest text and the possible speeds', () => {
    const refused = (fields: Record<string, unknown>, ...audio: Partial<AudioCapabilities>[]) =>
      speechRequirements(decode(fields))
        .find((requirement) => !requirement.isMet(endpointWith(audio[0])))
        ?.refuse('a/b', audio.map(endpointWith)).message
    expect(refused({ input: '12345678901' }, {}, { inputCharactersMax: 7 })).toContain(
      'more than the 10 that',
    )
    expect(refused({ speed: 9 }, { speed: { min: 0.5, max: 2 } })).toContain('from 0.5 to 2')
    expect(refused({ speed: 9 }, { speed: null })).toContain('set it to 1')
  })

  test('treat an empty transcript as absent', () => {
    const audio = { voiceCloning: true, referenceTranscripts: true, defaultVoice: null }
    expect(firstUnmet({ input_references: [clip(), text('')] }, audio)?.message).toContain(
      'without a transcript',
    )
  })

  test('say where the voices of a model are listed', () => {
    expect(firstUnmet({ voice: 'unknown' }, {})?.message).toContain('`supported_voices`')
  })

  test('count clips, not parts', () => {
    expect(
      firstUnmet({ input_references: [clip(), text('a')] }, { voiceCloning: true, defaultVoice: null }),
    ).toBeUndefined()
  })

  test('report a missing voice in the contract’s words', () => {
    expect(firstUnmet({}, { defaultVoice: null })?.message).toBe(
      'An explicit voice is required for this TTS provider.',
    )
  })
})

function streamStep(adapter: SpeechAdapter, call: SpeechCall, endpoint: Endpoint) {
  const step = adapter.first({ call, endpoint, context: testContext })
  if (step.type !== 'stream') throw new Error('expected a stream')
  return step
}

const exchangeOf = (...asked: Parameters<typeof streamStep>) => streamStep(...asked).exchange
const outputOf = (...asked: Parameters<typeof streamStep>) =>
  streamStep(...asked).open(testContext, new Headers()).output

describe('the call to an OpenAI-style provider', () => {
  const bodyOf = (
    fields: Record<string, unknown>,
    adapter = openAiSpeech(),
    audio: Partial<AudioCapabilities> = {},
  ) => {
    const { body } = exchangeOf(adapter, decode(fields), endpointWith(audio)).request
    if (body === null || 'open' in body) throw new Error('expected a body in memory')
    return JSON.parse(new TextDecoder().decode(joinPieces(body)))
  }

  test('has the upstream’s names and nothing of the session', () => {
    expect(
      bodyOf({
        voice: 'nova',
        speed: 2,
        response_format: 'mp3',
        user: 'u',
        session_id: 's',
        trace: { a: 1 },
      }),
    ).toEqual({
      model: 'tts-1',
      input: 'Hello',
      voice: 'nova',
      response_format: 'mp3',
      speed: 2,
    })
  })

  test('has the default voice and no speed when neither was asked for', () => {
    expect(bodyOf({ speed: 1 })).toEqual({
      model: 'tts-1',
      input: 'Hello',
      voice: 'alloy',
      response_format: 'pcm',
    })
  })

  test('asks for samples where a provider has no mp3, which is made of them', () => {
    const adapter = openAiSpeech({ pcm: pcmFromWav })
    const samplesOnly = { speechFormats: ['pcm'] } as const
    expect(bodyOf({ response_format: 'mp3' }, adapter, samplesOnly).response_format).toBe('wav')
  })

  test('asks for mp3 where a provider has nothing else, of which samples are made', () => {
    const mp3Only = { speechFormats: ['mp3'] } as const
    expect(bodyOf({ response_format: 'pcm' }, openAiSpeech(), mp3Only).response_format).toBe('mp3')
    expect(outputOf(openAiSpeech(), decode({}), endpointWith(mp3Only))).toEqual({ container: 'mpeg' })
  })

  test('asks a provider for a format that it has, and states the format that will come', () => {
    const adapter = openAiSpeech({ pcm: pcmFromWav })
    expect(bodyOf({}, adapter).response_format).toBe('wav')
    expect(outputOf(adapter, decode({}), endpointWith())).toEqual({ container: 'wav' })
  })

  test('passes a provider’s own options, but none that the gateway decides', () => {
    const fields = {
      provider: { options: { openai: { instructions: 'calm', stream_format: 'sse', model: 'x' } } },
    }
    expect(bodyOf(fields)).toMatchObject({ instructions: 'calm', model: 'tts-1' })
    expect(bodyOf(fields)).not.toHaveProperty('stream_format')
    expect(exchangeOf(openAiSpeech(), decode(fields), endpointWith()).dropped).toEqual([
      'provider.options.openai.stream_format',
      'provider.options.openai.model',
    ])
  })

  test("passes options to a server of one's own under its id, and those that are for all of them", () => {
    const { deployment, ...rest } = endpointWith()
    const own = { ...rest, deployment: { ...deployment, id: 'acme', preset: 'custom', provider: 'acme' } }
    const options = {
      custom: { accent: 'none', tone: 'flat', user: 'x' },
      acme: { tone: 'warm' },
      other: { a: 1 },
    }
    const call = decode({ provider: { options } })
    const [body] = exchangeOf(openAiSpeech(), call, own).request.body as string[]
    expect(JSON.parse(body ?? '')).toEqual(
      expect.objectContaining({ accent: 'none', tone: 'warm', model: 'tts-1' }),
    )
    expect(body).not.toMatch(/"(a|user)"/)
    expect(exchangeOf(openAiSpeech(), call, own).dropped).toEqual(['provider.options.custom.user'])
  })
})
