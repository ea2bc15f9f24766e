import { describe, expect, test } from 'bun:test'
import { findPrograms } from './programs.ts'
import { at, eventsOf, simulatorForTests } from './testing.ts'
import { wavSeconds } from './audio-format.ts'

const simulator = simulatorForTests()
const path = '/audio/speech'
const programs = findPrograms()
const hasVoice = programs.espeak !== null && (programs.ffmpeg !== null || programs.sox !== null)
const input = 'Hello there, my friend.'

function ask(more: object = {}) {
  return { model: 'tts-1', voice: 'alloy', input, ...more }
}

async function audio(more: object, fault = ''): Promise<{ headers: Headers; bytes: Uint8Array }> {
  const response = await simulator.fetch(path, { body: ask(more), fault })
  expect(response.status).toBe(200)
  return { headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) }
}

describe('a tone', () => {
  test('is 24,000 samples a second of 16 bits, 60 ms for each character', async () => {
    const { headers, bytes } = await audio({ response_format: 'pcm' }, 'tone')
    expect(headers.get('x-simulator-speech')).toBe('tone')
    expect(headers.get('content-type')).toBe('audio/pcm')
    expect(bytes.length).toBe(Math.round(input.length * 0.06 * 24_000) * 2)
    const samples = Array.from({ length: 100 }, (_, index) =>
      new DataView(bytes.buffer).getInt16(index * 2, true),
    )
    expect(Math.max(...samples)).toBeGreaterThan(7_000)
  })

  test('is shorter at a higher speed, and a WAV header states its length', async () => {
    const normal = await audio({ response_format: 'wav' }, 'tone')
    const fast = await audio({ response_format: 'wav', speed: 2 }, 'tone')
    expect(wavSeconds(normal.bytes, normal.bytes.length)).toBeCloseTo(input.length * 0.06, 2)
    expect(wavSeconds(fast.bytes, fast.bytes.length)).toBeCloseTo(input.length * 0.03, 2)
  })

  test('is mp3 without any program, as long as the text would take', async () => {
    const { headers, bytes } = await audio({ response_format: 'mp3', input: 'x'.repeat(100) }, 'tone')
    expect(headers.get('content-type')).toBe('audio/mpeg')
    // Six seconds at 48 kbit/s, and MPEG 2 layer III from the first byte on.
    expect([...bytes.subarray(0, 2)]).toEqual([0xff, 0xf3])
    expect(bytes.length).toBeWithin(36_000, 37_500)
  })

  test('has no bytes when a fault empties the body', async () => {
    expect((await audio({ response_format: 'pcm' }, 'tone,empty_body')).bytes).toHaveLength(0)
  })

  test('arrives in several chunks', async () => {
    const response = await simulator.fetch(path, {
      body: ask({ response_format: 'pcm' }),
      fault: 'tone,chunk_delay=10',
    })
    const chunks: number[] = []
    for await (const chunk of response.body ?? []) chunks.push(chunk.length)
    expect(chunks.length).toBeGreaterThan(1)
    expect(Math.max(...chunks)).toBeLessThanOrEqual(2 * 9_600)
  })
})

describe.skipIf(!hasVoice)('real speech', () => {
  test.each([
    ['mp3', 'audio/mpeg', [0xff, 0x49]],
    ['wav', 'audio/wav', [0x52]],
    ['flac', 'audio/flac', [0x66]],
  ])('in %s has the format that was asked for', async (format, contentType, starts) => {
    const { headers, bytes } = await audio({ response_format: format })
    expect(headers.get('x-simulator-speech')).toBe('espeak-ng')
    expect(headers.get('content-type')).toBe(contentType)
    expect(starts).toContain(bytes[0] ?? -1)
    expect(bytes.length).toBeGreaterThan(4_000)
  })

  test('in pcm is as long as the words take, and shorter when faster', async () => {
    const normal = await audio({ response_format: 'pcm' })
    const fast = await audio({ response_format: 'pcm', speed: 2 })
    const slow = await audio({ response_format: 'pcm', speed: 0.25 })
    expect(normal.bytes.length / 48_000).toBeWithin(0.8, 3)
    expect(fast.bytes.length / normal.bytes.length).toBeWithin(0.4, 0.6)
    expect(slow.bytes.length / normal.bytes.length).toBeWithin(3.4, 4.6)
  })

  test('never takes text for an option', async () => {
    const { bytes } = await audio({ input: '--help -f /etc/passwd', response_format: 'pcm' })
    expect(bytes.length).toBeGreaterThan(10_000)
  })

  test('frees its place when the answer is cut before its first byte', async () => {
    for (let times = 0; times < 4; times++) {
      const response = await simulator.fetch(path, { body: ask(), fault: 'cut_after=0' })
      await expect(response.arrayBuffer()).rejects.toThrow()
    }
    expect((await audio({ response_format: 'pcm' })).headers.get('x-simulator-speech')).toBe('espeak-ng')
  })
})

test('events carry the audio and then the usage', async () => {
  const body = ask({
    model: 'gpt-4o-mini-tts',
    stream_format: 'sse',
    response_format: 'pcm',
    instructions: 'calmly',
  })
  const events = eventsOf((await simulator.post(path, { body, fault: 'tone' })).text)
  expect(events[0]).toEqual({
    type: 'speech.audio.delta',
    audio: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
  })
  expect(events.at(-1)).toMatchObject({ type: 'speech.audio.done', usage: { input_tokens: 6 } })
})

test.each([
  ['an unknown voice', { voice: 'nobody' }, 'voice', 'invalid_value'],
  ['a voice that the model lacks', { voice: 'verse' }, 'voice', 'invalid_value'],
  ['no voice', { voice: null }, 'voice', 'missing_required_parameter'],
  ['a text too long', { input: 'x'.repeat(4097) }, 'input', 'string_above_max_length'],
  ['an empty text', { input: '' }, 'input', 'string_too_short'],
  ['too much speed', { speed: 4.1 }, 'speed', 'decimal_above_max_value'],
  ['an unknown format', { response_format: 'midi' }, 'response_format', 'invalid_value'],
  ['events on an old model', { stream_format: 'sse' }, 'stream_format', 'unsupported_value'],
  ['instructions on an old model', { instructions: 'x' }, 'instructions', 'unsupported_parameter'],
  ['an unknown member', { input_references: [] }, 'input_references', 'unknown_parameter'],
])('speech is refused for %s', async (_, more, param, code) => {
  const { status, json } = await simulator.post(path, { body: ask(more) })
  expect(status).toBe(400)
  expect(at(json, 'error')).toMatchObject({ param, code })
})
