import { assert, key, play, refusal, root } from './play.mjs'
import { heard, isMp3, isPcm, listener, notSound, spoken, toneWav, voice } from './sound.mjs'
import OpenAI, { toFile } from 'openai'

const client = new OpenAI({ baseURL: `${root}/v1`, apiKey: key, maxRetries: 0 })
const file = (name = 'tone.wav', bytes = toneWav()) => toFile(bytes, name)
const hear = async (more = {}) =>
  client.audio.transcriptions.create({ file: await file(), model: listener, ...more })
const bytesOf = async (response) => Buffer.from(await response.arrayBuffer())
const speak = async (more = {}) =>
  bytesOf(
    await client.audio.speech.create({
      model: voice,
      voice: 'alloy',
      input: spoken,
      response_format: 'pcm',
      ...more,
    }),
  )

await play({
  json: async () => {
    const { text, usage } = await hear()
    assert.equal(text, heard)
    assert.equal(usage.seconds, 2)
    assert.ok(usage.cost > 0)
  },
  verbose: async () => {
    const answer = await hear({
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    })
    assert.equal(answer.text, heard)
    assert.equal(answer.duration, 2)
    assert.equal(answer.language, 'en')
    assert.equal(answer.words.map(({ word }) => word).join(' '), heard)
    assert.ok(answer.segments.length > 0)
  },
  stream: async () => {
    const events = []
    for await (const event of await hear({ stream: true })) events.push(event)
    const deltas = events.filter(({ type }) => type === 'transcript.text.delta')
    assert.equal(deltas.map(({ delta }) => delta).join(''), heard)
    const done = events.at(-1)
    assert.equal(done.type, 'transcript.text.done')
    assert.equal(done.text, heard)
    assert.equal(done.usage.seconds, 2)
  },
  mp3: async () => isMp3(await speak({ response_format: 'mp3' })),
  pcm: async () => isPcm(await speak()),
  'speech as it comes': async () => {
    const response = await client.audio.speech.create({
      model: voice,
      voice: 'alloy',
      input: spoken,
      response_format: 'pcm',
    })
    let bytes = 0
    for await (const chunk of response.body) bytes += chunk.length
    assert.ok(bytes > 24_000)
  },
  'unknown model': () =>
    refusal(() => hear({ model: 'nobody/has-this' }), {
      kind: OpenAI.BadRequestError,
      status: 400,
      says: 'nobody/has-this',
    }),
  'no sound': () =>
    refusal(async () => hear({ file: await file('talk.mp3', notSound) }), {
      kind: OpenAI.BadRequestError,
      status: 400,
      says: 'text',
    }),
  'bad parameter': () =>
    refusal(() => hear({ response_format: 'srt' }), {
      kind: OpenAI.BadRequestError,
      status: 400,
      says: 'srt',
    }),
  'bad speed': () =>
    refusal(() => speak({ speed: 99 }), { kind: OpenAI.BadRequestError, status: 400, says: 'speed' }),
  'bad key': () =>
    refusal(
      async () =>
        new OpenAI({
          baseURL: `${root}/v1`,
          apiKey: 'nobody-has-this-key-01',
          maxRetries: 0,
        }).audio.transcriptions.create({ file: await file(), model: listener }),
      { kind: OpenAI.AuthenticationError, status: 401 },
    ),
})
