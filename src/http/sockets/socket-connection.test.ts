import { expect, test } from 'bun:test'
import type { ServerWebSocket } from 'bun'
import { responsesTurns } from '../../formats/text/responses/socket-turns.ts'
import { HistoryRoom } from './answer-history.ts'
import { SocketConnection, type SocketOptions, unreadBytesMax } from './socket-connection.ts'

const create = JSON.stringify({ type: 'response.create', model: 'm', input: 'x' })

/** A server's end of a connection whose client reads when the test says so. */
class FakeSocket {
  readonly sent: string[] = []
  closed: number | null = null
  unread = 0
  send(message: string): number {
    this.sent.push(message)
    this.unread += message.length
    return message.length
  }
  getBufferedAmount(): number {
    return this.unread
  }
  close(code: number): void {
    this.closed = code
  }
}

function open(options: Partial<SocketOptions> = {}, times?: { lifeMs: number; restMs: number }) {
  const socket = new FakeSocket()
  const connection = new SocketConnection(
    {
      turns: responsesTurns,
      history: new HistoryRoom().open(),
      call: () => Promise.resolve(stream('data: {"type":"response.completed"}\n\n')),
      refuse: (error) => Response.json({ error: { message: error.message } }, { status: error.status }),
      onClosed: () => undefined,
      ...options,
    },
    times,
  )
  connection.opened(socket as unknown as ServerWebSocket<SocketConnection>)
  return { socket, connection }
}

const stream = (body: string | ReadableStream<Uint8Array>): Response =>
  new Response(body, { headers: { 'content-type': 'text/event-stream' } })

const typesOf = ({ sent }: FakeSocket): unknown[] =>
  sent.map((message) => {
    const { type, error } = JSON.parse(message) as { type: string; error?: { code?: string } }
    return error?.code ?? type
  })

test('after its life a connection says so and ends, when its last turn has ended', async () => {
  const gate = Promise.withResolvers<Response>()
  const { socket, connection } = open({ call: () => gate.promise }, { lifeMs: 30, restMs: 60_000 })
  connection.message(create)
  await Bun.sleep(80)
  expect([socket.sent, socket.closed]).toEqual([[], null])
  // Not begun any more.
  connection.message(create)
  gate.resolve(stream('data: {"type":"response.completed"}\n\n'))
  await Bun.sleep(20)
  expect(typesOf(socket)).toEqual(['response.completed', 'websocket_connection_limit_reached'])
  expect(socket.closed).toBe(1001)
})

test('a connection that rests too long ends, and a turn begins the rest anew', async () => {
  const { socket, connection } = open({}, { lifeMs: 60_000, restMs: 60 })
  await Bun.sleep(40)
  connection.message(create)
  await Bun.sleep(40)
  expect(socket.closed).toBeNull()
  await Bun.sleep(60)
  expect([socket.closed, socket.sent.length]).toEqual([1001, 1])
})

test('a process that stops ends a resting connection at once and a busy one after its turn', async () => {
  const resting = open()
  resting.connection.leave()
  expect(resting.socket.closed).toBe(1012)
  const gate = Promise.withResolvers<Response>()
  const busy = open({ call: () => gate.promise })
  busy.connection.message(create)
  await Bun.sleep(5)
  busy.connection.leave()
  expect(busy.socket.closed).toBeNull()
  gate.resolve(stream('data: {"type":"response.completed"}\n\n'))
  await Bun.sleep(20)
  expect([typesOf(busy.socket), busy.socket.closed]).toEqual([['response.completed'], 1012])
})

test('a provider is read only as far as the client has read', async () => {
  let reads = 0
  const piece = Buffer.from(`data: {"type":"x","text":"${'x'.repeat(100_000)}"}\n\n`)
  const endless = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        reads += 1
        await Bun.sleep(1)
        controller.enqueue(piece)
      },
    },
    { highWaterMark: 0 },
  )
  const { socket, connection } = open({ call: () => Promise.resolve(stream(endless)) })
  const most = Math.ceil(unreadBytesMax / piece.length) + 1
  // Until nothing is read any more, however slow this machine is, or too much was.
  const rest = async (): Promise<void> => {
    for (;;) {
      const seen = reads
      await Bun.sleep(30)
      if (seen === reads || reads > 3 * most) return
    }
  }
  connection.message(create)
  await rest()
  expect(reads).toBeLessThanOrEqual(most)
  const before = reads
  socket.unread = 0
  connection.drained()
  await rest()
  expect(reads).toBeGreaterThan(before)
  expect(reads).toBeLessThanOrEqual(2 * most)
  connection.closed()
  const ended = reads
  await Bun.sleep(50)
  expect(reads).toBeLessThanOrEqual(ended + 1)
})

test('a client that leaves aborts its turn, and those that waited never begin', async () => {
  const signals: AbortSignal[] = []
  const { connection } = open({
    call: (_body, _turn, signal) => {
      signals.push(signal)
      return new Promise(() => undefined)
    },
  })
  connection.message(create)
  connection.message(create)
  await Bun.sleep(5)
  connection.closed()
  await Bun.sleep(5)
  expect(signals.map(({ aborted }) => aborted)).toEqual([true])
})

test('more turns or lanes than a connection may have are refused, and the others run', async () => {
  const gate = Promise.withResolvers<void>()
  const { socket, connection } = open({
    call: async () => {
      await gate.promise
      return stream('data: {"type":"response.completed"}\n\n')
    },
  })
  const lane = (name: string): string =>
    JSON.stringify({ type: 'response.create', model: 'm', input: 'x', stream_id: name })
  for (let count = 0; count < 9; count += 1) connection.message(lane(`l${count}`))
  await Bun.sleep(10)
  expect(socket.sent.map((message) => (JSON.parse(message) as { status: number }).status)).toEqual([429])
  for (let count = 0; count < 25; count += 1) connection.message(lane('l0'))
  await Bun.sleep(10)
  expect(socket.sent).toHaveLength(2)
  gate.resolve()
  await Bun.sleep(50)
  expect(typesOf(socket).filter((type) => type === 'response.completed')).toHaveLength(32)
})

test('a client that goes on sending what is refused loses its connection', async () => {
  const { socket, connection } = open({ call: () => new Promise(() => undefined) })
  for (let count = 0; count < 70; count += 1) connection.message(create)
  await Bun.sleep(5)
  expect(socket.closed).toBe(1013)
})

test('a connection that ends in the middle of a turn is not kept for its rest', async () => {
  const gate = Promise.withResolvers<Response>()
  const { socket, connection } = open({ call: () => gate.promise }, { lifeMs: 60_000, restMs: 20 })
  connection.message(create)
  await Bun.sleep(5)
  connection.closed()
  gate.resolve(stream('data: {"type":"response.completed"}\n\n'))
  await Bun.sleep(60)
  expect(socket.closed).toBeNull()
})

test('a later message does not overtake a longer one of its lane', async () => {
  const bodies: number[] = []
  const { connection } = open({
    call: (body) => {
      bodies.push(body.length)
      return Promise.resolve(stream('data: {"type":"response.completed"}\n\n'))
    },
  })
  const long = JSON.stringify({ type: 'response.create', model: 'm', input: 'x'.repeat(5_000_000) })
  connection.message(long)
  connection.message(create)
  await Bun.sleep(300)
  expect(bodies.map((length) => length > 1_000_000)).toEqual([true, false])
})
