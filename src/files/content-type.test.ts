import { describe, expect, test } from 'bun:test'
import { ContentTypeReader } from './content-type.ts'

const main = 'application/vnd.openxmlformats-officedocument'
const archive = (entry: string) =>
  Buffer.concat([
    Buffer.from([0x50, 0x4b, 0x03, 0x04, 0x14, 0x00, 0xff, 0xfe]),
    Buffer.alloc(70_000, 0xee),
    Buffer.from(`PK\u0001\u0002${entry}`, 'latin1'),
  ])

const cases: readonly (readonly [string, Uint8Array | string, string | null])[] = [
  ['a PDF', '%PDF-1.7\nwater\n%%EOF', 'application/pdf'],
  ['a PNG', Buffer.concat([Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'), Buffer.alloc(9)]), 'image/png'],
  ['a JPEG', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]), 'image/jpeg'],
  ['a GIF', Buffer.from('GIF89a\u0001\u0000', 'latin1'), 'image/gif'],
  ['a WebP', Buffer.from('RIFF\u0008\u0000\u0000\u0000WEBPVP8 ', 'latin1'), 'image/webp'],
  ['a document', archive('word/document.xml'), `${main}.wordprocessingml.document`],
  ['a workbook', archive('xl/workbook.xml'), `${main}.spreadsheetml.sheet`],
  ['slides', archive('ppt/presentation.xml'), `${main}.presentationml.presentation`],
  ['an archive of anything else', archive('readme.txt'), null],
  ['MP3', Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0xff]), 'audio/mpeg'],
  ['WAV', Buffer.from('RIFF\u0008\u0000\u0000\u0000WAVEfmt ', 'latin1'), 'audio/wav'],
  ['FLAC', Buffer.from('fLaC\u0000\u0000\u0000\u0022', 'latin1'), 'audio/flac'],
  ['Ogg', Buffer.from('OggS\u0000\u0002', 'latin1'), 'audio/ogg'],
  ['a program', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]), null],
  ['text that is not UTF-8', Buffer.from('gr\u00fc\u00dfe', 'latin1'), null],
  ['text that is cut inside a character', Buffer.from('grüße').subarray(0, 3), null],
  ['text', 'The sluice opens, and the water runs.\nIt runs, and then it stops.\n', 'text/plain'],
  ['text of characters of several bytes', 'grüße 水車 🌊', 'text/plain'],
  ['an object', '{ "a": [1, 2] }\n', 'application/json'],
  ['a list', '[\n  1,\n  2\n]\n', 'application/json'],
  ['what begins like an object', '{ "a": ', 'text/plain'],
  ['an object in each line', '{"a":1}\n{"a":2}\n\n', 'application/x-ndjson'],
  ['a table', 'name,level\nupper,"2,5"\nlower,1\n', 'text/csv'],
  ['a heading', '# The mill\n\nIt turns.\n', 'text/markdown'],
  ['a link', 'See [the mill](mill.md).\n', 'text/markdown'],
]

describe('the type of', () => {
  for (const [name, content, type] of cases) {
    test(`${name} is told by its bytes, in whatever pieces they come`, () => {
      const bytes = Buffer.from(content)
      for (const size of [1, 3, 997, bytes.length]) {
        if (bytes.length / size > 1_000) continue
        const reader = new ContentTypeReader()
        for (let start = 0; start < bytes.length; start += size)
          reader.push(bytes.subarray(start, start + size))
        expect(reader.end()).toBe(type)
        expect(reader.bytes).toBe(bytes.length)
      }
    })
  }

  test('a long file is told by its beginning and its end', () => {
    const typeOf = (text: string) => {
      const reader = new ContentTypeReader()
      const bytes = Buffer.from(text)
      for (let start = 0; start < bytes.length; start += 60_000)
        reader.push(bytes.subarray(start, start + 60_000))
      return reader.end()
    }
    const values = Array.from({ length: 30_000 }, (_, index) => `"value ${index}"`)
    expect(typeOf(`[${values.join(',\n')}]`)).toBe('application/json')
    expect(typeOf(`[${values.join(',')}`)).toBe('text/plain')
    expect(typeOf(values.map((value) => `{"a":${value}}`).join('\n'))).toBe('application/x-ndjson')
    expect(typeOf(`a,b\n${values.map((value) => `1,${value}`).join('\n')}`)).toBe('text/csv')
  })
})
