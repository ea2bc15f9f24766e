import { describe, expect, spyOn, test } from 'bun:test'
import type { SpeechAdapter } from '../../canonical/audio.ts'
import { joinPieces } from '../../core/body.ts'
import type { SpeechCall, SpeechReference } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { UpstreamRequest } from '../../canonical/upstream.ts'
import { leastAudio } from '../../catalog/capabilities.ts'
import { GatewayError } from '../../core/errors.ts'
import { atOnce } from '../../core/turns.ts'
import { decode as readMessagePack } from '@msgpack/msgpack'
import { testContext, testEndpoint } from '../text/testing.ts'
import { bodyWithClips, clipMark } from './clip-body.ts'
import { decodeSpeechJson } from './decode-speech.ts'
import { fishAudio, mistral } from '../../providers/index.ts'
import { openAiSpeech } from './openai-speech.ts'
import { contractReferences } from './reference-members.ts'

const noHeaders = { sessionId: null, accept: null }
const required = { model: 'a/b', input: 'Hello' }

/** The largest size that the contract allows; the length leaves a remainder in base64. */
const sound = Buffer.alloc(15 * 1024 * 1024 - 1)
for (let at = 0; at + 4 <= sound.length; at += 4) sound.writeUInt32LE((at * 2_654_435_761) >>> 0, at)
const base64 = sound.toString('base64')

const clip = (data: string) => ({ type: 'input_audio', input_audio: { data } })
const text = (words: string) => ({ type: 'text', text: words })
const bytesOf = (fields: Record<string, unknown>) => Buffer.from(JSON.stringify({ ...required, ...fields }))
const decode = (fields: Record<string, unknown>) => atOnce(decodeSpeechJson(bytesOf(fields), noHeaders))

const aboutClip = ({ type, url, format, transcript }: SpeechReference) => ({ type, url, format, transcript })

function refusalOf(bytes: Uint8Array): GatewayError {
  try {
    atOnce(decodeSpeechJson(bytes, noHeaders))
  } catch (error) {
    if (error instanceof GatewayError) return error
  }
  throw new Error('expected a refusal')
}

/** The length of the longest text that is parsed or written during `work`. */
function longestJson(work: () => void): number {
  const parse = spyOn(JSON, 'parse')
  const write = spyOn(JSON, 'stringify')
  try {
    work()
    const parsed = parse.mock.calls.map(([json]) => json.length)
    const written = write.mock.results.map(({ value }) => String(value).length)
    return Math.max(0, ...parsed, ...written)
  } finally {
    parse.mockRestore()
    write.mockRestore()
  }
}

describe('a request with large clips', () => {
  test('is read in short steps', () => {
    const bytes = bytesOf({ input_references: [clip(base64), clip(base64), clip(base64)] })
    let steps = 0
    const longest = longestJson(() => {
      for (const work = decodeSpeechJson(bytes, noHeaders); !work.next().done;) steps += 1
    })
    expect(longest).toBeLessThan(300_000)
    // 60 MB in steps of a quarter of a megabyte.
    expect(steps).toBeGreaterThan(230)
  })

  test('gives the same call and the same errors as a request with small clips', () => {
    const fields = {
      input: 'Größe 東京 🦆 "quoted" \\ back \n'.repeat(300),
      voice: 'v'.repeat(300),
      speed: 1.5,
      trace: { words: ['Größe '.repeat(100), 'b'], deep: { words: '\u2028'.repeat(300) } },
      provider: { options: { acme: { instructions: 'calm '.repeat(100) } } },
      unknown: 'x'.repeat(300),
    }
    const said = text('ß'.repeat(9_999))
    const { references: small, ...rest } = decode({ ...fields, input_references: [said, clip('QUJD')] })
    const { references: large, ...same } = decode({ ...fields, input_references: [said, clip(base64)] })
    expect(same).toEqual(rest)
    expect(large.map(aboutClip)).toEqual(small.map(aboutClip))
  })

  test.each<[string, (json: string) => string]>([
    ['plain', (json) => json],
    ['in a data URL', (json) => json.replace('"data":"', '"data":"data:audio/wav;base64,')],
    ['in capitals', (json) => json.replace('"data":"', '"data":"DATA:audio/wav;BASE64,')],
    ['with its slashes escaped', (json) => json.replaceAll('/', '\\/').replace('a\\/b', 'a/b')],
    ['in lines', (json) => json.replace(/[A-Za-z0-9+/]{76}/g, '$&\\r\\n')],
    ['with a letter as a number', (json) => json.replaceAll('A', '\\u0041')],
    ['without padding', (json) => json.replace('="', '"')],
  ])('has their sound to the last byte where it is written %s', (_, write) => {
    const json = write(JSON.stringify({ ...required, input_references: [clip(base64)] }))
    const { references } = atOnce(decodeSpeechJson(Buffer.from(json), noHeaders))
    expect(Buffer.concat(references[0]?.data ?? []).equals(sound)).toBe(true)
  })

  const middle = 7_000_001
  const broken = (with_: string) => `${base64.slice(0, middle)}${with_}${base64.slice(middle + 1)}`

  test.each<[string, Buffer, number, string]>([
    [
      'no base64',
      bytesOf({ input_references: [clip('QUJD'), clip(broken('*'))] }),
      400,
      'input_references[1]',
    ],
    ['letters of no base64', bytesOf({ input_references: [clip(broken('é'))] }), 400, 'input_references[0]'],
    [
      'a byte too many',
      bytesOf({ input_references: [clip(Buffer.alloc(15 * 1024 * 1024 + 1).toString('base64'))] }),
      400,
      'input_references[0]',
    ],
    [
      'a transcript that is a book',
      bytesOf({ input_references: [clip('QUJD'), text('x'.repeat(1_000_001))] }),
      413,
      'input_references',
    ],
    ['hours of text', bytesOf({ input: 'x'.repeat(1_000_001) }), 413, 'input'],
    [
      'a million of values',
      bytesOf({ input_references: [clip(base64), ...Array.from({ length: 500_000 }, () => 1)] }),
      413,
      'body',
    ],
    [
      'bytes that are no text',
      Buffer.concat([
        bytesOf({ input_references: [clip(base64)] }).subarray(0, -1),
        Buffer.from(',"user":"\xff"}', 'latin1'),
      ]),
      400,
      'body',
    ],
  ])('is refused for %s', (_, bytes, status, param) => {
    const refusal = refusalOf(bytes)
    expect([refusal.status, refusal.param]).toEqual([status, param])
  })

  test('is refused for its end within a clip', () => {
    const refusal = refusalOf(bytesOf({ input_references: [clip(base64)] }).subarray(0, middle))
    expect(refusal.status).toBe(400)
    expect(refusal.message).toContain('a string is not closed (line 1, column 96)')
  })

  test('is refused for a line that is broken without an escape', () => {
    const json = JSON.stringify({ ...required, input_references: [clip(broken('#'))] })
    expect(refusalOf(Buffer.from(json.replace('#', '\n'))).status).toBe(400)
  })
})

function requestOf(adapter: SpeechAdapter, call: SpeechCall): UpstreamRequest {
  const endpoint: Endpoint = { ...testEndpoint('up', 'acme'), modality: 'speech', audio: leastAudio }
  const step = adapter.first({ call, endpoint, context: testContext })
  if (step.type !== 'stream') throw new Error('expected a stream')
  return step.exchange.request
}

/** The pieces of a body that is written while it is read. */
async function writtenBy({ body }: Pick<UpstreamRequest, 'body'>): Promise<Uint8Array[]> {
  if (body === null || !('open' in body)) throw new Error('expected a body that is written as it is read')
  const pieces = await Array.fromAsync(body.open())
  expect(body.contentLength).toBe(pieces.reduce((length, piece) => length + piece.length, 0))
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(300_000)
  return pieces
}

const parsed = (pieces: Uint8Array[]) =>
  JSON.parse(Buffer.concat(pieces).toString()) as Record<string, unknown>

function speechOf({ adapters: { speech } }: typeof mistral): SpeechAdapter {
  if (speech === undefined) throw new Error('it speaks nothing')
  return speech
}

describe('large clips go to a provider', () => {
  const one = decode({ input_references: [clip(base64)] })
  const three = decode({
    input_references: [clip(base64), text('one'), clip('QUJD'), text('two'), clip(base64), text('three')],
  })

  test('as base64 that is written as it is read', async () => {
    let request: UpstreamRequest | null = null
    expect(longestJson(() => (request = requestOf(speechOf(mistral), one)))).toBeLessThan(1_000)
    const body = parsed(await writtenBy(request ?? { body: null }))
    expect(body).toMatchObject({ model: 'up', input: 'Hello', stream: true })
    expect(body['ref_audio'] === base64).toBe(true)
  })

  test('in the contract’s own form, each in its place', async () => {
    const adapter = openAiSpeech({ references: contractReferences })
    const request = requestOf(adapter, three)
    const parts = [clip(base64), text('one'), clip('QUJD'), text('two'), clip(base64), text('three')]
    // The body is read twice, because a request may be sent again.
    for (const pieces of [await writtenBy(request), await writtenBy(request)])
      expect(Bun.deepEquals(parsed(pieces)['input_references'], parts)).toBe(true)
  })

  test('in MessagePack as the bytes that they are', () => {
    const { body } = requestOf(speechOf(fishAudio), three)
    if (body === null || 'open' in body) throw new Error('expected a body in pieces')
    const sounds = three.references.flatMap(({ data }) => data ?? [])
    expect(sounds.every((piece) => body.includes(piece))).toBe(true)
    const { references } = readMessagePack(joinPieces(body)) as {
      references: { audio: Uint8Array; text: string }[]
    }
    expect(references.map(({ text: words }) => words)).toEqual(['one', 'two', 'three'])
    expect(references.map(({ audio }) => audio.length)).toEqual([sound.length, 3, sound.length])
    expect(references.every(({ audio }) => audio.length === 3 || sound.equals(audio))).toBe(true)
  })

  test('whatever the pieces in which they were fetched', async () => {
    const data = [1, 2, 5, 100_000, 100_001, 100_003].map((length, index) => Buffer.alloc(length, index))
    const reference = { type: 'audio', data, url: null, format: null, transcript: null } as const
    const body = bodyWithClips(JSON.stringify({ a: clipMark(0), b: 1 }), [reference])
    const written = { a: Buffer.concat(data).toString('base64'), b: 1 }
    expect(parsed(await writtenBy({ body }))).toEqual(written)
  })
})
