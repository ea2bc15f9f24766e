import { expect, test } from 'bun:test'
import { speechRequestOf } from '../../../test/support/speech-testing.ts'
import { elevenLabsSpeech } from './speech.ts'

test('the caller’s options are added to the gateway’s members, and do not replace them', () => {
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

test('a voice cannot lead to another path', () => {
  for (const voice of ['.', '..'])
    expect(() => speechRequestOf(elevenLabsSpeech, 'eleven_v3', { voice })).toThrow(
      expect.objectContaining({ type: 'invalid_request', param: 'voice' }),
    )
})
