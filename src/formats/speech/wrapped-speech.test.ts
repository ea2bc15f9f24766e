import { describe, expect, test } from 'bun:test'
import type { SpeechReader } from '../../canonical/audio.ts'
import { wrappedSpeech, type SpeechWrapping } from './wrapped-speech.ts'

const output = { container: 'mpeg' } as const
const base: SpeechWrapping = {
  framing: 'json',
  at: ['data', 'audio'],
  encoding: 'base64',
  output,
  read: () => ({}),
}

function wholeOf(reader: SpeechReader, body: string, size: number): string {
  const bytes = Buffer.from(body)
  const sound: Uint8Array[] = []
  for (let offset = 0; offset < bytes.length; offset += size)
    sound.push(new Uint8Array(reader.push(bytes.subarray(offset, offset + size))))
  return Buffer.concat([...sound, reader.end()]).toString('latin1')
}

const cuts = [1, 2, 3, 7, 1_000]
const b64 = (text: string) => Buffer.from(text, 'latin1').toString('base64')
const hex = (text: string) => Buffer.from(text, 'latin1').toString('hex')

describe('sound in one JSON document', () => {
  test('comes out however the body is cut, and the fields around it are read', () => {
    const body = `{ "a": [1, {"audio": "x"}], "audio": "no", "data": {"status": 2, "audio": "${b64('hello, sound')}", "n": "\\"}"}, "extra": {"used": 7} }`
    for (const size of cuts) {
      let seen: unknown = null
      const reader = wrappedSpeech({
        ...base,
        read: (fields) => {
          seen = fields
          return { billed: { characters: 7 } }
        },
      })
      expect(wholeOf(reader, body, size)).toBe('hello, sound')
      expect(reader.billed).toEqual({ characters: 7 })
      expect(seen).toEqual({
        a: [1, { audio: 'x' }],
        audio: 'no',
        data: { status: 2, audio: '', n: '"}' },
        extra: { used: 7 },
      })
    }
  })

  test('may be hexadecimal, in several places of a list, without padding, wrapped or escaped', () => {
    for (const size of cuts) {
      const inHex = wrappedSpeech({ ...base, encoding: 'hex' })
      expect(wholeOf(inHex, `{"data":{"audio":"${hex('\x00\xff sound')}"}}`, size)).toBe('\x00\xff sound')
      const inList = wrappedSpeech({ ...base, at: ['parts', '*', 'audio'] })
      const parts = `{"parts":[{"audio":"${b64('one')}"},{"text":"t"},{"audio":"${b64('two!').replace(/=+$/, '')}"}]}`
      expect(wholeOf(inList, parts, size)).toBe('onetwo!')
      const wrapped = wrappedSpeech(base)
      const escaped = b64('\xff\xff\xff lines').replace('/', '\\/').replace(/.{4}/g, '$&\\n')
      expect(wholeOf(wrapped, `{"data":{"audio":"${escaped}"}}`, size)).toBe('\xff\xff\xff lines')
    }
  })

  test.each([
    ['{"data":{"audio":"QUJD'],
    ['{"data":{"audio":"Q*JD"}}'],
    ['{"data":{"audio":"QUJD"}'],
    ['["QUJD"]'],
    [`{"data":${'['.repeat(100)}`],
  ])('that cannot be read is a failure of the provider: %s', (body) => {
    expect(() => wholeOf(wrappedSpeech(base), body, 5)).toThrow(
      expect.objectContaining({ type: 'provider_failed' }),
    )
  })

  test('is never held, whatever its size', () => {
    const reader = wrappedSpeech(base)
    reader.push(Buffer.from('{"data":{"audio":"'))
    const piece = Buffer.from('QUJD'.repeat(16_384))
    for (let pieces = 0; pieces < 200; pieces += 1) expect(reader.push(piece).length).toBe(49_152)
    reader.push(Buffer.from('"}}'))
    expect(reader.end().length).toBe(0)
  })

  test('may be wrapped in any amount of white space', () => {
    const reader = wrappedSpeech(base)
    const space = Buffer.from(' '.repeat(65_536))
    reader.push(Buffer.from('{"data":{"audio":"QUJ'))
    for (let pieces = 0; pieces < 400; pieces += 1) reader.push(space)
    expect(wholeOf(reader, 'D"}}', 1)).toBe('ABC')
  }, 1_500)

  test('waits for a description that comes after it', () => {
    const reader = wrappedSpeech({
      ...base,
      output: { container: 'pcm', encoding: 's16le', rate: 24_000, channels: 1 },
      isDescribed: true,
      read: () => ({ output: { container: 'pcm', encoding: 's16le', rate: 16_000, channels: 1 } }),
    })
    expect(reader.push(Buffer.from(`{"data":{"audio":"${b64('abc')}"},"rate":16000}`)).length).toBe(0)
    expect(Buffer.from(reader.end()).toString()).toBe('abc')
    expect(reader.output).toMatchObject({ rate: 16_000 })
  })

  test('without a description is taken for the documented format once much of it has come', () => {
    const reader = wrappedSpeech({ ...base, isDescribed: true })
    reader.push(Buffer.from('{"data":{"audio":"'))
    const piece = Buffer.from('QUJD'.repeat(30_000))
    const shown = [reader.push(piece), reader.push(piece), reader.push(piece)].map(({ length }) => length)
    expect(shown).toEqual([0, 0, 270_000])
  })
})

describe('sound in many documents', () => {
  const eventsOf = (...data: string[]) => data.map((line) => `event: x\r\ndata: ${line}\r\n\r\n`).join('')

  test('is joined from events, with comments between them and an end mark after them', () => {
    const body = `: hello\n\n${eventsOf(`{"data":{"audio":"${b64('one')}"}}`)}data:{"data":\ndata:{"audio":"${b64('two')}"},"last":true}\n\nid: 3\n\n`
    for (const size of cuts) {
      const documents: unknown[] = []
      const reader = wrappedSpeech({
        ...base,
        framing: 'events',
        hasLast: true,
        read: (fields) => {
          documents.push(fields)
          return { isLast: fields['last'] === true }
        },
      })
      expect(wholeOf(reader, body, size)).toBe('onetwo')
      expect(documents).toEqual([{ data: { audio: '' } }, { data: { audio: '' }, last: true }])
    }
  })

  test('is not lost behind the mark of an encoding', () => {
    const body = `\ufeffdata: {"data":{"audio":"${b64('one')}"}}\n\n`
    for (const size of cuts)
      expect(wholeOf(wrappedSpeech({ ...base, framing: 'events' }), body, size)).toBe('one')
  })

  test('passes blank lines by, however many there are', () => {
    const reader = wrappedSpeech({ ...base, framing: 'lines' })
    const piece = Buffer.from(`${' '.repeat(63)}\n`.repeat(1_024))
    for (let pieces = 0; pieces < 30; pieces += 1) reader.push(piece)
    expect(wholeOf(reader, `{"data":{"audio":"${b64('one')}"}}\n`, 64)).toBe('one')
  }, 1_500)

  test('ends with [DONE] where the provider says it so', () => {
    const body = eventsOf(`{"data":{"audio":"${b64('one')}"}}`, '[DONE]')
    for (const size of cuts) {
      expect(wholeOf(wrappedSpeech({ ...base, framing: 'events', hasLast: true }), body, size)).toBe('one')
    }
  })

  test('that ends before its last document was broken off', () => {
    const reader = wrappedSpeech({ ...base, framing: 'events', hasLast: true })
    expect(() => wholeOf(reader, eventsOf(`{"data":{"audio":"${b64('one')}"}}`), 9)).toThrow(
      expect.objectContaining({ type: 'provider_failed' }),
    )
  })

  test('is joined from lines, the last of which may lack its end', () => {
    const body = `{"data":{"audio":"${b64('one')}"}}\r\n\n{"data":{"audio":"${b64('two')}"}}`
    for (const size of cuts)
      expect(wholeOf(wrappedSpeech({ ...base, framing: 'lines' }), body, size)).toBe('onetwo')
  })

  test('stops at a document that reports a failure', () => {
    const failure = new Error('reported')
    const reader = wrappedSpeech({
      ...base,
      framing: 'lines',
      read: (fields) => {
        if (fields['error'] !== undefined) throw failure
        return {}
      },
    })
    expect(() => wholeOf(reader, '{"error":{"code":8}}\n', 1_000)).toThrow(failure)
  })
})
