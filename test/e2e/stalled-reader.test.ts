import { afterAll, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { at, customProvider, startTestGateway, until } from '../support/gateway.ts'

// A provider that gives up a reader who takes nothing, as most servers do after a minute.

const frame = (choice: object) =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, ...choice }] })}\n\n`
const words = frame({ delta: { content: 'word '.repeat(50) } }).repeat(200)
const chunked = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const givesUpMs = 1_500

function answer(socket: Socket): void {
  socket.on('error', () => undefined)
  socket.once('data', (request) => {
    const isSpeech = request.includes('/audio/speech')
    const type = isSpeech ? 'audio/pcm' : 'text/event-stream'
    const piece = isSpeech ? '\0'.repeat(50_000) : words
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`)
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
  hooks: { writeLog: () => undefined, keepAliveMs: 1_500 },
  providers: () => [
    customProvider(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`, [
      { id: 'acme/chat', modality: 'language', prices: { input_per_million: '1', output_per_million: '2' } },
      { id: 'acme/voice', modality: 'speech', prices: { characters_per_million: '15' } },
    ]),
  ],
})
afterAll(async () => {
  await gateway.stop()
  upstream.close()
})

/** Reads some of an answer, nothing for a while, and then the rest until it breaks; the answer's head. */
async function stallIn(path: string, request: object): Promise<string> {
  const { hostname, port } = new URL(gateway.listen())
  const body = JSON.stringify(request)
  const caller = connect(Number(port), hostname)
  caller.write(
    `POST /v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  let head = ''
  let end = ''
  let length = 0
  let isClosed = false
  caller.on('error', () => undefined)
  caller.on('close', () => (isClosed = true))
  caller.on('data', (bytes) => {
    length += bytes.length
    if (head.length < 4_000) head += bytes.toString('latin1')
    end = (end + bytes.toString('latin1')).slice(-10_000)
  })
  await until(
    async () => length,
    (received) => received > 1_000_000,
  )
  caller.pause()
  await Bun.sleep(givesUpMs * 2)
  caller.resume()
  await until(
    async () => isClosed || end.includes('"error"'),
    (isOver) => isOver,
  )
  caller.destroy()
  return head
}

const messages = [{ role: 'user', content: 'hi' }]

test.each([
  ['/chat/completions', { model: 'acme/chat', stream: true, messages }],
  ['/audio/speech', { model: 'acme/voice', voice: 'alloy', input: 'hello there', response_format: 'pcm' }],
])(
  'a caller of %s who reads no more until the provider gives up pays for what was streamed',
  async (path, request) => {
    const id = /x-generation-id: (\S+)/i.exec(await stallIn(path, request))?.[1] ?? ''
    const { json } = await until(
      () => gateway.get(`/generation?id=${id}`),
      ({ status }) => status === 200,
    )
    expect(at(json, 'data.cancelled')).toBe(true)
    expect(at(json, 'data.total_cost')).toBeGreaterThan(0)
  },
  60_000,
)
