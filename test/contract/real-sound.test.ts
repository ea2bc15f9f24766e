import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ProviderConfig } from '../../src/config-file.ts'
import { at, startTestGateway, type TestGateway } from '../support/gateway.ts'
import { containers, createSoundLab, type RecognisedWord, whyNoSpokenSound } from '../support/spoken-sound.ts'
import { isThorough } from '../support/thorough.ts'
import type { Transcriber } from '../support/transcribers.ts'
import { rowsOf } from '../support/rows-of-providers.ts'

const transcribers = rowsOf('transcribers')

// Section 4.3 on real sound: what is spoken, stored in each container and recognised behind each provider's API arrives as it was heard.

const reason = whyNoSpokenSound()
if (reason !== null) console.log(reason)

const oneMinute = 60_000
/** Of 16-bit samples, 16,000 a second. */
const bytesPerSecond = 32_000
const waveHeaderBytes = 44
/** `npm run prove -- real-sound` hears everything everywhere, which takes minutes of recognition; a usual run hears a part of it. */
const usual = <Item>(all: readonly Item[], some: (item: Item) => boolean) =>
  isThorough ? all : all.filter(some)
/**
 * The sentences of one voice, with silence between; pocketsphinx knows these sentences and others, and nothing
 * else.
 */
const sentences = [
  'The weather is good today.',
  'Please send five letters to the office.',
  'My brother moved to a small house near the sea.',
]
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
  gateway = await startTestGateway({
    providers: (url) => transcribers.map((row) => providerOf(url, row)),
    hasRealSound: true,
    recogniserOptions: lab.recogniserOptions,
  })
  if (reason !== null) return
  const wave = await lab.say(sentences.map((text) => ({ text, voice: 'en-us' })))
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

interface ShownSegment {
  start: number
  end: number
  text: string
}

/** One segment for each sentence where the provider tells them or the pauses between its words do, else one for all, or none. */
function expectSegments(
  segments: readonly ShownSegment[],
  row: Transcriber,
  heard: readonly RecognisedWord[],
): void {
  const isTold = row.segments.length > 1 || row.words
  const texts = isTold ? sentences : row.segments.map(() => sentences.join(' '))
  expect(segments.map(({ text }) => plain(text).trim())).toEqual(texts.map(plain))
  let words = 0
  for (const [index, text] of texts.entries()) {
    const own = heard.slice(words, words + text.split(' ').length)
    const { start = -1, end = -1 } = segments[index] ?? {}
    if (isTold) {
      expect(Math.abs(start - (own[0]?.start ?? 0))).toBeLessThanOrEqual(0.01)
      expect(Math.abs(end - (own.at(-1)?.end ?? 0))).toBeLessThanOrEqual(0.01)
    }
    words += own.length
  }
}

function heardIn(container: string) {
  const found = sounds.get(container)
  if (found === undefined) throw new Error(`nothing was made in ${container}`)
  return found
}

describe.if(reason === null)('real speech', () => {
  test.each(allContainers)('is understood by the recogniser itself, word for word: %s', (container) => {
    const said = sentences.flatMap((sentence) => plain(sentence).split(' '))
    expect(heardIn(container).heard.map(({ word }) => word)).toEqual(said)
  })

  test('has each word at its time', async () => {
    const { heard } = heardIn('wav')
    let beginSeconds = 0
    let words = 0
    for (const text of sentences) {
      const part = await lab.say([{ text, voice: 'en-us' }])
      const partSeconds = (part.length - waveHeaderBytes) / bytesPerSecond
      const own = heard.slice(words, words + text.split(' ').length)
      // A third of a second of silence goes before each sentence, and a second after it.
      expect(own[0]?.start).toBeWithin(beginSeconds + 0.2, beginSeconds + 0.6)
      expect(own.at(-1)?.end).toBeWithin(beginSeconds + partSeconds - 1.6, beginSeconds + partSeconds - 0.8)
      beginSeconds += partSeconds
      words += own.length
    }
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
      expectSegments(json['segments'] as ShownSegment[], row, heard)
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
      if (name === 'groq' && container === 'aac') {
        // Not among the formats that its documents name.
        expect([status, String(at(json, 'error.message'))]).toEqual([400, expect.stringContaining('aac')])
        return
      }
      expect(status).toBe(200)
      expectHeard(json['words'] as ShownWord[], heard)
    },
    oneMinute,
  )

  const tellingSpeakers = transcribers.filter(({ speakers }) => speakers?.of === 'words').map(nameOf)

  test.each(usual(tellingSpeakers, (name) => name === 'deepgram'))(
    'of two voices in turn gets two speakers from %s',
    async (name) => {
      const turns = [
        ['en-us+m3', 'He reads the newspaper before breakfast.'],
        ['en-us+f3', 'She sells fresh bread and apples in the market every Monday morning.'],
        ['en-us+m3', 'The weather is good today.'],
        ['en-us+f3', 'My brother moved to a small house near the sea.'],
      ] as const
      const sound = await lab.say(turns.map(([voice, text]) => ({ text, voice })))
      const { status, json } = await transcribe(name, sound, 'wav', {
        response_format: 'verbose_json',
        diarize: true,
      })
      expect(status).toBe(200)
      const words = json['words'] as ShownWord[]
      const said = turns.flatMap(([, text], turn) =>
        plain(text)
          .split(' ')
          .map((word) => [turn % 2, word]),
      )
      expect(words.map(({ speaker, word }) => [speaker, plain(word)])).toEqual(said)
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

describe.if(reason === null)('bytes that are not sound, or not whole,', () => {
  const names = transcribers.map(nameOf)

  test.each(names)('are refused by the name of their field at every provider: %s', async (name) => {
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

  test.each(names)('are refused at every provider as an upload named mp3: %s', async (name) => {
    const text = new TextEncoder().encode('This is a letter, and nobody has spoken it. '.repeat(40))
    for (const bytes of [text, new Uint8Array(0)]) {
      const form = new FormData()
      form.set('model', `${name}/model`)
      form.set('file', new File([bytes], 'letter.mp3', { type: 'audio/mpeg' }))
      const { status, json } = await gateway.post('/audio/transcriptions', form)
      expect([status, at(json, 'error.code')]).toEqual([400, 400])
      expect(String(at(json, 'error.message'))).toContain('file')
    }
  })

  test.each(allContainers.filter((container) => container !== 'pcm' && container !== 'm4a'))(
    'are transcribed as far as they go, or refused: %s cut in its middle',
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
    'are refused when their index was cut off: m4a',
    async () => {
      const { sound } = heardIn('m4a')
      const { status } = await transcribe('deepgram', sound.slice(0, Math.floor(sound.length / 2)), 'm4a')
      expect(status).toBe(400)
    },
    oneMinute,
  )
})
