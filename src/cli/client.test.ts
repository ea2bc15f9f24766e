import { expect, test } from 'bun:test'
import { baseUrlOf, createClient } from './client.ts'
import { readEvents } from './batch/read-events.ts'

const config = {
  host: '127.0.0.1',
  port: 8787,
  basePath: '',
  dataFolder: '',
  databaseUrl: '',
  file: null,
  providers: [],
  names: {},
  aliases: {},
}

test('the base URL is what the environment names, with its version segment, else what is configured', () => {
  expect(baseUrlOf({ HEADRACE_URL: 'https://ai.example/' }, config)).toBe('https://ai.example/v1')
  expect(baseUrlOf({ HEADRACE_URL: 'https://ai.example/api/v1' }, config)).toBe('https://ai.example/api/v1')
  expect(baseUrlOf({}, { ...config, basePath: '/ai' })).toBe('http://127.0.0.1:8787/ai/v1')
  expect(baseUrlOf({}, { ...config, host: '0.0.0.0' })).toBe('http://127.0.0.1:8787/v1')
  expect(baseUrlOf({}, { ...config, host: '::1' })).toBe('http://[::1]:8787/v1')
  expect(baseUrlOf({}, null)).toBe('http://127.0.0.1:8787/v1')
  for (const nothing of ['nonsense', '127.0.0.1:8787', 'ftp://a', 'http://'])
    expect(() => baseUrlOf({ HEADRACE_URL: nothing }, config)).toThrow('is not an address')
})

test('for a gateway that does not listen there is one line with the next command', async () => {
  const client = createClient('http://127.0.0.1:1/v1')
  await expect(client.json('/models')).rejects.toMatchObject({
    message:
      'No gateway is listening at http://127.0.0.1:1/v1. Start one with "npx headrace serve", or set HEADRACE_URL.',
    isPassing: true,
  })
})

test('a server that listens but does not speak the protocol is not reported as absent', async () => {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('{}') })
  const plain = createClient(`https://127.0.0.1:${server.port}/v1`)
  const wrongScheme = await plain.json('/models').catch((error: unknown) => error)
  expect(wrongScheme).toMatchObject({ isPassing: false })
  expect(String(wrongScheme)).toContain('does not speak TLS that is trusted here')
  const client = createClient(`http://127.0.0.1:${server.port}/v1`)
  for (const key of ['a\nb', 'sk-…'])
    await expect(client.json('/models', { key })).rejects.toThrow('Set HEADRACE_API_KEY')
  const nowhere = createClient('http://no-such-host.invalid/v1')
  await expect(nowhere.json('/models')).rejects.toThrow('There is no host of that name')
  await server.stop(true)
})

test('a refusal shows the message of the gateway; only passing failures are tried again', async () => {
  const answers: [number, string][] = [
    [400, '{"error":{"code":400,"message":"model: expected a string."}}'],
    [503, 'not json'],
    [402, '{"error":{"code":402,"message":"More than is left of the organization\'s credits."}}'],
    [402, '{"error":{"code":402,"message":"More than is left of the key\'s limit."}}'],
  ]
  let next = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(answers[next]?.[1] ?? '', { status: answers[next++]?.[0] ?? 500 }),
  })
  const client = createClient(`http://127.0.0.1:${server.port}/v1`)
  const refused = await client.json('/x').catch((error: unknown) => error)
  expect(refused).toMatchObject({ message: 'model: expected a string. (400)', isPassing: false })
  const away = await client.json('/x').catch((error: unknown) => error)
  expect(away).toMatchObject({ message: 'The gateway answered 503.', isPassing: true })
  const empty = await client.json('/x').catch((error: unknown) => error)
  const message =
    "More than is left of the organization's credits. (402) Add some: npx headrace credits add 10"
  expect(empty).toMatchObject({ message, isPassing: false })
  const limited = await client.json('/x').catch((error: unknown) => error)
  expect(limited).toMatchObject({ message: "More than is left of the key's limit. (402)" })
  await server.stop(true)
})

/** A server whose answer comes in pieces, with a pause before each. */
function slowServer(pieces: number, pauseMs: number) {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch() {
      let sent = 0
      return new Response(
        new ReadableStream({
          async pull(controller) {
            await Bun.sleep(sent === 0 ? 0 : pauseMs)
            if (sent++ < pieces) controller.enqueue('piece\n')
            else controller.close()
          },
        }),
      )
    },
  })
  return { server, client: createClient(`http://127.0.0.1:${server.port}/v1`) }
}

test('an answer may take any time while bytes arrive, and is given up when they stop', async () => {
  // A busy machine delays pieces and answers, so the compared times lie more than a second apart.
  const timeoutMs = 1_500
  const flowing = slowServer(11, 250)
  const silent = slowServer(2, 10_000)
  const [whole, cut] = await Promise.all(
    [flowing, silent].map(async ({ client }) => {
      const answer = await client.send('/batches/b/results', { timeoutMs })
      return answer.text().catch((error: unknown) => error)
    }),
  )
  expect(whole).toBe('piece\n'.repeat(11))
  expect(cut).toMatchObject({
    name: 'CommandFailure',
    message: "The gateway's answer broke off.",
    isPassing: true,
  })
  await flowing.server.stop(true)
  await silent.server.stop(true)
})

test('another program at the address and a gateway without answers have different messages', async () => {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('<html>') })
  const client = createClient(`http://127.0.0.1:${server.port}/v1`)
  await expect(client.json('/models')).rejects.toThrow('HEADRACE_URL')
  await server.stop(true)
})

test('events are read whatever the chunks, without comments and the end mark', async () => {
  const bytes = new TextEncoder().encode(': wait\n\ndata: {"a":"é"}\r\n\r\ndata: {"a":2}\n\ndata: [DONE]\n\n')
  for (const step of [1, 3, 1_000]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / step) }, (_, at) =>
      bytes.slice(at * step, at * step + step),
    )
    const events: unknown[] = []
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk)
        controller.close()
      },
    })
    for await (const event of readEvents(body)) events.push(event)
    expect(events).toEqual([{ a: 'é' }, { a: 2 }])
  }
})
