import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { AttemptFailed } from '../../canonical/attempt-failed.ts'
import type { TranscriptionAdapter } from '../../canonical/audio.ts'
import { defaultPreferences, type TranscriptionCall } from '../../canonical/call.ts'
import { type AudioCapabilities, type Endpoint, unboundedKeyterms } from '../../canonical/endpoint.ts'
import type { UpstreamRequest } from '../../canonical/upstream.ts'
import { noUsage } from '../../canonical/usage.ts'
import { GatewayError } from '../../core/errors.ts'
import { testContext } from '../text/testing.ts'
import { toLanguageCode } from './language-names.ts'
import { openAiTranscriptEvents } from './openai-transcript-stream.ts'
import { openAiTranscription } from './openai-transcription.ts'
import type { OpenAiTranscriptionOptions } from './openai-transcription-options.ts'
import { renderTranscription } from './render-transcription.ts'
import { chooseTranscriptMedia } from './transcript-media.ts'
import { testSound, testTranscription } from './transcription-testing.ts'
import { transcriptionRequirements } from './transcription-requirements.ts'
import { remoteAudio } from './transcription-request.ts'

const { sizeBytes } = testSound('wav')

function callWith({
  audioFormat = 'wav',
  ...changes
}: Partial<TranscriptionCall> & { audioFormat?: string } = {}): TranscriptionCall {
  return testTranscription({ audio: testSound(audioFormat), ...changes })
}

function endpointWith(audio: Partial<AudioCapabilities> = {}, provider = 'openai'): Endpoint {
  return {
    id: `${provider}/whisper-1`,
    deployment: {
      id: provider,
      preset: provider,
      provider,
      providerName: provider,
      baseUrl: 'http://localhost',
      region: null,
      weight: 1,
      concurrencyMax: null,
    },
    model: 'openai/whisper-1',
    upstreamModel: 'whisper-1',
    modality: 'transcription',
    price: {},
    longPrices: [],
    isPriced: false,
    contextLength: null,
    outputTokensMax: null,
    parameters: null,
    inputModalities: ['audio'],
    outputModalities: ['text'],
    dataPolicy: { zdr: false, trains: false, stores: false },
    reasons: false,
    quantization: null,
    batch: 'none',
    audio: {
      verboseJson: true,
      wordTimes: true,
      diarize: false,
      segmentSpeakers: false,
      keyterms: null,
      entities: false,
      url: false,
      uploadFormats: null,
      audioMillisecondsMax: null,
      languages: null,
      speed: null,
      speechFormats: [],
      inputCharactersMax: null,
      uploadBytesMax: null,
      voiceCloning: false,
      multipleReferences: false,
      referenceTranscripts: false,
      imageReference: false,
      defaultVoice: null,
      isVoiceOptional: false,
      voices: null,
      ...audio,
    },
  }
}

function exchangeOf(adapter: TranscriptionAdapter, call: TranscriptionCall, endpoint: Endpoint) {
  const step = adapter.first({ call, endpoint, context: testContext })
  if (step.type !== 'send') throw new Error('expected a request')
  return step.exchange
}

/** The form as the runtime's own parser reads it, after its length was checked. */
async function formOf(request: UpstreamRequest) {
  const { body } = request
  if (body === null || !('open' in body)) throw new Error('expected a streamed body')
  const sent = await new Response(body.open()).bytes()
  expect(sent.length).toBe(body.contentLength)
  return new Response(sent, { headers: { 'content-type': request.headers['content-type'] ?? '' } }).formData()
}

async function fieldsOf(
  call: TranscriptionCall,
  options: OpenAiTranscriptionOptions = {},
  endpoint = endpointWith(),
): Promise<[string, string][]> {
  const form = await formOf(exchangeOf(openAiTranscription(options), call, endpoint).request)
  return [...form].map(([name, value]) => [name, typeof value === 'string' ? value : `<${value.name}>`])
}

describe('the form for an OpenAI-style provider', () => {
  test('holds the file and the fields that were asked for, and nothing of the session', async () => {
    const call = callWith({
      language: 'de',
      temperature: 0.2,
      responseFormat: 'verbose_json',
      granularities: ['word'],
    })
    expect(await fieldsOf(call)).toEqual([
      ['model', 'whisper-1'],
      ['language', 'de'],
      ['temperature', '0.2'],
      ['response_format', 'verbose_json'],
      ['timestamp_granularities[]', 'segment'],
      ['timestamp_granularities[]', 'word'],
      ['file', '<audio.wav>'],
    ])
  })

  test('asks for times only where the model has them', async () => {
    const verbose = callWith({ responseFormat: 'verbose_json' })
    expect(await fieldsOf(verbose, {}, endpointWith({ verboseJson: false }))).toContainEqual([
      'response_format',
      'json',
    ])
    expect(await fieldsOf(callWith())).toContainEqual(['response_format', 'json'])
  })

  test('asks for the length of audio that could not be measured, and for no times with it', async () => {
    const unmeasured = callWith({ measuredMilliseconds: null })
    expect(await fieldsOf(unmeasured)).toEqual([
      ['model', 'whisper-1'],
      ['response_format', 'verbose_json'],
      ['file', '<audio.wav>'],
    ])
    expect(await fieldsOf(unmeasured, {}, endpointWith({ verboseJson: false }))).toContainEqual([
      'response_format',
      'json',
    ])
  })

  test('differs from OpenAI’s as its options say', async () => {
    const call = callWith({
      responseFormat: 'verbose_json',
      granularities: ['word'],
      keyterms: ['head race', 'a,b'],
      diarize: true,
    })
    const endpoint = endpointWith(
      { verboseJson: false, diarize: true, keyterms: unboundedKeyterms },
      'mistral',
    )
    const options: OpenAiTranscriptionOptions = {
      verboseFormat: null,
      listMark: '',
      hasWordsInSegments: true,
      keytermsField: 'context_bias',
      keytermJoiner: '_',
      languageWhenOmitted: 'auto',
    }
    expect(await fieldsOf(call, options, endpoint)).toEqual([
      ['model', 'whisper-1'],
      ['language', 'auto'],
      ['timestamp_granularities', 'word'],
      ['diarize', 'true'],
      ['context_bias', 'head_race'],
      ['context_bias', 'a_b'],
      ['file', '<audio.wav>'],
    ])
  })

  test('asks for events when only text is wanted and the provider streams it', () => {
    const adapter = openAiTranscription({
      streams: openAiTranscriptEvents,
      verboseFormat: null,
      keytermsField: 'context_bias',
      keytermJoiner: '_',
    })
    const stepFor = (changes: Partial<TranscriptionCall>) =>
      adapter.first({
        call: callWith({ stream: true, ...changes }),
        endpoint: endpointWith(),
        context: testContext,
      }).type
    expect(stepFor({})).toBe('stream')
    // The provider reports the length anyway.
    expect(stepFor({ measuredMilliseconds: null })).toBe('stream')
    expect(stepFor({ responseFormat: 'verbose_json' })).toBe('send')
    // Joined terms are restored only in a whole answer.
    expect(stepFor({ keyterms: ['head race'] })).toBe('send')
  })

  test('leaves times out where a language excludes them, and says so', async () => {
    const call = callWith({ responseFormat: 'verbose_json', language: 'de' })
    const options = { combinesLanguageAndTimes: false }
    const names = (await fieldsOf(call, options)).map(([name]) => name)
    expect(names).not.toContain('timestamp_granularities[]')
    expect(exchangeOf(openAiTranscription(options), call, endpointWith()).dropped).toEqual([
      'timestamp_granularities',
    ])
  })

  test('sends an address instead of the file where the endpoint takes one', async () => {
    const call = callWith({
      audio: remoteAudio('https://example.com/a.mp3', { field: 'input_audio.url', statedFormat: null }),
    })
    const fields = await fieldsOf(call, { urlField: 'url' }, endpointWith({ url: true }))
    expect(fields.at(-1)).toEqual(['url', 'https://example.com/a.mp3'])
  })

  test('gives headerless samples a WAV header', async () => {
    const form = await formOf(
      exchangeOf(openAiTranscription(), callWith({ audioFormat: 'pcm' }), endpointWith()).request,
    )
    const file = form.get('file')
    if (!(file instanceof File)) throw new Error('expected a file')
    const sent = Buffer.from(await file.arrayBuffer())
    expect(file.name).toBe('audio.wav')
    expect(sent.length).toBe(44 + sizeBytes)
    expect({
      tag: sent.toString('latin1', 0, 4),
      rate: sent.readUInt32LE(24),
      data: sent.readUInt32LE(40),
    }).toEqual({
      tag: 'RIFF',
      rate: 16_000,
      data: sizeBytes,
    })
  })

  test('passes a provider’s own options, but none that the gateway decides', async () => {
    const options = {
      openai: {
        prompt: 'Names: "Ana"\r\nx',
        vad: { a: 1 },
        'include[]': ['logprobs'],
        stream: true,
        model: 'other',
        user: 'u',
      },
      groq: { x: 1 },
    }
    const call = callWith({ preferences: { ...defaultPreferences, options } })
    const fields = await fieldsOf(call)
    expect(fields).toContainEqual(['prompt', 'Names: "Ana"\r\nx'])
    expect(fields).toContainEqual(['vad', '{"a":1}'])
    expect(fields).toContainEqual(['include[]', 'logprobs'])
    expect(fields.map(([name]) => name)).not.toContain('stream')
    expect(exchangeOf(openAiTranscription(), call, endpointWith()).dropped).toEqual(
      ['stream', 'model', 'user'].map((name) => `provider.options.openai.${name}`),
    )
  })

  test('stays intact for any file name', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1 }), fc.string(), async (name, value) => {
        const options = { openai: { [`x-${name}\r\n"`]: value } }
        const fields = await fieldsOf(callWith({ preferences: { ...defaultPreferences, options } }))
        expect(fields.map(([field]) => field).filter((field) => !field.startsWith('x-'))).toEqual([
          'model',
          'response_format',
          'file',
        ])
      }),
      { numRuns: 50 },
    )
  })

  test('stops reading the file when the upstream is gone', async () => {
    let cancelled = false
    const audio = callWith().audio
    const endless = {
      ...audio,
      sizeBytes: 1e9,
      open: () =>
        new ReadableStream<Uint8Array>({
          pull: (c) => c.enqueue(new Uint8Array(14)),
          cancel: () => void (cancelled = true),
        }),
    }
    const { body } = exchangeOf(openAiTranscription(), callWith({ audio: endless }), endpointWith()).request
    if (body === null || !('open' in body)) throw new Error('expected a streamed body')
    const reader = body.open().getReader()
    await reader.read()
    await reader.read()
    await reader.cancel()
    expect(cancelled).toBe(true)
  })
})

function thrownBy(run: () => unknown): unknown {
  try {
    run()
  } catch (thrown) {
    return thrown
  }
  throw new Error('expected a failure')
}

function decode(answer: unknown, call = callWith(), options: OpenAiTranscriptionOptions = {}) {
  const wire = typeof answer === 'string' ? answer : JSON.stringify(answer)
  const asked = { call, endpoint: endpointWith(), context: testContext }
  const step = openAiTranscription(options).next(
    null,
    { headers: new Headers(), bytes: new TextEncoder().encode(wire) },
    asked,
  )
  if (step.type !== 'answer') throw new Error('expected an answer')
  return step.answer
}

describe('the answer of an OpenAI-style provider', () => {
  test('is read with its times, language, duration and usage', () => {
    const read = decode({
      task: 'transcribe',
      language: 'english',
      duration: 36.7,
      text: ' Hello there.',
      segments: [
        {
          id: 0,
          seek: 0,
          start: 0,
          end: 1.5,
          text: ' Hello there.',
          tokens: [1, 2],
          temperature: 0,
          avg_logprob: -0.2,
          compression_ratio: 1.1,
          no_speech_prob: 0.01,
        },
      ],
      words: [
        { word: 'Hello', start: 0, end: 0.7 },
        { word: 'there.', start: 0.7, end: 1.5 },
      ],
      usage: { type: 'duration', seconds: 37 },
      x_groq: { id: 'req_1' },
    })
    expect(read).toEqual({
      text: 'Hello there.',
      language: 'en',
      durationSeconds: 36.7,
      segments: [
        {
          id: 0,
          seek: 0,
          start: 0,
          end: 1.5,
          text: 'Hello there.',
          tokens: [1, 2],
          temperature: 0,
          avg_logprob: -0.2,
          compression_ratio: 1.1,
          no_speech_prob: 0.01,
        },
      ],
      words: [
        { word: 'Hello', start: 0, end: 0.7 },
        { word: 'there.', start: 0.7, end: 1.5 },
      ],
      confidence: null,
      languageConfidence: null,
      entities: null,
      tokens: null,
      upstreamId: 'req_1',
    })
  })

  test('may count tokens, and then has no duration', () => {
    const read = decode({
      text: 'x',
      usage: {
        type: 'tokens',
        input_tokens: 14,
        output_tokens: 45,
        total_tokens: 59,
        input_token_details: { text_tokens: 0, audio_tokens: 14 },
      },
    })
    expect(read).toMatchObject({ tokens: { input: 14, inputAudio: 14, output: 45 }, durationSeconds: null })
  })

  test('may count the audio only in the sum', () => {
    const usage = { prompt_audio_seconds: 30, prompt_tokens: 9, completion_tokens: 248, total_tokens: 632 }
    for (const details of [{}, { prompt_tokens_details: { audio_tokens: 375 } }]) {
      const read = decode({ text: 'x', usage: { ...usage, ...details } })
      expect(read.tokens).toEqual({ input: 384, inputAudio: 375, output: 248 })
    }
  })

  test('survives nulls, wrong times and unknown members', () => {
    const read = decode({
      text: 'x',
      language: null,
      duration: -3,
      usage: null,
      segments: [
        null,
        { id: 'a', start: 1, end: 0, text: 'backwards' },
        { id: 'b', start: 1, end: 2, text: 'kept', tokens: null },
      ],
      words: 'none',
    })
    expect(read).toMatchObject({
      language: null,
      durationSeconds: null,
      words: null,
      segments: [{ id: 1, start: 1, end: 2, text: 'kept' }],
    })
    const endless = decode('{"text":"x","segments":[{"start":1,"end":1e999,"text":"endless"}]}')
    expect(endless.segments).toBeNull()
  })

  test.each([
    ['{"error":{"message":"Slow down","code":429}}', 'upstream_rate_limited', true],
    ['{"error":{"message":"Invalid file format.","type":"invalid_request_error"}}', 'invalid_request', false],
    ['{"text":null,"error":{"message":"at secret.example","code":500}}', 'provider_failed', true],
    ['{"error":"out of memory"}', 'provider_failed', true],
  ] as const)('with an error in place of a text is that error: %s', (wire, type, retryElsewhere) => {
    const { failure } = thrownBy(() => decode(wire)) as AttemptFailed
    expect(failure).toMatchObject({ error: { type }, retryElsewhere })
    expect(failure.error.message).not.toContain('secret.example')
  })

  test.each(['', 'null', '[]', '{}', '{"error":null}', '{"text":5}', '<html>'])(
    'without a transcript is the provider’s failure: %s',
    (wire) => {
      expect(() => decode(wire)).toThrow(GatewayError)
      expect(() => decode(wire)).toThrow('The provider answered without a transcript.')
    },
  )

  test('numbers speakers by first appearance and keeps their labels', () => {
    const read = decode({
      text: 'a b c',
      speaker_segments: [
        { speaker_id: 'SPEAKER_07', start: 0, end: 1, text: 'a', words: [{ word: 'a', start: 0, end: 1 }] },
        {
          speaker_id: 'SPEAKER_00',
          start: 1,
          end: 3,
          text: 'b c',
          words: [
            { word: 'b', start: 1, end: 2 },
            { word: 'c', start: 2, end: 3 },
          ],
        },
      ],
    })
    expect(read.words?.map(({ word, speaker, speaker_label: label }) => [word, speaker, label])).toEqual([
      ['a', 0, 'SPEAKER_07'],
      ['b', 1, 'SPEAKER_00'],
      ['c', 1, 'SPEAKER_00'],
    ])
    // The answer has no segments, so they are made from words and end where the speaker changes.
    expect(read.segments?.map(({ text, start, end }) => [text, start, end])).toEqual([
      ['a', 0, 1],
      ['b c', 1, 3],
    ])
  })

  test('may have speakers only in segments: each word then gets the speaker of its segment', () => {
    const read = decode({
      text: 'a b c d',
      segments: [
        { speaker_id: 'S1', start: 0, end: 1, text: 'a' },
        { speaker_id: 'S0', start: 1, end: 3, text: 'b c' },
        { start: 3, end: 4, text: 'd' },
      ],
      words: [
        { word: 'a', start: 0, end: 1.2 },
        { word: 'b', start: 0.9, end: 2 },
        { word: 'c', start: 2, end: 3, speaker_id: 'S2' },
        { word: 'd', start: 3, end: 4 },
      ],
    })
    expect(read.segments?.map(({ speaker_label: label }) => label)).toEqual(['S1', 'S0', undefined])
    expect(read.words?.map(({ speaker, speaker_label: label }) => [speaker, label])).toEqual([
      [0, 'S1'],
      [1, 'S0'],
      [2, 'S2'],
      [undefined, undefined],
    ])
  })

  test('may call its words segments', () => {
    const call = callWith({ responseFormat: 'verbose_json', granularities: ['word'] })
    const wire = {
      text: 'One. Two',
      segments: [
        { text: ' One.', start: 0, end: 0.5, score: 0.9 },
        { text: ' Two', start: 0.5, end: 0.9 },
      ],
      usage: { prompt_audio_seconds: 2, prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    }
    const read = decode(wire, call, { hasWordsInSegments: true })
    expect(read.words).toEqual([
      { word: 'One.', start: 0, end: 0.5, confidence: 0.9 },
      { word: 'Two', start: 0.5, end: 0.9 },
    ])
    expect(read.segments?.map(({ text }) => text)).toEqual(['One.', 'Two'])
    expect(read).toMatchObject({ durationSeconds: 2, tokens: { input: 3, output: 4 } })
  })

  test.each([
    ['english', 'en'],
    ['Castilian', 'es'],
    ['haitian creole', 'ht'],
    ['en-US', 'en'],
    ['EN', 'en'],
    ['klingon', 'klingon'],
  ])('has its language %s as %s', (name, code) => {
    expect(toLanguageCode(name)).toBe(code)
  })
})

describe('what the caller gets', () => {
  const charge = {
    costNanocredits: 920_000n,
    promptNanocredits: 920_000n,
    completionNanocredits: 0n,
    isByok: false,
    usage: { ...noUsage, audioMilliseconds: 9_200 },
    metadata: null,
    isEstimated: false,
    metadataAlias: false,
  }
  const usage = { cost: 0.00092, input_tokens: 0, output_tokens: 0, total_tokens: 0, seconds: 9.2 }
  const render = (answer: unknown, call = callWith(), media: 'json' | 'vtt' | 'srt' | 'text' = 'json') =>
    new TextDecoder().decode(
      renderTranscription({ transcription: decode(answer, call), call, charge, media }),
    )
  const full = {
    text: 'Hi & bye.',
    language: 'english',
    duration: 9.3,
    segments: [{ id: 0, start: 0.5, end: 3661.25, text: ' Hi & bye.\n\n--> x' }],
    words: [{ word: 'Hi', start: 0.5, end: 1 }],
  }

  test('is text and usage with json, whatever the provider said', () => {
    expect(JSON.parse(render(full))).toEqual({ text: 'Hi & bye.', usage })
  })

  test('is everything known with verbose_json, words only when asked', () => {
    const verbose = callWith({ responseFormat: 'verbose_json' })
    expect(JSON.parse(render(full, verbose))).toEqual({
      task: 'transcribe',
      language: 'en',
      duration: 9.3,
      segments: [{ id: 0, start: 0.5, end: 3661.25, text: 'Hi & bye.\n\n--> x' }],
      text: 'Hi & bye.',
      usage,
    })
    expect(JSON.parse(render(full, { ...verbose, granularities: ['word'] })).words).toEqual([
      { word: 'Hi', start: 0.5, end: 1 },
    ])
  })

  test('is one segment over the measured duration where the provider gave no times', () => {
    const demand = { ...callWith().demand, audioMilliseconds: 9_200 }
    const answer = JSON.parse(
      render({ text: 'Hello' }, callWith({ responseFormat: 'verbose_json', language: 'de', demand })),
    )
    expect(answer).toMatchObject({
      language: 'de',
      duration: 9.2,
      segments: [{ id: 0, start: 0, end: 9.2, text: 'Hello' }],
    })
    expect(answer).not.toHaveProperty('words')
  })

  test('may be subtitles or plain text', () => {
    const verbose = callWith({ responseFormat: 'verbose_json' })
    expect(render(full, verbose, 'vtt')).toBe('WEBVTT\n\n00:00:00.500 --> 01:01:01.250\nHi &amp; bye. → x\n')
    expect(render(full, verbose, 'srt')).toBe('1\n00:00:00,500 --> 01:01:01,250\nHi & bye. → x\n')
    expect(render(full, verbose, 'text')).toBe('Hi & bye.\n')
  })

  test.each([
    [null, 'json'],
    ['*/*', 'json'],
    ['application/json', 'json'],
    ['text/html, image/*', 'json'],
    ['text/vtt', 'vtt'],
    ['application/x-subrip', 'srt'],
    ['application/json;q=0.5, text/vtt', 'vtt'],
    ['text/vtt;q=0, application/x-subrip;q=0.1', 'srt'],
    ['application/json;q=1, text/plain, */*', 'json'],
  ] as const)('is chosen by Accept: %s is %s', (accept, media) => {
    expect(chooseTranscriptMedia(accept)).toBe(media)
  })
})

describe('the requirement of a transcription', () => {
  const firstUnmet = (call: TranscriptionCall, endpoint: Endpoint) =>
    transcriptionRequirements(call)
      .find((requirement) => !requirement.isMet(endpoint))
      ?.refuse('a/b', [endpoint])

  test('is empty for a plain call, even on a model without times', () => {
    expect(
      firstUnmet(
        callWith({ responseFormat: 'verbose_json' }),
        endpointWith({ verboseJson: false, wordTimes: false }),
      ),
    ).toBeUndefined()
  })

  test.each([
    [
      { diarize: true },
      400,
      'diarize',
      'The selected model does not support diarize. Remove the field or choose a model whose provider supports it.',
    ],
    [
      { keyterms: ['x'] },
      400,
      'keyterms',
      'The selected model does not support keyterms. Remove the field or choose a model whose provider supports it.',
    ],
  ] as const)(
    'that no endpoint meets is refused in the contract’s words (%#)',
    (changes, status, param, message) => {
      expect(firstUnmet(callWith(changes), endpointWith())).toMatchObject({ status, param, message })
    },
  )

  test('is word times when the call asks for them, and a size that fits', () => {
    const words = callWith({ responseFormat: 'verbose_json', granularities: ['word'] })
    expect(firstUnmet(words, endpointWith({ wordTimes: false }))).toMatchObject({
      status: 400,
      param: 'timestamp_granularities',
    })
    expect(firstUnmet(callWith(), endpointWith({ uploadBytesMax: sizeBytes }))).toBeUndefined()
    expect(firstUnmet(callWith(), endpointWith({ uploadBytesMax: sizeBytes - 1 }))).toMatchObject({
      status: 413,
      param: 'input_audio.data',
    })
  })

  test('for speakers names segments when a model has speakers only for segments', () => {
    const refused = firstUnmet(callWith({ diarize: true }), endpointWith({ segmentSpeakers: true }))
    expect(refused?.message).toEndWith(
      'It tells the speakers of segments without it: ask for `response_format` "verbose_json".',
    )
  })

  test('is a bound that the key terms fit; a refusal names the bound and the term', () => {
    const call = callWith({ keyterms: ['one two three'] })
    expect(
      firstUnmet(call, endpointWith({ keyterms: { ...unboundedKeyterms, wordsMax: 3 } })),
    ).toBeUndefined()
    expect(firstUnmet(call, endpointWith({ keyterms: { ...unboundedKeyterms, wordsMax: 2 } }))).toMatchObject(
      {
        status: 400,
        param: 'keyterms',
        message:
          'No provider of a/b takes these keyterms. Of openai: it takes at most 2 words in a term, and "one two three" has 3. Shorten the list or the term.',
      },
    )
  })

  test('is a language that the endpoint knows', () => {
    const call = callWith({ language: 'cy' })
    expect(firstUnmet(call, endpointWith({ languages: ['cy'] }))).toBeUndefined()
    const message =
      'No provider of a/b transcribes the language "cy". Send one of de, en, or omit it where the model detects it.'
    expect(firstUnmet(call, endpointWith({ languages: ['en', 'de'] }))).toMatchObject({
      status: 400,
      message,
    })
  })

  test('is a format that the endpoint takes; samples without a header count as WAV', () => {
    const pcm = callWith({ audio: { ...callWith().audio, format: 'pcm' } })
    expect(firstUnmet(pcm, endpointWith({ uploadFormats: ['wav'] }))).toBeUndefined()
    expect(firstUnmet(pcm, endpointWith({ uploadFormats: ['mp3', 'flac'] }))).toMatchObject({
      status: 400,
      param: 'input_audio.format',
      message: 'No provider of a/b takes audio in the format "pcm". Convert it to one of mp3, flac.',
    })
  })

  test('is a length that the endpoint takes', () => {
    const call = callWith({ measuredMilliseconds: 120_001 })
    expect(firstUnmet(call, endpointWith({ audioMillisecondsMax: 120_001 }))).toBeUndefined()
    expect(firstUnmet(call, endpointWith({ audioMillisecondsMax: 120_000 }))).toMatchObject({
      status: 413,
      message:
        'The audio lasts 121 seconds, longer than any provider of a/b takes. Split it into pieces of at most 120 seconds.',
    })
  })
})
