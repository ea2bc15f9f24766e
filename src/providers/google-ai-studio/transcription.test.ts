import { describe, expect, test } from 'bun:test'
import { contentTypeOf, fileNameOf, wavHeader } from '../../canonical/audio.ts'
import { defaultPreferences, type TranscriptionCall } from '../../canonical/call.ts'
import { type AudioCapabilities, type Endpoint, unboundedKeyterms } from '../../canonical/endpoint.ts'
import type { ErrorType } from '../../core/errors.ts'
import { GatewayError } from '../../core/errors.ts'
import { leastAudio } from '../../catalog/capabilities.ts'
import { testContext, testEndpoint } from '../../formats/text/testing.ts'
import type { GeminiThinking } from '../../formats/text/gemini/quirks.ts'
import { geminiTranscription } from './transcription.ts'

// The expectations come from Google's documentation and the types of its SDK, not from the code.

const bytes = new Uint8Array(Buffer.from('RIFF and so on'))
const noThoughts: GeminiThinking = { kind: 'budget', min: 0, max: 24_576, canBeOff: true }

function callWith(changes: Partial<TranscriptionCall> & { audioFormat?: string } = {}): TranscriptionCall {
  const { audioFormat: format = 'wav', ...rest } = changes
  return {
    kind: 'transcription',
    operation: 'transcription',
    model: 'google/gemini-2.5-flash',
    fallbackModels: [],
    preferences: defaultPreferences,
    parameters: [],
    demand: { inputTokens: 0, outputTokensMax: null, choices: 1, audioMilliseconds: 9_200, characters: 0 },
    sessionId: 'session-secret',
    userId: 'user-secret',
    trace: { trace_id: 'trace-secret' },
    dropped: [],
    audio: {
      format,
      fileName: fileNameOf(format),
      contentType: contentTypeOf(format),
      sizeBytes: bytes.length,
      open: () => new Blob([bytes]).stream(),
    },
    language: null,
    temperature: null,
    responseFormat: 'json',
    granularities: [],
    diarize: false,
    keyterms: [],
    measuredMilliseconds: 9_200,
    ...rest,
  }
}

function endpointWith(audio: Partial<AudioCapabilities> = {}): Endpoint {
  return {
    ...testEndpoint('gemini-2.5-flash', 'google-ai-studio'),
    modality: 'transcription',
    audio: { ...leastAudio, ...audio },
  }
}

async function sent(call: TranscriptionCall, endpoint = endpointWith(), thinking = noThoughts) {
  const step = geminiTranscription({ modelOf: () => ({ thinking }) }).first({
    call,
    endpoint,
    context: testContext,
  })
  if (step.type !== 'send') throw new Error('expected a request')
  const { request, dropped } = step.exchange
  if (request.body === null || !('open' in request.body)) throw new Error('expected a streamed body')
  const text = await new Response(request.body.open()).text()
  expect(Buffer.byteLength(text)).toBe(request.body.contentLength)
  return { request, dropped, text, body: JSON.parse(text) }
}

function read(wire: unknown, call = callWith(), endpoint = endpointWith()) {
  const adapter = geminiTranscription({ modelOf: () => ({ thinking: noThoughts }) })
  const asked = { call, endpoint, context: testContext }
  const reply = { headers: new Headers(), bytes: new TextEncoder().encode(JSON.stringify(wire)) }
  const step = adapter.next(null, reply, asked)
  if (step.type !== 'answer') throw new Error('expected an answer')
  return step.answer
}

const usageMetadata = {
  promptTokenCount: 350,
  candidatesTokenCount: 20,
  thoughtsTokenCount: 5,
  totalTokenCount: 375,
  promptTokensDetails: [
    { modality: 'TEXT', tokenCount: 62 },
    { modality: 'AUDIO', tokenCount: 288 },
  ],
}
const written = (value: unknown, more: object = {}) => ({
  candidates: [
    {
      content: {
        role: 'model',
        parts: [{ text: typeof value === 'string' ? value : JSON.stringify(value) }],
      },
      finishReason: 'STOP',
      index: 0,
      ...more,
    },
  ],
  usageMetadata,
  responseId: 'r-1',
})

describe('a transcript of Gemini', () => {
  test('is asked for with the sound inside the request, as JSON, without thoughts', async () => {
    const { request, body } = await sent(callWith({ language: 'de', temperature: 0.25 }))
    expect(request).toMatchObject({ method: 'POST', path: '/models/gemini-2.5-flash:generateContent' })
    const [content] = body.contents
    expect(content.role).toBe('user')
    expect(content.parts[0]).toEqual({
      inlineData: { mimeType: 'audio/wav', data: Buffer.from(bytes).toString('base64') },
    })
    expect(content.parts[1].text).toContain('"de"')
    expect(body.generationConfig).toEqual({
      temperature: 0.25,
      responseMimeType: 'application/json',
      responseSchema: {
        type: 'OBJECT',
        properties: { language: { type: 'STRING' }, text: { type: 'STRING' } },
        required: ['language', 'text'],
        propertyOrdering: ['language', 'text'],
      },
      thinkingConfig: { thinkingBudget: 0 },
    })
  })

  test('costs the same in either format, because it is asked for in the same way', async () => {
    const verbose = callWith({ responseFormat: 'verbose_json', granularities: ['segment'] })
    expect((await sent(verbose)).text).toBe((await sent(callWith())).text)
  })

  test.each([
    ['mp3', 'audio/mpeg'],
    ['flac', 'audio/flac'],
    ['ogg', 'audio/ogg'],
    ['m4a', 'audio/mp4'],
    ['webm', 'audio/webm'],
    ['aac', 'audio/aac'],
  ])('of %s says %s', async (audioFormat, mimeType) => {
    const { body } = await sent(callWith({ audioFormat }))
    expect(body.contents[0].parts[0].inlineData.mimeType).toBe(mimeType)
  })

  test('of headerless samples is asked for with a WAV header before them', async () => {
    const { body } = await sent(callWith({ audioFormat: 'pcm' }))
    const { mimeType, data } = body.contents[0].parts[0].inlineData
    expect(mimeType).toBe('audio/wav')
    expect(Buffer.from(data, 'base64')).toEqual(Buffer.concat([wavHeader(bytes.length, 16_000), bytes]))
  })

  test.each<[string, GeminiThinking, unknown]>([
    [
      'thinks as little as it can',
      { kind: 'budget', min: 128, max: 32_768, canBeOff: false },
      { thinkingBudget: 128 },
    ],
    ['thinks at its least level', { kind: 'level', levelMin: 'LOW' }, { thinkingLevel: 'LOW' }],
    ['is told nothing of thoughts where it has none', { kind: 'none' }, undefined],
  ])('%s', async (_, thinking, expected) => {
    const { body } = await sent(callWith(), endpointWith(), thinking)
    expect(body.generationConfig.thinkingConfig).toEqual(expected)
  })

  test('is asked without the gateway’s own members; options of the provider pass by name', async () => {
    const safetySettings = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'OFF' }]
    const options = { 'google-ai-studio': { safetySettings, contents: [], tools: [] } }
    const { body, text, dropped } = await sent(callWith({ preferences: { ...defaultPreferences, options } }))
    expect(body.safetySettings).toEqual(safetySettings)
    expect(body.tools).toBeUndefined()
    expect(body.contents).toHaveLength(1)
    expect(dropped).toEqual([
      'provider.options.google-ai-studio.contents',
      'provider.options.google-ai-studio.tools',
    ])
    expect(text).not.toContain('secret')
  })

  test('has the model’s text, without times, and its tokens', () => {
    expect(read(written({ language: 'EN', text: ' High water at nine. ' }))).toEqual({
      text: 'High water at nine.',
      language: 'en',
      durationSeconds: null,
      segments: null,
      words: null,
      confidence: null,
      languageConfidence: null,
      entities: null,
      tokens: { input: 350, inputAudio: 288, output: 25 },
      upstreamId: 'r-1',
    })
  })

  test('ignores times that the model writes beside its words', () => {
    const claimed = { language: 'en', text: 'Hi.', segments: [{ start: 0, end: 1 }], words: [{ word: 'Hi' }] }
    expect(read(written(claimed))).toMatchObject({ segments: null, words: null })
  })

  test('has no thoughts in it', () => {
    const parts = [{ text: 'I listen.', thought: true }, { text: '{"language":"en","text":"Hi."}' }]
    const wire = { candidates: [{ content: { parts }, finishReason: 'STOP' }], usageMetadata }
    expect(read(wire).text).toBe('Hi.')
  })

  test('of silence is empty, and a remark in place of a language is ignored', () => {
    expect(read(written({ language: '', text: '' }))).toMatchObject({ text: '', language: null })
    const remark = 'The language could not be determined, because nobody speaks.'
    expect(read(written({ language: remark, text: '' })).language).toBeNull()
    expect(read(written({ language: 'German', text: 'Ja.' })).language).toBe('de')
  })

  test('takes its length from its tokens, 32 a second, only when the sound could not be measured', () => {
    const wire = written({ language: 'en', text: 'Hi.' })
    expect(read(wire, callWith({ measuredMilliseconds: null })).durationSeconds).toBe(9)
    expect(
      read({ ...wire, usageMetadata: undefined }, callWith({ measuredMilliseconds: null })),
    ).toMatchObject({
      durationSeconds: null,
      tokens: null,
    })
  })

  test.each<[string, unknown, ErrorType]>([
    [
      'is blocked before it begins',
      { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata },
      'content_policy_violation',
    ],
    [
      'is blocked while it is written',
      written('{"la', { finishReason: 'SAFETY' }),
      'content_policy_violation',
    ],
    ['repeats what is known', written('', { finishReason: 'RECITATION' }), 'content_policy_violation'],
    [
      'is too long for one answer',
      written('{"language":"en","te', { finishReason: 'MAX_TOKENS' }),
      'max_tokens_exceeded',
    ],
    [
      'is of a language that the model does not know',
      written('', { finishReason: 'LANGUAGE' }),
      'invalid_request',
    ],
    ['ends without a reason', written('', { finishReason: 'OTHER' }), 'provider_failed'],
    ['has no candidate', { candidates: [], usageMetadata }, 'provider_failed'],
    ['has no end', { candidates: [{ content: { parts: [{ text: '{}' }] } }] }, 'provider_failed'],
    ['is no JSON', written('High water at nine.'), 'provider_failed'],
    ['has no text', written({ language: 'en' }), 'provider_failed'],
    [
      'is an error with status 200',
      { error: { code: 503, status: 'UNAVAILABLE', message: 'Overloaded.' } },
      'provider_overloaded',
    ],
  ])('that %s is an error', (_, wire, type) => {
    let thrown: unknown
    try {
      read(wire)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(GatewayError)
    expect((thrown as GatewayError).type).toBe(type)
  })
})

describe('a model that the operator configured with times', () => {
  const timed = endpointWith({ wordTimes: true, diarize: true, keyterms: unboundedKeyterms })

  test('is asked by Gemini’s own configuration', async () => {
    const call = callWith({
      language: 'en',
      responseFormat: 'verbose_json',
      diarize: true,
      keyterms: ['Brest', 'neap tide'],
    })
    const { body } = await sent(call, timed)
    expect(body.contents[0].parts).toHaveLength(1)
    expect(body.generationConfig).toEqual({
      audioTranscriptionConfig: {
        languageCodes: ['en'],
        customVocabulary: ['Brest', 'neap tide'],
        wordTimestamp: true,
        diarization: true,
      },
      thinkingConfig: { thinkingBudget: 0 },
    })
  })

  test('gives words, segments and speakers with their times', () => {
    const parts = [
      {
        audioTranscription: {
          text: 'High water.',
          languageCode: 'en-US',
          speakerLabel: 'spk_2',
          startOffset: '0.5s',
          endOffset: '1.25s',
          words: [
            { word: 'High', startOffset: '0.5s', endOffset: '0.8s' },
            { word: 'water.', startOffset: '0.8s', endOffset: '1.25s' },
            { word: 'lost' },
          ],
        },
      },
      {
        audioTranscription: {
          text: 'When?',
          speakerLabel: 'spk_1',
          startOffset: '2s',
          endOffset: '2.4s',
          words: [{ word: 'When?', startOffset: '2s', endOffset: '2.4s' }],
        },
      },
    ]
    const wire = { candidates: [{ content: { parts }, finishReason: 'STOP' }], usageMetadata }
    const [first, second] = [
      { speaker: 0, speaker_label: 'spk_2' },
      { speaker: 1, speaker_label: 'spk_1' },
    ]
    expect(read(wire, callWith({ diarize: true }), timed)).toMatchObject({
      text: 'High water. When?',
      language: 'en',
      segments: [
        { id: 0, start: 0.5, end: 1.25, text: 'High water.', ...first },
        { id: 1, start: 2, end: 2.4, text: 'When?', ...second },
      ],
      words: [
        { word: 'High', start: 0.5, end: 0.8, ...first },
        { word: 'water.', start: 0.8, end: 1.25, ...first },
        { word: 'When?', start: 2, end: 2.4, ...second },
      ],
    })
  })
})
