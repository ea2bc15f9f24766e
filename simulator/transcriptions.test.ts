import { describe, expect, test } from 'bun:test'
import { findPrograms, outputOf } from './programs.ts'
import { wave as silence } from './audio/testing.ts'
import { at, eventsOf, simulatorForTests } from './testing.ts'
import { toneWave } from './tone.ts'

const simulator = simulatorForTests()
const path = '/audio/transcriptions'
const programs = findPrograms()
const canListen = programs.recogniser !== null && programs.espeak !== null && programs.ffmpeg !== null

async function wave(characters: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of toneWave('x'.repeat(characters), 1)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** 3.24 seconds of sound. */
const clip = await wave(54)

function form(fields: [string, string][], file: Uint8Array | null = clip, name = 'clip.wav'): FormData {
  const body = new FormData()
  if (!fields.some(([field]) => field === 'model')) body.set('model', 'whisper-1')
  for (const [field, value] of fields) body.append(field, value)
  if (file !== null) body.set('file', new File([file.slice()], name))
  return body
}

const said = 'scripted,text=one%20two%20three%20four%20five%20six%20seven%20eight%20nine'

describe('a scripted transcription', () => {
  test('says in its text that it is scripted, and how long the audio was', async () => {
    const { json, headers } = await simulator.post(path, { body: form([]), fault: 'scripted' })
    expect(headers.get('x-simulator-transcription')).toBe('scripted')
    expect(json).toEqual({
      text: 'This is a scripted transcription of 3.2 seconds of audio, made without listening to it.',
      usage: { type: 'duration', seconds: 4 },
    })
  })

  test('in verbose_json has segments that begin with a space, and words when asked', async () => {
    const fields: [string, string][] = [
      ['response_format', 'verbose_json'],
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
      ['language', 'de'],
    ]
    const { json } = await simulator.post(path, { body: form(fields), fault: said })
    expect(json).toMatchObject({
      task: 'transcribe',
      language: 'german',
      usage: { type: 'duration', seconds: 4 },
    })
    expect(json['duration']).toBeCloseTo(3.24, 5)
    expect(at(json, 'segments.0')).toEqual({
      id: 0,
      seek: 0,
      start: 0,
      end: 2.88,
      text: ' one two three four five six seven eight',
      tokens: expect.any(Array),
      temperature: 0,
      avg_logprob: expect.any(Number),
      compression_ratio: expect.any(Number),
      no_speech_prob: expect.any(Number),
    })
    expect(at(json, 'segments.1.text')).toBe(' nine')
    expect(at(json, 'words.8')).toEqual({ word: 'nine', start: 2.88, end: 3.24 })
  })

  test.each([
    [[], true, false],
    [['word'], false, true],
    [['segment'], true, false],
    [['segment', 'word'], true, true],
  ])('with granularities %j has the lists that go with them', async (granularities, segments, words) => {
    const fields = granularities.map((name): [string, string] => ['timestamp_granularities[]', name])
    const body = form([['response_format', 'verbose_json'], ...fields])
    const { json } = await simulator.post(path, { body, fault: said })
    expect([Array.isArray(json['segments']), Array.isArray(json['words'])]).toEqual([segments, words])
  })

  test('in text, srt and vtt is plain text', async () => {
    const texts: string[] = []
    for (const format of ['text', 'srt', 'vtt']) {
      const answer = await simulator.post(path, { body: form([['response_format', format]]), fault: said })
      expect(answer.headers.get('content-type')).toStartWith('text/plain')
      texts.push(answer.text)
    }
    expect(texts[0]).toBe('one two three four five six seven eight nine\n')
    expect(texts[1]).toStartWith('1\n00:00:00,000 --> 00:00:02,880\none two')
    expect(texts[2]).toStartWith('WEBVTT\n\n00:00:00.000 --> 00:00:02.880\none two')
  })

  test('of a gpt-4o model is counted in tokens and can be streamed', async () => {
    const fields: [string, string][] = [
      ['model', 'gpt-4o-mini-transcribe'],
      ['prompt', 'four'],
    ]
    const { json } = await simulator.post(path, {
      body: form([...fields, ['include[]', 'logprobs']]),
      fault: said,
    })
    expect(json['usage']).toEqual({
      type: 'tokens',
      input_tokens: 34,
      input_token_details: { text_tokens: 1, audio_tokens: 33 },
      output_tokens: 11,
      total_tokens: 45,
    })
    expect(at(json, 'logprobs.0')).toEqual({
      token: 'one ',
      logprob: expect.any(Number),
      bytes: [111, 110, 101, 32],
    })
    const { text } = await simulator.post(path, { body: form([...fields, ['stream', 'true']]), fault: said })
    const events = eventsOf(text)
    expect(events[0]).toEqual({ type: 'transcript.text.delta', delta: 'one ' })
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', usage: { type: 'tokens' } })
  })

  test('of the diarizing model names its speakers', async () => {
    const fields: [string, string][] = [
      ['model', 'gpt-4o-transcribe-diarize'],
      ['response_format', 'diarized_json'],
    ]
    const { json } = await simulator.post(path, { body: form(fields), fault: said })
    expect(at(json, 'segments.1')).toMatchObject({
      type: 'transcript.text.segment',
      speaker: 'B',
      text: ' nine',
    })
    expect(String(json['text'])).toStartWith('A: one')
  })

  test('of the diarizing model requires chunking above half a minute', async () => {
    const long = (fields: [string, string][]) =>
      form([['model', 'gpt-4o-transcribe-diarize'], ...fields], silence(31))
    const refused = await simulator.post(path, { body: long([]), fault: said })
    expect([refused.status, at(refused.json, 'error.param')]).toEqual([400, 'chunking_strategy'])
    const chunked = await simulator.post(path, { body: long([['chunking_strategy', 'auto']]), fault: said })
    expect(chunked.status).toBe(200)
  })

  test('of gpt-transcribe takes keywords, and reports languages', async () => {
    const fields: [string, string][] = [
      ['model', 'gpt-transcribe'],
      ['keywords[]', 'head race'],
      ['keywords[]', 'Brest'],
      ['languages[]', 'en'],
    ]
    const { json } = await simulator.post(path, { body: form(fields), fault: 'text=hello' })
    expect(json).toEqual({ text: 'hello', languages: [{ code: 'en' }] })
  })

  test('accepts bytes of an unknown format when the file’s name has a known ending', async () => {
    const body = form([], Buffer.alloc(32_000), 'noise.mp3')
    const { status, json } = await simulator.post(path, { body, fault: 'scripted' })
    expect(status).toBe(200)
    expect(at(json, 'usage.seconds')).toBe(2)
  })

  test('can be set for a whole mount', async () => {
    await simulator.admin('settings', { mount: 'quiet', transcription: 'scripted' })
    const { headers } = await simulator.post(path, { body: form([]), mount: 'quiet' })
    expect(headers.get('x-simulator-transcription')).toBe('scripted')
  })

  test('can lack its usage', async () => {
    expect(
      (await simulator.post(path, { body: form([]), fault: `${said},usage=missing` })).json['usage'],
    ).toBeUndefined()
  })
})

test.each([
  ['no file', form([], null), 'file'],
  ['an empty file', form([], Buffer.alloc(0)), 'file'],
  ['no model', form([['model', '']]), null],
  ['a file of no known format', form([], Buffer.alloc(64), 'notes.txt'), 'file'],
  ['an unknown field', form([['keyterms', 'x']]), 'keyterms'],
  [
    'granularities without brackets',
    form([
      ['response_format', 'verbose_json'],
      ['timestamp_granularities', 'word'],
    ]),
    'timestamp_granularities',
  ],
  [
    'granularities without verbose_json',
    form([['timestamp_granularities[]', 'word']]),
    'timestamp_granularities',
  ],
  [
    'verbose_json of a gpt-4o model',
    form([
      ['model', 'gpt-4o-mini-transcribe'],
      ['response_format', 'verbose_json'],
    ]),
    'response_format',
  ],
  [
    'a prompt for the diarizing model',
    form([
      ['model', 'gpt-4o-transcribe-diarize'],
      ['prompt', 'x'],
    ]),
    'prompt',
  ],
  ['keywords for whisper', form([['keywords[]', 'x']]), 'keywords'],
  [
    'five known speakers',
    form([
      ['model', 'gpt-4o-transcribe-diarize'],
      ...['a', 'b', 'c', 'd', 'e'].map((name): [string, string] => ['known_speaker_names[]', name]),
    ]),
    'known_speaker_names',
  ],
  ['other chunks', form([['chunking_strategy', 'some']]), 'chunking_strategy'],
  [
    'verbose_json of gpt-transcribe',
    form([
      ['model', 'gpt-transcribe'],
      ['response_format', 'text'],
    ]),
    'response_format',
  ],
  ['logprobs of whisper', form([['include[]', 'logprobs']]), 'include'],
  ['too high a temperature', form([['temperature', '1.5']]), 'temperature'],
  ['a temperature that is no number', form([['temperature', 'warm']]), 'temperature'],
  ['a language in full', form([['language', 'english']]), 'language'],
])('a transcription is refused for %s', async (_, body, param) => {
  const { status, json } = await simulator.post(path, { body, fault: 'scripted' })
  expect([400, 404]).toContain(status)
  expect(at(json, 'error.param')).toBe(param)
})

test.skipIf(programs.ffprobe === null)('audio that cannot be decoded is refused', async () => {
  const { status, json } = await simulator.post(path, { body: form([], Buffer.alloc(32_000), 'noise.mp3') })
  expect(status).toBe(400)
  expect(at(json, 'error.param')).toBe('file')
})

test('an upload above the limit of the mount is refused with 413', async () => {
  await simulator.admin('settings', { mount: 'small', upload_bytes_max: 10_000 })
  expect((await simulator.post(path, { body: form([]), mount: 'small' })).status).toBe(413)
})

describe.skipIf(!canListen)('a real transcription', () => {
  test('hears spoken words at their times', async () => {
    const file = `${process.env['TMPDIR'] ?? '/tmp'}/simulator-spoken-${process.pid}.wav`
    const spoken = 'it was a bright cold day and the clock was on the wall'
    await outputOf([String(programs.espeak), '-s', '130', '-w', file, spoken], AbortSignal.timeout(10_000))
    const bytes = await Bun.file(file).bytes()
    await Bun.file(file).delete()
    const body = form(
      [
        ['response_format', 'verbose_json'],
        ['timestamp_granularities[]', 'word'],
      ],
      bytes,
    )
    const { json, headers } = await simulator.post(path, { body })
    expect(headers.get('x-simulator-transcription')).toBe('pocketsphinx')
    // The recogniser mishears most of a synthetic voice, so a few words are proof enough that it has listened.
    const heard = String(json['text']).split(' ')
    expect(spoken.split(' ').filter((word) => heard.includes(word)).length).toBeGreaterThanOrEqual(2)
    expect(at(json, 'words.0')).toEqual({
      word: expect.any(String),
      start: expect.any(Number),
      end: expect.any(Number),
    })
    expect(Number(at(json, 'words.0.start'))).toBeLessThan(Number(at(json, 'words.0.end')))
    expect(Number(json['duration'])).toBeWithin(3, 8)
  })
})
