import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ProviderConfig } from '../../src/config-file.ts'
import { at, startTestGateway, type TestGateway } from '../support/gateway.ts'
import { containers, createSoundLab, type RecognisedWord, whyNoSpokenSound } from '../support/spoken-sound.ts'
import { type Transcriber, transcribers } from '../support/transcribers.ts'

// Section 4.3 on real sound: what is spoken, stored in each container and recognised behind each provider's API arrives as it was heard.

const reason = whyNoSpokenSound()
if (reason !== null) console.log(reason)

const oneMinute = 60_000
/** `npm run prove 6.2` hears everything everywhere, which takes minutes of recognition; a usual run hears a part of it. */
const isThorough = process.env['HEADRACE_SOUND'] === 'thorough'
const usual = <Item>(all: readonly Item[], some: (item: Item) => boolean) =>
  isThorough ? all : all.filter(some)
const sentence = 'The weather is good today. Please send five letters to the office.'
const lab = createSoundLab()
const nameOf = ({ preset, variant }: Transcriber) => (variant === undefined ? preset : `${preset}-${variant}`)

function providerOf(url: string, row: Transcriber): ProviderConfig {
  const id = nameOf(row)
  return {
    preset: row.preset,
    id,
    base_url: `${url}/p/${id}${row.path}`,
    api_key: 'a-good-key',
    weight: 1,
    discover: false,
    only_models: true,
    ...(row.query === undefined ? {} : { query: row.query }),
    models: [
      {
        id: `${id}/model`,
        upstream: row.upstream,
        modality: 'transcription',
        ...(row.audio === undefined ? {} : { audio: row.audio }),
      },
    ],
  }
}

const listeners = usual(transcribers, ({ preset }) => preset === 'deepgram')
const allContainers = usual(Object.keys(containers), (name) => ['wav', 'm4a'].includes(name))
const some = (...names: readonly string[]) => usual(names, (name) => name === names[0])

let gateway: TestGateway
/** The sentence in each container, and what the recogniser itself hears in it. */
const sounds = new Map<string, { sound: Uint8Array<ArrayBuffer>; heard: RecognisedWord[] }>()

beforeAll(async () => {
  gateway = await startTestGateway({ providers: (url) => transcribers.map((row) => providerOf(url, row)) })
  if (reason !== null) return
  const wave = await lab.say([{ text: sentence, voice: 'en-us' }])
  for (const container of allContainers) {
    const sound = await lab.convert(wave, container)
    sounds.set(container, { sound, heard: await lab.recognise(sound, container) })
  }
}, 4 * oneMinute)
afterAll(async () => {
  await gateway.stop()
  lab.dispose()
})

async function transcribe(name: string, sound: Uint8Array, format: string, more: object = {}) {
  const body = {
    model: `${name}/model`,
    input_audio: { data: Buffer.from(sound).toString('base64'), format },
    ...more,
  }
  const { status, json } = await gateway.post('/audio/transcriptions', body)
  return { status, json }
}

interface ShownWord extends RecognisedWord {
  speaker?: number
}

/** Words alone: small letters without marks. */
const plain = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}' ]/gu, '')

function expectHeard(words: readonly ShownWord[], heard: readonly RecognisedWord[]): void {
  expect(words.map(({ word }) => plain(word))).toEqual(heard.map(({ word }) => plain(word)))
  for (const [index, { start, end }] of heard.entries()) {
    expect(Math.abs((words[index]?.start ?? -1) - start)).toBeLessThanOrEqual(0.01)
    expect(Math.abs((words[index]?.end ?? -1) - end)).toBeLessThanOrEqual(0.01)
  }
}

function heardIn(container: string) {
  const found = sounds.get(container)
  if (found === undefined) throw new Error(`nothing was made in ${container}`)
  return found
}

describe.if(reason === null)('real speech', () => {
  test('is understood by the recogniser itself', () => {
    const words = heardIn('wav').heard.map(({ word }) => word)
    // It is small and makes mistakes. It has to hear words, and some of them right: the rest compares what each provider told with them.
    expect(words.length).toBeGreaterThanOrEqual(8)
    expect(words.filter((word) => plain(sentence).split(' ').includes(word)).length).toBeGreaterThanOrEqual(3)
  })

  test.each(listeners.map((row) => [nameOf(row), row] as const))(
    'arrives from %s as it was heard',
    async (name, row) => {
      const { sound, heard } = heardIn('wav')
      const more = row.words ? { timestamp_granularities: ['word'] } : {}
      const { status, json } = await transcribe(name, sound, 'wav', {
        response_format: 'verbose_json',
        ...more,
      })
      expect([status, plain(String(json['text']))]).toEqual([200, heard.map(({ word }) => word).join(' ')])
      if (row.words) expectHeard(json['words'] as ShownWord[], heard)
    },
    oneMinute,
  )

  test.each(
    some('elevenlabs', 'deepgram', 'groq').flatMap((name) =>
      allContainers.map((container) => [name, container]),
    ),
  )(
    'goes to %s in %s',
    async (name, container) => {
      const { sound, heard } = heardIn(container)
      const { status, json } = await transcribe(name, sound, container, {
        response_format: 'verbose_json',
        timestamp_granularities: ['word'],
      })
      expect(status).toBe(200)
      expectHeard(json['words'] as ShownWord[], heard)
    },
    oneMinute,
  )

  test.each(some('deepgram', 'elevenlabs', 'fireworks'))(
    'of two voices in turn is told apart by %s',
    async (name) => {
      const voices = ['en-us+m3', 'en-us+f3', 'en-us+m3', 'en-us+f3']
      const texts = [
        'The weather is good today.',
        'Please send five letters.',
        'We will go home now.',
        'That is very good.',
      ]
      const sound = await lab.say(texts.map((text, index) => ({ text, voice: voices[index] ?? '' })))
      const { status, json } = await transcribe(name, sound, 'wav', {
        response_format: 'verbose_json',
        diarize: true,
      })
      expect(status).toBe(200)
      const speakers = (json['words'] as ShownWord[]).map(({ speaker }) => speaker)
      const changes = speakers.filter((speaker, index) => index === 0 || speaker !== speakers[index - 1])
      expect(changes).toEqual([0, 1, 0, 1])
    },
    2 * oneMinute,
  )
})

describe.if(reason === null)('sound without speech', () => {
  test.each(listeners.map((row) => [nameOf(row), row] as const))(
    'is an empty text at %s, and is billed',
    async (name) => {
      const { status, json } = await transcribe(name, await lab.silence(3), 'flac', {
        response_format: 'verbose_json',
      })
      expect([status, json['text'], json['segments'], at(json, 'usage.seconds')]).toEqual([200, '', [], 3])
    },
    oneMinute,
  )

  test.each(some('openai', 'deepgram', 'elevenlabs', 'mistral'))(
    'lasts two hours at %s',
    async (name) => {
      const { status, json } = await transcribe(name, await lab.silence(7_200), 'flac')
      expect([status, at(json, 'usage.seconds')]).toEqual([200, 7_200])
    },
    2 * oneMinute,
  )
})

describe.if(reason === null)('sound that is none, or not whole,', () => {
  const names = transcribers.map(nameOf)

  test.each(names)('is refused by the name of its field, whoever would hear it: %s', async (name) => {
    const text = new TextEncoder().encode('This is a letter, and nobody has spoken it. '.repeat(40))
    for (const [bytes, format] of [
      [text, 'mp3'],
      [text, 'wav'],
      [new Uint8Array(0), 'mp3'],
    ] as const) {
      const { status, json } = await transcribe(name, bytes, format)
      expect([status, at(json, 'error.code')]).toEqual([400, 400])
      expect(String(at(json, 'error.message'))).toContain('input_audio')
    }
  })

  test.each(allContainers.filter((container) => container !== 'pcm' && container !== 'm4a'))(
    'is heard as far as it goes, or refused: %s cut in its middle',
    async (container) => {
      const { sound } = heardIn(container)
      for (const name of some('deepgram', 'openai', 'elevenlabs')) {
        const { status, json } = await transcribe(
          name,
          sound.slice(0, Math.floor(sound.length / 2)),
          container,
        )
        expect([200, 400]).toContain(status)
        if (status === 200) expect(at(json, 'usage.seconds') as number).toBeLessThan(10)
      }
    },
    2 * oneMinute,
  )

  test(
    'is refused where its index was cut off: m4a',
    async () => {
      const { sound } = heardIn('m4a')
      const { status } = await transcribe('deepgram', sound.slice(0, Math.floor(sound.length / 2)), 'm4a')
      expect(status).toBe(400)
    },
    oneMinute,
  )
})
