import { describe, expect, test } from 'bun:test'
import { defaultPreferences, type SpeechCall } from '../../canonical/call.ts'
import type { AudioCapabilities, Endpoint } from '../../canonical/endpoint.ts'
import { GatewayError, type ErrorType } from '../../core/errors.ts'
import { leastAudio } from '../../catalog/capabilities.ts'
import { testContext, testEndpoint } from '../../formats/text/testing.ts'
import { geminiSpeech } from './speech.ts'

// The expectations come from Google's documentation and the types of its SDK, not from the code.

function callWith(changes: Partial<SpeechCall> = {}): SpeechCall {
  return {
    kind: 'speech',
    operation: 'speech',
    model: 'google/gemini-2.5-flash-preview-tts',
    fallbackModels: [],
    preferences: defaultPreferences,
    parameters: [],
    demand: { inputTokens: 0, outputTokensMax: null, choices: 1, audioMilliseconds: 0, characters: 2 },
    sessionId: 'session-secret',
    userId: 'user-secret',
    trace: { trace_id: 'trace-secret' },
    dropped: [],
    input: 'Say "hi".',
    voice: 'Kore',
    responseFormat: 'pcm',
    isWav: false,
    speed: 1,
    references: [],
    ...changes,
  }
}

function endpointWith(audio: Partial<AudioCapabilities> = {}): Endpoint {
  return {
    ...testEndpoint('gemini-2.5-flash-preview-tts', 'google-ai-studio'),
    modality: 'speech',
    audio: { ...leastAudio, ...audio },
  }
}

function opened(call = callWith(), endpoint = endpointWith()) {
  const step = geminiSpeech().first({ call, endpoint, context: testContext })
  if (step.type !== 'stream') throw new Error('expected a stream')
  const { request, dropped } = step.exchange
  if (!Array.isArray(request.body)) throw new Error('expected a body in memory')
  const reader = step.open(testContext, new Headers())
  return { request, dropped, text: request.body.join(''), reader }
}

const L16 = 'audio/L16;codec=pcm;rate=24000'
const sound = (text: string, mimeType = L16) => ({
  inlineData: { mimeType, data: Buffer.from(text).toString('base64') },
})
const frame = (parts: readonly object[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
})
const usage = (said: number, details = true) => ({
  usageMetadata: {
    promptTokenCount: 9,
    candidatesTokenCount: said,
    totalTokenCount: 9 + said,
    ...(details ? { candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: said }] } : {}),
  },
})
const bodyOf = (...frames: readonly object[]) =>
  Buffer.from(frames.map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`).join(''))

function read(body: Buffer) {
  const { reader } = opened()
  const heard = Buffer.concat([reader.push(body), reader.end()]).toString()
  return { heard, reader }
}

describe('speech of Gemini', () => {
  test('is asked for as a stream of sound, in one voice, with nothing of the caller’s', () => {
    const safetySettings = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'OFF' }]
    const options = { 'google-ai-studio': { safetySettings, generationConfig: { temperature: 2 } } }
    const { request, dropped, text } = opened(callWith({ preferences: { ...defaultPreferences, options } }))
    expect(request.path).toBe('/models/gemini-2.5-flash-preview-tts:streamGenerateContent?alt=sse')
    expect(JSON.parse(text)).toEqual({
      safetySettings,
      contents: [{ role: 'user', parts: [{ text: 'Say "hi".' }] }],
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      },
    })
    expect(dropped).toEqual(['provider.options.google-ai-studio.generationConfig'])
  })

  test('takes the operator’s voice where the caller names none', () => {
    const { text } = opened(callWith({ voice: null }), endpointWith({ defaultVoice: 'Puck' }))
    expect(text).toContain('{"voiceName":"Puck"}')
  })

  test('is the samples of all events, at the rate that they tell, with the last counts', () => {
    const { heard, reader } = read(
      bodyOf(
        { ...frame([sound('one', 'audio/L16;codec=pcm;rate=16000')]), ...usage(10) },
        { ...frame([sound('two', 'audio/L16;codec=pcm;rate=16000')]), ...usage(20) },
        { ...frame([{ text: '' }], { finishReason: 'STOP' }), ...usage(25) },
      ),
    )
    expect(heard).toBe('onetwo')
    expect(reader.output).toEqual({ container: 'pcm', encoding: 's16le', rate: 16_000, channels: 1 })
    expect(reader.billed).toEqual({
      inputTokens: 9,
      outputTokens: 25,
      reasoningTokens: 0,
      outputAudioTokens: 25,
    })
  })

  test('leaves at its first event', () => {
    const { reader } = opened()
    expect(Buffer.from(reader.push(bodyOf(frame([sound('one')])))).toString()).toBe('one')
    expect(reader.output).toMatchObject({ rate: 24_000 })
    expect(reader.billed).toBeNull()
  })

  test('counts all output as sound when the usage has no details', () => {
    const { reader } = read(
      bodyOf({ ...frame([sound('one')], { finishReason: 'STOP' }), ...usage(25, false) }),
    )
    expect(reader.billed).toMatchObject({ outputTokens: 25, outputAudioTokens: 25 })
  })

  test('that breaks off before its end is a failure', () => {
    expect(() => read(bodyOf(frame([sound('one')])))).toThrow(
      expect.objectContaining({ type: 'provider_failed' }),
    )
  })

  test.each<[string, object[], ErrorType]>([
    ['is blocked', [{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }], 'content_policy_violation'],
    [
      'is blocked while it is spoken',
      [frame([sound('one')]), frame([], { finishReason: 'SAFETY' })],
      'content_policy_violation',
    ],
    ['ends without a reason', [frame([], { finishReason: 'OTHER' })], 'provider_failed'],
    ['is words in place of sound', [frame([{ text: 'Hi.' }], { finishReason: 'STOP' })], 'provider_failed'],
    [
      'is too long',
      [frame([sound('one')]), frame([], { finishReason: 'MAX_TOKENS' })],
      'max_tokens_exceeded',
    ],
    ['has no candidate', [{ usageMetadata: {} }], 'provider_failed'],
    [
      'fails on the way',
      [frame([sound('one')]), { error: { code: 503, status: 'UNAVAILABLE', message: 'x' } }],
      'provider_overloaded',
    ],
  ])('that %s is an error', (_, frames, type) => {
    let thrown: unknown
    try {
      read(bodyOf(...frames))
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(GatewayError)
    expect((thrown as GatewayError).type).toBe(type)
  })
})
