import { afterAll, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { at, customProvider, startTestGateway, until } from '../support/gateway.ts'

// A provider that gives up a reader who takes nothing, as most servers do after a minute.

const frame = (choice: object) =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, ...choice }] })}\n\n`
const piece = frame({ delta: { content: 'word '.repeat(50) } }).repeat(200)
const chunked = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const givesUpMs = 700

function answer(socket: Socket): void {
  socket.on('error', () => undefined)
  socket.once('data', () => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n')
    const write = (): void => {
      while (!socket.destroyed) {
        if (socket.write(chunked(piece))) continue
        const patience = setTimeout(() => socket.destroy(), givesUpMs)
        socket.once('drain', () => {
          clearTimeout(patience)
          write()
        })
        return
      }
    }
    write()
  })
}

const upstream = createServer(answer).listen(0, '127.0.0.1')
await once(upstream, 'listening')
const gateway = await startTestGateway({
  hooks: { writeLog: () => undefined, keepAliveMs: 200 },
  providers: () => [
    customProvider(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`, [
      { id: 'acme/chat', modality: 'language', prices: { input_per_million: '1', output_per_million: '2' } },
    ]),
  ],
})
afterAll(async () => {
  await gateway.stop()
  upstream.close()
})

test('a caller who reads no more until the provider gives up pays for what was streamed', async () => {
  const { hostname, port } = new URL(await gateway.listen())
  const body = JSON.stringify({
    model: 'acme/chat',
    stream: true,
    messages: [{ role: 'user', content: 'hi' }],
  })
  const caller = connect(Number(port), hostname)
  caller.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  let text = ''
  caller.on('data', (bytes) => {
    text += bytes.toString()
  })
  await until(
    async () => text.length,
    (length) => length > 1_000_000,
  )
  caller.pause()
  await Bun.sleep(givesUpMs * 3)
  caller.resume()
  await until(
    async () => text.slice(-200_000),
    (end) => end.includes('"error"'),
  )
  caller.destroy()
  const id = /x-generation-id: (\S+)/i.exec(text)?.[1] ?? ''
  const { json } = await until(
    () => gateway.get(`/generation?id=${id}`),
    ({ status }) => status === 200,
  )
  expect(at(json, 'data.cancelled')).toBe(true)
  expect(at(json, 'data.total_cost')).toBeGreaterThan(0)
}, 30_000)
