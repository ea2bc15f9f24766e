import { describe, expect, test } from 'bun:test'
import { joinPieces } from '../core/body.ts'
import type { SpeechCall } from '../canonical/call.ts'
import type { Endpoint } from '../canonical/endpoint.ts'
import { leastAudio, traitsOf } from '../catalog/capabilities.ts'
import { testContext, testEndpoint } from '../formats/text/testing.ts'
import { atOnce } from '../core/turns.ts'
import { decodeSpeechJson } from '../formats/speech/decode-speech.ts'
import { findPreset, modelRulesOf } from './registry.ts'

/** A provider's model with the capabilities that its name implies. */
function endpointAt(slug: string, model: string, baseUrl = 'http://localhost/v1'): Endpoint {
  const preset = findPreset(slug)
  if (preset === null) throw new Error(`there is no ${slug}`)
  const told = traitsOf(model, modelRulesOf(preset))
  expect(told.modality).toBe('speech')
  const endpoint = testEndpoint(model, slug)
  return {
    ...endpoint,
    modality: 'speech',
    deployment: { ...endpoint.deployment, baseUrl },
    audio: { ...leastAudio, ...told.audio, ...preset.audio.speech },
  }
}

function callWith(members: Record<string, unknown> = {}): SpeechCall {
  const body = JSON.stringify({ model: 'a/b', input: 'Hello', voice: 'anna', ...members })
  return atOnce(decodeSpeechJson(new TextEncoder().encode(body), { sessionId: null, accept: null }))
}

function sentTo(endpoint: Endpoint, call = callWith()) {
  const step = findPreset(endpoint.deployment.preset)?.adapters.speech?.first({
    call,
    endpoint,
    context: testContext,
  })
  if (step?.type !== 'stream') throw new Error('expected a request')
  const { request } = step.exchange
  if (!Array.isArray(request.body)) throw new Error('expected JSON')
  const { baseUrl } = endpoint.deployment
  const { inPlaceOf = '', path } = request
  return {
    address: baseUrl.slice(0, baseUrl.length - inPlaceOf.length) + path,
    body: JSON.parse(new TextDecoder().decode(joinPieces(request.body))),
    output: step.open(testContext, new Headers()).output,
  }
}

const samples = { container: 'pcm', encoding: 's16le', rate: 24_000, channels: 1 }
const usual = { voice: 'anna', input: 'Hello' }

describe('speech by OpenAI’s call', () => {
  test.each([
    ['openai', 'tts-1', { response_format: 'pcm' }, samples],
    ['azure', 'tts-1', { response_format: 'pcm' }, samples],
    ['groq', 'canopylabs/orpheus-v1-english', { response_format: 'wav' }, { container: 'wav' }],
    [
      'together',
      'cartesia/sonic',
      { response_format: 'raw', response_encoding: 'pcm_s16le', sample_rate: 24_000 },
      samples,
    ],
    ['deepinfra', 'hexgrad/Kokoro-82M', { response_format: 'pcm' }, samples],
    ['openrouter', 'openai/gpt-4o-mini-tts', { response_format: 'pcm' }, samples],
    ['custom', 'kokoro', { response_format: 'pcm' }, samples],
    // Each of these voices has its own sample rate, which only a header tells.
    ['custom', 'speaches-ai/piper-en_US-amy-low', { response_format: 'wav' }, { container: 'wav' }],
  ])('is asked of %s for %s as its documents say', (slug, model, members, output) => {
    const sent = sentTo(endpointAt(slug, model))
    expect(sent.body).toEqual({ model, ...usual, ...members })
    expect<unknown>(sent.output).toEqual(output)
  })

  test.each([
    ['https://r.test/openai/v1', 'https://r.test/openai/v1/audio/speech'],
    ['https://r.test/openai', 'https://r.test/openai/deployments/tts-1/audio/speech'],
    ['https://r.test/models', 'https://r.test/openai/v1/audio/speech'],
  ])('of Azure at %s is at %s', (baseUrl, address) => {
    expect(sentTo(endpointAt('azure', 'tts-1', baseUrl)).address).toBe(address)
  })

  test('takes pictures and clips at providers that speak the contract itself', () => {
    const parts = [{ type: 'image_url', image_url: { url: 'https://example.com/face.png' } }]
    const sent = sentTo(endpointAt('openrouter', 'x/any-tts'), callWith({ input_references: parts }))
    expect(sent.body.input_references).toEqual(parts)
  })

  test('knows the abilities of Kokoro on self-hosted servers', () => {
    expect(endpointAt('custom', 'kokoro').audio).toMatchObject({
      speed: { min: 0.25, max: 4 },
      defaultVoice: 'af_heart',
    })
    expect(sentTo(endpointAt('custom', 'kokoro'), callWith({ voice: undefined })).body.voice).toBe('af_heart')
  })
})
