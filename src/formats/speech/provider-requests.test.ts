import { describe, expect, test } from 'bun:test'
import type { SpeechAdapter } from '../../canonical/audio.ts'
import { cartesiaSpeech } from '../../providers/cartesia/speech.ts'
import { deepgramSpeech } from '../../providers/deepgram/speech.ts'
import { elevenLabsSpeech } from '../../providers/elevenlabs/speech.ts'
import { fishSpeech } from '../../providers/fish-audio/speech.ts'
import { humeSpeech } from '../../providers/hume/speech.ts'
import { inworldSpeech } from '../../providers/inworld/speech.ts'
import { lmntSpeech } from '../../providers/lmnt/speech.ts'
import { miniMaxSpeech } from '../../providers/minimax/speech.ts'
import { mistralSpeech } from '../../providers/mistral/speech.ts'
import { resembleSpeech } from '../../providers/resemble/speech.ts'
import { speechRequestOf } from '../../../test/support/speech-testing.ts'
import { xAiSpeech } from '../../providers/xai/speech.ts'

// What each provider is asked, member by member, as its documents have it; written by hand.

const mp3 = { response_format: 'mp3' }

test.each([
  [
    'ElevenLabs',
    elevenLabsSpeech,
    'eleven_v3',
    { voice: 'a/b', speed: 1.1, ...mp3 },
    '/text-to-speech/a%2Fb/stream?output_format=mp3_44100_128',
    { text: 'Hello', model_id: 'eleven_v3', voice_settings: { speed: 1.1 } },
  ],
  [
    'ElevenLabs',
    elevenLabsSpeech,
    'eleven_v3',
    { voice: 'v' },
    '/text-to-speech/v/stream?output_format=pcm_24000',
    { text: 'Hello', model_id: 'eleven_v3' },
  ],
  [
    'Cartesia',
    cartesiaSpeech,
    'sonic-3',
    { voice: 'v', speed: 1.5 },
    '/tts/bytes',
    {
      model_id: 'sonic-3',
      transcript: 'Hello',
      voice: 'v',
      output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: 24_000 },
      generation_config: { speed: 1.5 },
    },
  ],
  [
    'Cartesia',
    cartesiaSpeech,
    'sonic-3',
    { voice: 'v', ...mp3 },
    '/tts/bytes',
    {
      model_id: 'sonic-3',
      transcript: 'Hello',
      voice: 'v',
      output_format: { container: 'mp3', sample_rate: 44_100, bit_rate: 128_000 },
    },
  ],
  [
    'Deepgram',
    deepgramSpeech,
    'aura-2',
    { voice: 'thalia-en', speed: 0.9 },
    '/speak?model=aura-2-thalia-en&encoding=linear16&container=none&sample_rate=24000&speed=0.9',
    { text: 'Hello' },
  ],
  // A sample rate beside mp3 is refused.
  [
    'Deepgram',
    deepgramSpeech,
    'aura-2-luna-en',
    mp3,
    '/speak?model=aura-2-luna-en&encoding=mp3',
    { text: 'Hello' },
  ],
  [
    'MiniMax',
    miniMaxSpeech,
    'speech-2.8-hd',
    { voice: 'v', speed: 2 },
    '/t2a_v2',
    {
      model: 'speech-2.8-hd',
      text: 'Hello',
      stream: true,
      stream_options: { exclude_aggregated_audio: true },
      voice_setting: { voice_id: 'v', speed: 2 },
      audio_setting: { format: 'pcm', sample_rate: 24_000, channel: 1 },
    },
  ],
  [
    'Hume',
    humeSpeech,
    'octave-2',
    { voice: 'v', speed: 1.2, ...mp3 },
    '/tts/stream/file',
    {
      utterances: [{ text: 'Hello', voice: { id: 'v' }, speed: 1.2 }],
      format: { type: 'mp3' },
      version: '2',
      strip_headers: true,
    },
  ],
  [
    'LMNT',
    lmntSpeech,
    'blizzard',
    { voice: 'v' },
    '/ai/speech/bytes',
    { text: 'Hello', voice: 'v', model: 'blizzard', format: 'pcm_s16le', sample_rate: 24_000 },
  ],
  [
    'Fish Audio',
    fishSpeech,
    's1',
    { voice: 'v', speed: 2 },
    '/tts',
    { text: 'Hello', reference_id: 'v', format: 'pcm', sample_rate: 24_000, prosody: { speed: 2 } },
  ],
  [
    'Inworld',
    inworldSpeech,
    'inworld-tts-2',
    { voice: 'v', speed: 1.5 },
    '/voice:stream',
    {
      text: 'Hello',
      voiceId: 'v',
      modelId: 'inworld-tts-2',
      audioConfig: { audioEncoding: 'PCM', sampleRateHertz: 24_000, speakingRate: 1.5 },
    },
  ],
  [
    'Resemble',
    resembleSpeech,
    'chatterbox-turbo',
    { voice: 'v' },
    '/stream',
    {
      voice_uuid: 'v',
      data: 'Hello',
      model: 'chatterbox-turbo',
      sample_rate: 48_000,
      precision: 'PCM_16',
      output_format: 'wav',
    },
  ],
  [
    'Mistral',
    mistralSpeech,
    'voxtral-mini-tts-3-0',
    { voice: 'v' },
    '/audio/speech',
    { model: 'voxtral-mini-tts-3-0', input: 'Hello', voice_id: 'v', response_format: 'pcm', stream: true },
  ],
  [
    'Mistral',
    mistralSpeech,
    'voxtral-mini-tts-3-0',
    { input_references: [{ type: 'input_audio', input_audio: { data: 'data:audio/wav;base64,UklGRg==' } }] },
    '/audio/speech',
    {
      model: 'voxtral-mini-tts-3-0',
      input: 'Hello',
      ref_audio: 'UklGRg==',
      response_format: 'pcm',
      stream: true,
    },
  ],
  [
    'xAI',
    xAiSpeech,
    'grok-tts',
    { voice: 'eve', speed: 1.5 },
    '/tts',
    {
      text: 'Hello',
      voice_id: 'eve',
      language: 'auto',
      output_format: { codec: 'pcm', sample_rate: 24_000 },
      speed: 1.5,
    },
  ],
  [
    'MiniMax',
    miniMaxSpeech,
    'speech-02-turbo',
    { voice: 'v', ...mp3 },
    '/t2a_v2',
    {
      model: 'speech-02-turbo',
      text: 'Hello',
      stream: true,
      stream_options: { exclude_aggregated_audio: true },
      voice_setting: { voice_id: 'v' },
      audio_setting: { format: 'mp3', sample_rate: 32_000, bitrate: 128_000, channel: 1 },
    },
  ],
  [
    'Hume',
    humeSpeech,
    'octave-1',
    { voice: 'v' },
    '/tts/stream/file',
    {
      utterances: [{ text: 'Hello', voice: { id: 'v' } }],
      format: { type: 'pcm' },
      version: '1',
      strip_headers: true,
    },
  ],
  [
    'LMNT',
    lmntSpeech,
    'blizzard',
    { voice: 'v', ...mp3 },
    '/ai/speech/bytes',
    { text: 'Hello', voice: 'v', model: 'blizzard', format: 'mp3', sample_rate: 24_000 },
  ],
  [
    'Fish Audio',
    fishSpeech,
    's2-pro',
    { voice: 'v', ...mp3 },
    '/tts',
    { text: 'Hello', reference_id: 'v', format: 'mp3', sample_rate: 44_100, mp3_bitrate: 128 },
  ],
  [
    'Inworld',
    inworldSpeech,
    'inworld-tts-2',
    { voice: 'v', ...mp3 },
    '/voice:stream',
    {
      text: 'Hello',
      voiceId: 'v',
      modelId: 'inworld-tts-2',
      audioConfig: { audioEncoding: 'MP3', sampleRateHertz: 48_000, bitRate: 128_000 },
    },
  ],
  [
    'Mistral',
    mistralSpeech,
    'voxtral-mini-tts-2603',
    { voice: 'v', ...mp3 },
    '/audio/speech',
    { model: 'voxtral-mini-tts-2603', input: 'Hello', voice_id: 'v', response_format: 'mp3', stream: true },
  ],
  [
    'xAI',
    xAiSpeech,
    'grok-tts',
    { voice: 'ara', ...mp3 },
    '/tts',
    {
      text: 'Hello',
      voice_id: 'ara',
      language: 'auto',
      output_format: { codec: 'mp3', sample_rate: 24_000, bit_rate: 128_000 },
    },
  ],
] as [string, SpeechAdapter, string, Record<string, unknown>, string, Record<string, unknown>][])(
  '%s is asked in its own words (%#)',
  (...[, adapter, upstreamModel, fields, path, body]) => {
    expect(speechRequestOf(adapter, upstreamModel, fields)).toMatchObject({ path, body })
    expect(Object.keys(speechRequestOf(adapter, upstreamModel, fields).body).toSorted()).toEqual(
      Object.keys(body).toSorted(),
    )
  },
)

describe('what is one provider’s own', () => {
  test('Fish Audio has its model in a header, and clips with their words in MessagePack', () => {
    const clip = { type: 'input_audio', input_audio: { data: 'UklGRg==' } }
    const { headers, body } = speechRequestOf(fishSpeech, 's1', {
      input_references: [clip, { type: 'text', text: 'one' }, clip, { type: 'text', text: 'two' }],
    })
    expect(headers).toMatchObject({ model: 's1', 'content-type': 'application/msgpack' })
    const audio = new Uint8Array(Buffer.from('RIFF'))
    expect(body).toMatchObject({
      text: 'Hello',
      references: [
        { audio, text: 'one' },
        { audio, text: 'two' },
      ],
    })
    expect(body).not.toHaveProperty('reference_id')
  })

  test('the caller’s options join what the gateway sets, and do not take its place', () => {
    const options = {
      acme: {
        voice_settings: { stability: 0.4, speed: 9 },
        seed: 7,
        text: 'other',
        output_format: 'ulaw_8000',
      },
    }
    const { body, dropped } = speechRequestOf(elevenLabsSpeech, 'eleven_v3', {
      voice: 'v',
      speed: 1.2,
      provider: { options },
    })
    expect(body).toEqual({
      text: 'Hello',
      model_id: 'eleven_v3',
      voice_settings: { stability: 0.4, speed: 1.2 },
      seed: 7,
    })
    expect(dropped).toEqual(['provider.options.acme.text', 'provider.options.acme.output_format'])
  })

  test('a voice is never a step to another path', () => {
    for (const voice of ['.', '..'])
      expect(() => speechRequestOf(elevenLabsSpeech, 'eleven_v3', { voice })).toThrow(
        expect.objectContaining({ type: 'invalid_request', param: 'voice' }),
      )
  })
})
