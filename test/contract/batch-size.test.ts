import { afterAll, expect, test } from 'bun:test'
import { at, startTestGateway } from '../support/gateway.ts'

// Section 8: exactly 200 MB is accepted, one byte more is not. The bodies are generated as they are read.

const gateway = await startTestGateway({ role: 'api' })
afterAll(() => gateway.stop())

const bytesMax = 200_000_000
const head = '{"requests":['
const tail = '],"model":"openai/gpt-4o-mini","endpoint":"/v1/chat/completions"}'
const itemLength = 1_000_000

/** One item of the given length in bytes. */
function itemOf(index: number, length: number): string {
  const start = `{"custom_id":"${index}","body":{"messages":[{"role":"user","content":"`
  const end = '"}]}}'
  return start + 'x'.repeat(length - start.length - end.length) + end
}

/** A batch of exactly `length` bytes, an item at a time. */
function bodyOf(length: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let left = length - head.length - tail.length
  let index = 0
  let isStarted = false
  return new ReadableStream({
    pull(controller) {
      if (!isStarted) {
        isStarted = true
        controller.enqueue(encoder.encode(head))
        return
      }
      if (left === 0) {
        controller.enqueue(encoder.encode(tail))
        controller.close()
        return
      }
      const comma = index === 0 ? '' : ','
      // The last item takes the remaining bytes, so that the sum is exact.
      const take = left < 2 * itemLength ? left : itemLength
      controller.enqueue(encoder.encode(comma + itemOf(index, take - comma.length)))
      left -= take
      index += 1
    },
  })
}

test('8.l1 a body of exactly 200,000,000 bytes is accepted', async () => {
  const { status, json } = await gateway.post('/batches', bodyOf(bytesMax))
  expect([status, at(json, 'request_counts.total')]).toEqual([202, 199])
}, 60_000)

test('8.l1b a body of 200,000,001 bytes is 413', async () => {
  const { status, json } = await gateway.post('/batches', bodyOf(bytesMax + 1))
  expect([status, at(json, 'error.code')]).toEqual([413, 413])
}, 60_000)

test('4.1.e413 a body with a larger stated length is 413 before it is read', async () => {
  let isRead = false
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        isRead = true
        controller.enqueue(new TextEncoder().encode(head))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const { status, json } = await gateway.post('/batches', body, {
    headers: { 'content-length': String(bytesMax + 1) },
  })
  expect([status, at(json, 'error.code'), isRead]).toEqual([413, 413, false])
})

test('4.1.e413b the size after decompression counts', async () => {
  const packed = Bun.gzipSync(new Uint8Array(bytesMax + 1).fill(32))
  const { status } = await gateway.post('/batches', packed, { headers: { 'content-encoding': 'gzip' } })
  expect([status, packed.length < 1_000_000]).toEqual([413, true])
}, 60_000)
