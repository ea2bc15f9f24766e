import { expect, test } from 'bun:test'
import { corkedResponseBytesMax } from '../core/limits.ts'
import { toResponseBody } from './response-body.ts'

test('small bodies stay bytes, larger ones begin with a small piece and lose nothing', async () => {
  const small = new Uint8Array(corkedResponseBytesMax)
  expect(toResponseBody(small)).toBe(small)
  const large = crypto.getRandomValues(new Uint8Array(60_000))
  const body = toResponseBody(large)
  if (!(body instanceof ReadableStream)) throw new Error('expected a stream')
  const pieces = await Array.fromAsync(body)
  expect(pieces.map((piece) => piece.byteLength)).toEqual([4_096, 60_000 - 4_096])
  expect(Buffer.concat(pieces).equals(Buffer.from(large))).toBe(true)
})

test('a large answer arrives whole over a socket', async () => {
  const large = crypto.getRandomValues(new Uint8Array(50_000))
  const server = Bun.serve({
    port: 0,
    async fetch() {
      await Bun.sleep(1)
      return new Response(toResponseBody(large))
    },
  })
  const received = await (await fetch(server.url)).bytes()
  await server.stop(true)
  expect(Buffer.from(received).equals(Buffer.from(large))).toBe(true)
})
