import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { encodeBase64Body } from './base64-body.ts'

/** A file whose reads are cut at the given pieces. */
function fileOf(pieces: readonly Uint8Array[]) {
  const state = { opened: 0, cancelled: 0 }
  const open = () => {
    state.opened += 1
    const left = [...pieces]
    return new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const next = left.shift()
          if (next === undefined) controller.close()
          else controller.enqueue(next)
        },
        cancel() {
          state.cancelled += 1
        },
      },
      { highWaterMark: 0 },
    )
  }
  const sizeBytes = pieces.reduce((sum, { length }) => sum + length, 0)
  return { state, file: { prefix: new Uint8Array(0), sizeBytes, open } }
}

test('a file is encoded as a whole, wherever its reads are cut, with the length that was said before', async () => {
  const bytes = fc.uint8Array({ maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(bytes, fc.array(bytes, { maxLength: 6 }), async (prefix, pieces) => {
      const { file } = fileOf(pieces)
      const { contentLength, open } = encodeBase64Body('{"é":"', { ...file, prefix }, '"}')
      const sent = Buffer.from(await new Response(open()).bytes())
      expect(sent.length).toBe(contentLength)
      const whole = Buffer.concat([prefix, ...pieces])
      expect(sent.toString()).toBe(`{"é":"${whole.toString('base64')}"}`)
    }),
    { numRuns: 200 },
  )
})

test('a second attempt reads the file anew, and an attempt that breaks off closes it', async () => {
  const { file, state } = fileOf([Buffer.from('abc'), Buffer.from('def')])
  const body = encodeBase64Body('<', file, '>')
  expect(await new Response(body.open()).text()).toBe('<YWJjZGVm>')
  const reader = body.open().getReader()
  await reader.read()
  await reader.read()
  await reader.cancel()
  expect(state).toEqual({ opened: 2, cancelled: 1 })
})
