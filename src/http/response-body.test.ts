import { expect, test } from 'bun:test'
import { joinPieces } from '../core/body.ts'
import { gatheredResponseBytes } from '../core/limits/http.ts'
import { toResponseBody, corkedResponseBytesMax } from './response-body.ts'

const random = (length: number) => crypto.getRandomValues(new Uint8Array(length))

test('small bodies stay as they are', () => {
  const small = new Uint8Array(corkedResponseBytesMax)
  expect(toResponseBody([small])).toBe(small)
  expect(toResponseBody(['{}'])).toBe('{}')
  expect(toResponseBody(['{', new Uint8Array([0x7d])])).toEqual(Buffer.from('{}'))
})

test('a larger body of many pieces loses nothing', async () => {
  for (const lengths of [
    [10, 50_000, 20],
    [4_096, 50_000],
    [5_000, 5_000, 5_000],
    [gatheredResponseBytes],
    [300_000, 1, 2_000_000],
    [1, 1, 4_094, 20_000],
  ]) {
    const pieces = ['é', ...lengths.map(random), '', '…']
    const body = toResponseBody(pieces)
    expect(body).toBeInstanceOf(ReadableStream)
    expect(Buffer.compare(await new Response(body).bytes(), joinPieces(pieces))).toBe(0)
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
  expect(Buffer.compare(received, joinPieces(large))).toBe(0)
})
