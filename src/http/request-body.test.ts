import { expect, test } from 'bun:test'
import { GatewayError } from '../core/errors.ts'
import { bodyOf, readBody, requireJson } from './request-body.ts'

const encode = (text: string) => new TextEncoder().encode(text)

function requestOf(
  body: ReadableStream<Uint8Array> | string | null,
  headers: Record<string, string> = {},
): Request {
  return new Request('http://gateway.test/', { method: 'POST', headers, ...(body === null ? {} : { body }) })
}

/** A body that sends these pieces and then nothing, or its end. */
function streamOf(pieces: readonly string[], { ends }: { ends: boolean }) {
  let next = 0
  let isCancelled = false
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = pieces[next]
      next += 1
      if (piece !== undefined) controller.enqueue(encode(piece))
      else if (ends) controller.close()
      else await new Promise(() => undefined)
    },
    cancel() {
      isCancelled = true
    },
  })
  return { stream, isCancelled: () => isCancelled }
}

async function failureOf(promise: Promise<unknown>): Promise<GatewayError> {
  const thrown = await promise.then(
    () => null,
    (error: unknown) => error,
  )
  if (!(thrown instanceof GatewayError)) throw new Error(`not refused: ${String(thrown)}`)
  return thrown
}

test('a body comes through as it was sent, in whatever pieces', async () => {
  expect(await new Response(bodyOf(requestOf(streamOf(['ab', 'c'], { ends: true }).stream))).text()).toBe(
    'abc',
  )
  expect(await new Response(bodyOf(requestOf(null))).text()).toBe('')
})

test('a caller who stops in the middle of a body is refused', async () => {
  const { stream } = streamOf(['{"a":'], { ends: false })
  const failure = await failureOf(new Response(bodyOf(requestOf(stream), 5)).text())
  expect([failure.type, failure.message]).toEqual([
    'invalid_request',
    'No more of the request body came within 1 s.',
  ])
})

test('a reader that stops early cancels the sender’s body', async () => {
  const sent = streamOf(['a', 'b', 'c'], { ends: false })
  const reader = bodyOf(requestOf(sent.stream)).getReader()
  await reader.read()
  await reader.cancel()
  expect(sent.isCancelled()).toBe(true)
})

test('a body is read up to its bound, stated or not', async () => {
  expect(Buffer.from(await readBody(requestOf('12345'), 5)).toString()).toBe('12345')
  const { stream } = streamOf(['123', '456'], { ends: true })
  expect((await failureOf(readBody(requestOf(stream), 5))).type).toBe('payload_too_large')
  const stated = requestOf(streamOf([], { ends: false }).stream, { 'content-length': '6' })
  expect((await failureOf(readBody(stated, 5))).type).toBe('payload_too_large')
})

test('only JSON by its own description passes for JSON', async () => {
  for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/problem+json'])
    expect(() => requireJson(requestOf(null, { 'content-type': type }))).not.toThrow()
  for (const type of ['text/json', 'application/jsonp', ''])
    expect(() => requireJson(requestOf(null, { 'content-type': type }))).toThrow(GatewayError)
})

test('an encoded body is refused by the name of its encoding', async () => {
  const refused = await failureOf(readBody(requestOf('x', { 'content-encoding': 'gzip' }), 10))
  expect([refused.status, refused.param]).toEqual([400, 'content-encoding'])
  expect(refused.message).toContain('"gzip"')
  expect(
    await readBody(requestOf('x', { 'content-encoding': 'identity', 'content-length': '1' }), 10),
  ).toEqual(encode('x'))
})
