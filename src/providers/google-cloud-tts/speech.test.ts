import { expect, test } from 'bun:test'
import { testContext } from '../../formats/text/testing.ts'
import { googleCloudTtsSpeech } from './speech.ts'
import { speechRequestOf, speechStepOf } from '../../../test/support/speech-testing.ts'

const stepOf = (fields: Record<string, unknown>) => speechStepOf(googleCloudTtsSpeech, 'chirp3-hd', fields)

function requestOf(fields: Record<string, unknown>) {
  const { path, body, dropped } = speechRequestOf(googleCloudTtsSpeech, 'chirp3-hd', fields)
  return { path, body, dropped }
}

const voice = 'en-US-Chirp3-HD-Kore'

test('samples are asked for without a header, at the rate of the contract', () => {
  expect(requestOf({ voice, response_format: 'pcm' })).toEqual({
    path: '/text:synthesize',
    body: {
      input: { text: 'Hello' },
      voice: { languageCode: 'en-US', name: voice },
      audioConfig: { audioEncoding: 'PCM', sampleRateHertz: 24_000 },
    },
    dropped: [],
  })
})

test('mp3 has the rate of the provider, and the speed of the caller', () => {
  const { body } = requestOf({ voice, response_format: 'mp3', speed: 0.5 })
  expect(body.audioConfig).toEqual({ audioEncoding: 'MP3', speakingRate: 0.5 })
})

test.each([
  ['en-US-Chirp3-HD-Kore', 'en-US'],
  ['cmn-CN-Chirp3-HD-Kore', 'cmn-CN'],
  ['es-419-Chirp3-HD-Kore', 'es-419'],
  ['Kore', undefined],
])('the language of the voice %s is the beginning of its name', (name, languageCode) => {
  expect(requestOf({ voice: name }).body.voice).toEqual(
    languageCode === undefined ? { name } : { languageCode, name },
  )
})

test('the caller’s options tune the sound, and change neither text nor voice', () => {
  const options = {
    acme: {
      input: { ssml: '<speak>A longer text</speak>' },
      voice: { modelName: 'other' },
      audioConfig: { pitch: -2, audioEncoding: 'LINEAR16' },
    },
  }
  const { body, dropped } = requestOf({ voice, response_format: 'mp3', provider: { options } })
  expect(body).toEqual({
    input: { text: 'Hello' },
    voice: { languageCode: 'en-US', name: voice },
    audioConfig: { pitch: -2, audioEncoding: 'MP3' },
  })
  expect(dropped).toEqual(['provider.options.acme.input', 'provider.options.acme.voice'])
})

test('the sound is read from the member with base64; the answer has no billed amount', () => {
  const reader = stepOf({ voice }).open(testContext, new Headers())
  const sound = Buffer.from([1, 2, 3, 4])
  const body = Buffer.from(JSON.stringify({ audioContent: sound.toString('base64') }))
  expect(Buffer.concat([reader.push(body), reader.end()])).toEqual(sound)
  expect(reader.output).toEqual({ container: 'pcm', encoding: 's16le', rate: 24_000, channels: 1 })
  expect(reader.billed ?? {}).toEqual({})
})
