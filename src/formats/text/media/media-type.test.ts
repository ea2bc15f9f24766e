import { expect, test } from 'bun:test'
import { mediaTypeOf } from './media-type.ts'

const of = (text: string) => mediaTypeOf(Buffer.from(text, 'latin1'))

test('a medium is recognised by its first bytes', () => {
  expect(of('\u0089PNG\r\n\u001a\nIHDR')).toBe('image/png')
  expect(of('\u00ff\u00d8\u00ff\u00e1')).toBe('image/jpeg')
  expect([of('GIF87a'), of('GIF89a')]).toEqual(['image/gif', 'image/gif'])
  expect(of('RIFF\u0010\u0000\u0000\u0000WEBPVP8 ')).toBe('image/webp')
  expect([of('%PDF-1.4'), of('\u00ef\u00bb\u00bf\n%PDF-2.0')]).toEqual(['application/pdf', 'application/pdf'])
})

test('other bytes have no type, whatever they begin with or have later', () => {
  const others = ['', 'RIFF\u0010\u0000\u0000\u0000WAVEfmt ', 'PNG', '<svg xmlns="">', 'BM', 'II*\u0000']
  for (const text of others) expect(of(text)).toBeNull()
  expect(of(`${'x'.repeat(2_000)}%PDF-1.4`)).toBeNull()
})

test('bytes that lie within larger memory are read from their own beginning', () => {
  const memory = Buffer.from('%PDF-GIF89a', 'latin1')
  expect(mediaTypeOf(new Uint8Array(memory.buffer, memory.byteOffset + 5, 6))).toBe('image/gif')
})
