import { describe, expect, test } from 'bun:test'
import type { SpeechAdapter, SpeechBilled, SpeechOutput } from '../../canonical/audio.ts'
import { AttemptFailed } from '../../canonical/attempt-failed.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import { leastAudio } from '../../catalog/capabilities.ts'
import type { ErrorType } from '../../core/errors.ts'
import { testContext, testEndpoint } from '../text/testing.ts'
import { cartesiaSpeech } from '../../providers/cartesia/speech.ts'
import { atOnce } from '../../core/turns.ts'
import { decodeSpeechJson } from './decode-speech.ts'
import { deepgramSpeech } from '../../providers/deepgram/speech.ts'
import { elevenLabsSpeech } from '../../providers/elevenlabs/speech.ts'
import { fishSpeech } from '../../providers/fish-audio/speech.ts'
import { humeSpeech } from '../../providers/hume/speech.ts'
import { inworldSpeech } from '../../providers/inworld/speech.ts'
import { lmntSpeech } from '../../providers/lmnt/speech.ts'
import { miniMaxSpeech } from '../../providers/minimax/speech.ts'
import { mistralSpeech } from '../../providers/mistral/speech.ts'
import { resembleSpeech } from '../../providers/resemble/speech.ts'
import { xAiSpeech } from '../../providers/xai/speech.ts'

// What each provider answers, and what is read of it: sound, what the sound is, and what was billed. Bodies are written by
// hand after the documents.

const sound = 'four'
const base64 = Buffer.from(sound).toString('base64')
const hex = Buffer.from(sound).toString('hex')
const samples = { container: 'pcm', encoding: 's16le', rate: 24_000, channels: 1 } as const
const event = (fields: unknown) => `data: ${JSON.stringify(fields)}\n\n`
const line = (fields: unknown) => `${JSON.stringify(fields)}\n`
const success = { status_code: 0, status_msg: 'success' }

interface Reply {
  contentType?: string
  headers?: Record<string, string>
  body: string
}

function readerOf(adapter: SpeechAdapter, { contentType = 'audio/mpeg', headers = {} }: Omit<Reply, 'body'>) {
  const wire = { model: 'a/b', input: 'Hello', voice: 'v', response_format: 'pcm' }
  const call = atOnce(
    decodeSpeechJson(new TextEncoder().encode(JSON.stringify(wire)), {
      sessionId: null,
      accept: null,
    }),
  )
  const endpoint: Endpoint = { ...testEndpoint('aura-2', 'acme'), modality: 'speech', audio: leastAudio }
  const step = adapter.first({ call, endpoint, context: testContext })
  if (step.type !== 'stream') throw new Error('expected a stream')
  const context = { ...testContext, parameterNames: call.parameters }
  return step.open(context, new Headers({ 'content-type': contentType, ...headers }))
}

function read(adapter: SpeechAdapter, reply: Reply) {
  const reader = readerOf(adapter, reply)
  const heard = Buffer.concat([reader.push(Buffer.from(reply.body)), reader.end()]).toString('latin1')
  return { heard, output: reader.output, billed: reader.billed }
}

test.each<[string, SpeechAdapter, Reply, SpeechOutput, SpeechBilled | null]>([
  [
    'ElevenLabs tells its characters in a header',
    elevenLabsSpeech,
    { body: sound, headers: { 'character-cost': '3' } },
    samples,
    { characters: 3 },
  ],
  [
    'Deepgram tells its characters in a header',
    deepgramSpeech,
    { body: sound, headers: { 'dg-char-count': '7' } },
    samples,
    { characters: 7 },
  ],
  ['Cartesia tells nothing', cartesiaSpeech, { body: sound }, samples, null],
  ['LMNT tells nothing', lmntSpeech, { body: sound }, samples, null],
  ['Fish Audio tells nothing', fishSpeech, { body: sound }, samples, null],
  ['xAI tells nothing', xAiSpeech, { body: sound }, samples, null],
  ['Hume has a rate of its own', humeSpeech, { body: sound }, { ...samples, rate: 48_000 }, null],
  [
    'MiniMax writes hexadecimal in events, and the last one tells its characters',
    miniMaxSpeech,
    {
      contentType: 'text/event-stream',
      body:
        event({ data: { audio: hex.slice(0, 4), status: 1 }, trace_id: 't', base_resp: success }) +
        event({ data: { audio: hex.slice(4), status: 1 }, trace_id: 't', base_resp: success }) +
        event({ data: { audio: '', status: 2 }, extra_info: { usage_characters: 6 }, base_resp: success }),
    },
    samples,
    { characters: 6 },
  ],
  [
    'MiniMax may answer in one piece',
    miniMaxSpeech,
    {
      contentType: 'application/json',
      body: JSON.stringify({
        data: { audio: hex, status: 2 },
        extra_info: { audio_length: 500, usage_characters: 8 },
        base_resp: success,
      }),
    },
    samples,
    { characters: 8 },
  ],
  [
    'Inworld writes base64 in lines that tell its characters',
    inworldSpeech,
    {
      contentType: 'application/json',
      body:
        line({ result: { audioContent: Buffer.from('fo').toString('base64') } }) +
        line({
          result: {
            audioContent: Buffer.from('ur').toString('base64'),
            usage: { processedCharactersCount: 9, modelId: 'inworld-tts-2' },
          },
        }),
    },
    samples,
    { characters: 9 },
  ],
  [
    'Mistral writes floats as base64 in events, and the last one tells its tokens',
    mistralSpeech,
    {
      contentType: 'text/event-stream',
      body:
        event({ type: 'speech.audio.delta', audio_data: base64 }) +
        event({ type: 'speech.audio.done', usage: { prompt_tokens: 3, completion_tokens: 20 } }),
    },
    { ...samples, encoding: 'f32le' },
    { inputTokens: 3, outputTokens: 20, outputAudioTokens: 20 },
  ],
  [
    'Resemble streams a WAV file',
    resembleSpeech,
    { contentType: 'audio/wav', body: sound },
    { container: 'wav' },
    null,
  ],
  [
    'Resemble may answer in one piece that tells the time',
    resembleSpeech,
    {
      contentType: 'application/json',
      body: JSON.stringify({ success: true, audio_content: base64, duration: 1.25, issues: [] }),
    },
    { container: 'wav' },
    { audioMilliseconds: 1_250 },
  ],
])('%s', (...[, adapter, reply, output, billed]) => {
  expect(read(adapter, reply)).toEqual({ heard: sound, output, billed })
})

describe('a failure in an answer with a status of success', () => {
  const minimax = (code: number, words = 'words') => ({
    contentType: 'application/json',
    body: JSON.stringify({ trace_id: 't', base_resp: { status_code: code, status_msg: words } }),
  })
  const inworld = (code: number, message = 'words') => ({
    contentType: 'application/json',
    body: line({ error: { code, message, details: [] } }),
  })
  const resemble = (message: string) => ({
    contentType: 'application/json',
    body: JSON.stringify({ success: false, error_name: 'Failed', message, issues: [] }),
  })

  test.each<[string, SpeechAdapter, Reply, ErrorType, Partial<{ param: string; fault: boolean }>]>([
    ['MiniMax 1000', miniMaxSpeech, minimax(1000), 'provider_failed', {}],
    ['MiniMax 1001', miniMaxSpeech, minimax(1001), 'provider_timeout', {}],
    ['MiniMax 1002', miniMaxSpeech, minimax(1002), 'upstream_rate_limited', {}],
    ['MiniMax 1004', miniMaxSpeech, minimax(1004), 'provider_failed', { fault: true }],
    ['MiniMax 1008', miniMaxSpeech, minimax(1008), 'provider_failed', { fault: true }],
    ['MiniMax 1024', miniMaxSpeech, minimax(1024), 'provider_failed', {}],
    ['MiniMax 1026', miniMaxSpeech, minimax(1026), 'content_policy_violation', {}],
    ['MiniMax 1027', miniMaxSpeech, minimax(1027), 'content_policy_violation', {}],
    ['MiniMax 1033', miniMaxSpeech, minimax(1033), 'provider_failed', {}],
    ['MiniMax 1039', miniMaxSpeech, minimax(1039), 'upstream_rate_limited', {}],
    ['MiniMax 1041', miniMaxSpeech, minimax(1041), 'upstream_rate_limited', {}],
    ['MiniMax 1042', miniMaxSpeech, minimax(1042), 'invalid_request', {}],
    ['MiniMax 2013', miniMaxSpeech, minimax(2013), 'invalid_request', {}],
    [
      'MiniMax 20132',
      miniMaxSpeech,
      minimax(20132, 'invalid voice or sample'),
      'invalid_request',
      { param: 'voice' },
    ],
    ['Inworld 3', inworldSpeech, inworld(3), 'invalid_request', {}],
    ['Inworld 5', inworldSpeech, inworld(5, 'Unknown voice: v'), 'invalid_request', { param: 'voice' }],
    ['Inworld 8', inworldSpeech, inworld(8), 'upstream_rate_limited', {}],
    ['Inworld 13', inworldSpeech, inworld(13), 'provider_failed', {}],
    ['Inworld 14', inworldSpeech, inworld(14), 'provider_overloaded', {}],
    ['Inworld 16', inworldSpeech, inworld(16), 'provider_failed', { fault: true }],
    [
      'Mistral',
      mistralSpeech,
      {
        contentType: 'text/event-stream',
        body: event({ object: 'error', message: 'words', type: 'server_error', param: null, code: null }),
      },
      'provider_failed',
      {},
    ],
    [
      'Resemble, of the voice',
      resembleSpeech,
      resemble('Voice was not found'),
      'invalid_request',
      { param: 'voice' },
    ],
    ['Resemble, of itself', resembleSpeech, resemble('Something broke'), 'provider_failed', {}],
  ])('%s', (...[, adapter, reply, type, { param, fault = false }]) => {
    let thrown: unknown
    try {
      read(adapter, reply)
    } catch (error) {
      thrown = error
    }
    if (!(thrown instanceof AttemptFailed)) throw new Error('expected a failed attempt', { cause: thrown })
    const { error, credentialFault } = thrown.failure
    expect([error.type, error.param, credentialFault]).toEqual([type, param ?? null, fault])
  })
})

test.each<[string, SpeechAdapter, Reply]>([
  [
    'MiniMax',
    miniMaxSpeech,
    {
      contentType: 'text/event-stream',
      body: event({ data: { audio: hex, status: 1 }, base_resp: success }),
    },
  ],
  [
    'Mistral',
    mistralSpeech,
    { contentType: 'text/event-stream', body: event({ type: 'speech.audio.delta', audio_data: base64 }) },
  ],
])('%s that ends before its last event has broken off', (_, adapter, reply) => {
  expect(() => read(adapter, reply)).toThrow('before it was whole')
})
