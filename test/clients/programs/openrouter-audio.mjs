import { assert, key, play, refusal, root } from './play.mjs'
import { heard, isMp3, isPcm, listener, notSound, spoken, toneWav, voice } from './sound.mjs'
import { OpenRouter } from '@openrouter/sdk'
import * as errors from '@openrouter/sdk/models/errors'

// It retries every 5xx for up to an hour.
const retryConfig = { strategy: 'none' }
const client = new OpenRouter({ apiKey: key, serverURL: `${root}/v1`, retryConfig })
const data = toneWav().toString('base64')
const hear = (more = {}) =>
  client.stt.createTranscription({
    sttRequest: { model: listener, inputAudio: { data, format: 'wav' }, ...more },
  })
const upload = (more = {}) =>
  client.stt.createTranscriptionMultipart({
    requestBody: { model: listener, file: { fileName: 'tone.wav', content: toneWav() }, ...more },
  })
const speak = async (more = {}) => {
  const stream = await client.tts.createSpeech({
    speechRequest: { model: voice, voice: 'alloy', input: spoken, ...more },
  })
  return Buffer.from(await new Response(stream).arrayBuffer())
}
const verbose = { responseFormat: 'verbose_json', timestampGranularities: ['word', 'segment'] }
const isVerbose = ({ text, duration, language, words, segments }) => {
  assert.equal(text, heard)
  assert.equal(duration, 2)
  assert.equal(language, 'en')
  assert.equal(words.map(({ word }) => word).join(' '), heard)
  assert.ok(segments.length > 0)
}

await play({
  json: async () => {
    const { text, usage } = await hear()
    assert.equal(text, heard)
    assert.equal(usage.seconds, 2)
    assert.ok(usage.cost > 0)
  },
  verbose: async () => isVerbose(await hear(verbose)),
  multipart: async () => assert.equal((await upload()).text, heard),
  'multipart verbose': async () => isVerbose(await upload(verbose)),
  'multipart with all': async () => {
    const more = { language: 'en', temperature: 0.2, sessionId: 's', user: 'u', trace: '{"trace_id":"t"}' }
    assert.equal((await upload(more)).text, heard)
  },
  mp3: async () => isMp3(await speak({ responseFormat: 'mp3' })),
  pcm: async () => isPcm(await speak()),
  'unknown model': () =>
    refusal(() => hear({ model: 'nobody/has-this' }), {
      kind: errors.BadRequestResponseError,
      status: 400,
      says: 'nobody/has-this',
    }),
  'no sound': () =>
    refusal(() => hear({ inputAudio: { data: notSound.toString('base64'), format: 'mp3' } }), {
      kind: errors.BadRequestResponseError,
      status: 400,
      says: 'text',
    }),
  'bad speed': () =>
    refusal(() => speak({ speed: 99 }), { kind: errors.BadRequestResponseError, status: 400, says: 'speed' }),
  'bad key': () =>
    refusal(
      () =>
        new OpenRouter({
          apiKey: 'nobody-has-this-key-01',
          serverURL: `${root}/v1`,
          retryConfig,
        }).stt.createTranscription({
          sttRequest: { model: listener, inputAudio: { data, format: 'wav' } },
        }),
      { kind: errors.UnauthorizedResponseError, status: 401 },
    ),
})
