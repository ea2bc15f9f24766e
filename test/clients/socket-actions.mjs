// Drives WebSockets of the gateway with the package `ws` on Node, a client that shares no code with the server's runtime.
// `node socket-actions.mjs <action> <JSON>` prints one line of JSON for each thing that it saw.
import WebSocket from 'ws'

const [action, given] = process.argv.slice(2)
const { url, key, model, ...options } = JSON.parse(given)
const tell = (value) => process.stdout.write(`${JSON.stringify(value)}\n`)
const turn = (more) => JSON.stringify({ type: 'response.create', model, input: 'Say it.', ...more })
const ends = new Set(['response.completed', 'response.failed', 'response.incomplete', 'error'])

function connect(headers = { authorization: `Bearer ${key}` }) {
  const socket = new WebSocket(url, { headers, maxPayload: 0 })
  socket.closed = new Promise((resolve) => socket.on('close', (code) => resolve(code)))
  return new Promise((resolve, reject) => {
    socket.on('open', () => resolve(socket))
    socket.on('error', reject)
    socket.on('unexpected-response', (_request, response) => reject(new Error(String(response.statusCode))))
  })
}

/** Resolves with the last event of the next turn, and how many characters came. */
function ending(socket) {
  return new Promise((resolve) => {
    let characters = 0
    const read = (data, isBinary) => {
      characters += data.length
      const event = JSON.parse(data.toString())
      if (isBinary) resolve({ event: { type: 'binary' }, characters })
      if (!ends.has(event.type)) return
      socket.off('message', read)
      resolve({ event, characters })
    }
    socket.on('message', read)
  })
}

const shown = ({ event }) => ({
  type: event.type,
  status: event.status ?? null,
  code: event.error?.code ?? null,
})

const actions = {
  /** Many connections at once, whose clients do not read for a while; a line on standard input lets them go on, and begins the next round. */
  async slow() {
    const sockets = await Promise.all(Array.from({ length: options.connections }, () => connect()))
    for (let round = 1; round <= options.rounds; round += 1) {
      const done = sockets.map((socket) => {
        const end = ending(socket)
        socket.send(turn())
        // Reads the first event, and then nothing.
        socket.once('message', () => socket._socket.pause())
        return end
      })
      await new Promise((resolve) => setTimeout(resolve, options.stallMs))
      tell({ round, stalled: true })
      await new Promise((resolve) => process.stdin.once('data', resolve))
      for (const socket of sockets) socket._socket.resume()
      const all = await Promise.all(done)
      tell({
        round,
        completed: all.filter(({ event }) => event.type === 'response.completed').length,
        others: [
          ...new Set(
            all
              .filter(({ event }) => event.type !== 'response.completed')
              .map(({ event }) => JSON.stringify(event).slice(0, 300)),
          ),
        ].slice(0, 3),
        characters: all[0].characters,
      })
      await new Promise((resolve) => process.stdin.once('data', resolve))
    }
    for (const socket of sockets) socket.close()
    process.stdin.pause()
  },
  /** What ends a connection, and with which code. */
  async codes() {
    const code = async (name, break_) => {
      const socket = await connect()
      socket.on('error', () => undefined)
      break_(socket)
      tell({ name, code: await socket.closed })
    }
    await code('the client leaves', (socket) => socket.close(1000))
    await code('bytes', (socket) => socket.send(Buffer.from([1, 2])))
    await code('no UTF-8', (socket) => socket.send(Buffer.from([0x22, 0xff, 0xfe, 0x22]), { binary: false }))
    await code('too large', (socket) => socket.send(`"${'x'.repeat(64_000_001)}"`))
    // A frame without a mask, which no client may send.
    await code('no mask', (socket) => socket._socket.write(Buffer.from([0x81, 0x02, 0x22, 0x22])))
  },
  /** Frames as other clients cut and mix them. */
  async frames() {
    const socket = await connect()
    const ponged = new Promise((resolve) => socket.once('pong', (data) => resolve(data.toString())))
    socket.ping('are you there')
    tell({ name: 'ping', answer: await ponged })
    const message = turn({ input: 'é'.repeat(50_000) })
    const bytes = Buffer.from(message)
    const end = ending(socket)
    // Cut inside characters, with a ping between.
    for (let at = 0; at < bytes.length; at += 20_001) {
      socket.send(bytes.subarray(at, at + 20_001), { fin: at + 20_001 >= bytes.length, binary: false })
      socket.ping()
    }
    tell({ name: 'fragments', ...shown(await end) })
    const large = ending(socket)
    socket.send(turn({ input: 'x '.repeat(8_500_000) }))
    tell({ name: 'a message of 17 MB', ...shown(await large) })
    socket.close()
  },
  /** Turns until the key's limit is used up, then one more, then the key goes. */
  async limits() {
    const manage = (path, method, body) =>
      fetch(`${options.http}${path}`, {
        method,
        headers: { authorization: `Bearer ${options.managementKey}`, 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      }).then((response) => response.json())
    const made = await manage('/keys', 'POST', { name: 'sockets', limit: 0.0004 })
    const socket = await connect({ authorization: `Bearer ${made.key}` })
    let last
    let turns = 0
    do {
      const end = ending(socket)
      socket.send(turn())
      last = await end
      turns += 1
    } while (last.event.type === 'response.completed' && turns < 1_000)
    tell({ name: 'used up', turns, ...shown(last), isOpen: socket.readyState === WebSocket.OPEN })
    await manage(`/keys/${made.data.hash}`, 'DELETE')
    do {
      const end = ending(socket)
      socket.send(turn())
      last = await end
      turns += 1
    } while (last.event.status !== 401 && turns < 2_000)
    tell({ name: 'revoked', ...shown(last), code: await socket.closed })
  },
  /** One turn that runs when the process is told to stop. */
  async stop() {
    const [busy, resting] = [await connect(), await connect()]
    const end = ending(busy)
    busy.once('message', () => tell({ name: 'running' }))
    busy.send(turn())
    tell({ name: 'resting', code: await resting.closed })
    const last = await end
    tell({ name: 'busy', ...shown(last), code: await busy.closed })
  },
  /** The same call so often, one after the other on several connections, over sockets or by HTTP. */
  async turns() {
    const one =
      options.way === 'socket'
        ? async () => {
            const socket = await connect()
            return async () => {
              const end = ending(socket)
              socket.send(turn())
              const { event } = await end
              if (event.type !== 'response.completed') throw new Error(JSON.stringify(event))
            }
          }
        : async () => async () => {
            const response = await fetch(options.http + '/responses', {
              method: 'POST',
              headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
              body: JSON.stringify({ model, input: 'Say it.', stream: true }),
            })
            if (!(await response.text()).includes('response.completed')) throw new Error('no answer')
          }
    const lanes = await Promise.all(Array.from({ length: options.lanes }, one))
    await Promise.all(
      lanes.map(async (run) => {
        for (let count = 0; count < options.turns / options.lanes; count += 1) await run()
      }),
    )
    tell({ done: true })
  },
}

await actions[action]()
process.exit(0)
