import { assert, key, play, refusal, root } from './play.mjs'
import { heard, isMp3, isPcm, listener, notSound, spoken, toneWav, voice } from './sound.mjs'
import { APICallError, generateSpeech, transcribe } from 'ai'
import { createOpenAI } from '@ai-sdk/openai'

const openai = createOpenAI({ baseURL: `${root}/v1`, apiKey: key })
const hear = (more = {}) =>
  transcribe({ model: openai.transcription(listener), audio: toneWav(), maxRetries: 0, ...more })
const speak = async (more = {}) => {
  const { audio } = await generateSpeech({
    model: openai.speech(voice),
    text: spoken,
    voice: 'alloy',
    maxRetries: 0,
    ...more,
  })
  return Buffer.from(audio.uint8Array)
}

await play({
  json: async () => assert.equal((await hear()).text, heard),
  verbose: async () => {
    const providerOptions = {
      openai: { responseFormat: 'verbose_json', timestampGranularities: ['word', 'segment'] },
    }
    const { text, segments, language, durationInSeconds } = await hear({ providerOptions })
    assert.equal(text, heard)
    assert.equal(language, 'en')
    assert.equal(durationInSeconds, 2)
    assert.ok(segments.length > 0)
  },
  language: async () =>
    assert.equal((await hear({ providerOptions: { openai: { language: 'en' } } })).text, heard),
  mp3: async () => isMp3(await speak({ outputFormat: 'mp3' })),
  pcm: async () => isPcm(await speak({ outputFormat: 'pcm' })),
  'unknown model': () =>
    refusal(() => hear({ model: openai.transcription('nobody/has-this') }), {
      kind: APICallError,
      status: 400,
      says: 'nobody/has-this',
    }),
  'no sound': () =>
    refusal(() => hear({ audio: notSound }), { kind: APICallError, status: 400, says: 'text' }),
  'bad speed': () => refusal(() => speak({ speed: 99 }), { kind: APICallError, status: 400, says: 'speed' }),
  'bad key': () =>
    refusal(
      () =>
        hear({
          model: createOpenAI({ baseURL: `${root}/v1`, apiKey: 'nobody-has-this-key-01' }).transcription(
            listener,
          ),
        }),
      { kind: APICallError, status: 401 },
    ),
})
