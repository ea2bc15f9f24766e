import { expect, test } from 'bun:test'
import { joinPieces } from '../canonical/body.ts'
import { corkedResponseBytesMax } from '../core/limits.ts'
import { toResponseBody } from './response-body.ts'

const random = (length: number) => crypto.getRandomValues(new Uint8Array(length))

test('small bodies stay as they are, larger ones begin with a small piece and lose nothing', async () => {
  const small = new Uint8Array(corkedResponseBytesMax)
  expect(toResponseBody([small])).toBe(small)
  expect(toResponseBody(['{}'])).toBe('{}')
  expect(toResponseBody(['{', new Uint8Array([0x7d])])).toEqual(Buffer.from('{}'))
  const large = random(60_000)
  const body = toResponseBody([large])
  if (!(body instanceof ReadableStream)) throw new Error('expected a stream')
  const pieces = await Array.fromAsync(body)
  expect(pieces.map((piece) => piece.byteLength)).toEqual([4_096, 60_000 - 4_096])
  expect(Buffer.concat(pieces).equals(Buffer.from(large))).toBe(true)
})

test('a body of many pieces begins with as much of them as is small', async () => {
  for (const lengths of [
    [10, 50_000, 20],
    [4_096, 50_000],
    [5_000, 5_000, 5_000],
    [1, 1, 4_094, 20_000],
  ]) {
    const pieces = ['é', ...lengths.map(random), '', '…']
    const body = toResponseBody(pieces)
    if (!(body instanceof ReadableStream)) throw new Error('expected a stream')
    const shown = await Array.fromAsync(body)
    expect(shown[0]?.byteLength).toBe(4_096)
    expect(Buffer.concat(shown).equals(joinPieces(pieces))).toBe(true)
  }
})

test('a large answer arrives whole over a socket', async () => {
  const large = ['head', random(50_000), 'tail']
  const server = Bun.serve({
    port: 0,
    async fetch() {
      await Bun.sleep(1)
      return new Response(toResponseBody(large))
    },
  })
  const received = await (await fetch(server.url)).bytes()
  await server.stop(true)
  expect(Buffer.from(received).equals(joinPieces(large))).toBe(true)
})
