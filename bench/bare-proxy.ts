/**
 * What the runtime costs alone: a proxy that reads a body, sends it on and passes the answer back, without keys, prices,
 * a ledger or a log. No gateway on this runtime can cost less; arguments are the port and the two upstreams' ports.
 */

const [port = '0', staticPort = '0', pacedPort = '0'] = Bun.argv.slice(2)
const sent = { 'content-type': 'application/json', authorization: 'Bearer bench-upstream-key' }
/** Beyond, the server writes every header of an ordinary body in a system call of its own. */
const corkedBytes = 12_000
const gathered = { highWaterMark: 65_536 }

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(port),
  idleTimeout: 0,
  maxRequestBodySize: 300_000_000,
  async fetch(request) {
    const { pathname } = new URL(request.url)
    if (request.method === 'GET') return new Response('ready')
    const upstream = /^\/\d/.test(pathname) ? pacedPort : staticPort
    const answer = await fetch(`http://127.0.0.1:${upstream}${pathname}`, {
      method: 'POST',
      headers: sent,
      body: await request.bytes(),
    })
    const type = answer.headers.get('content-type') ?? 'application/json'
    const headers = { 'content-type': type }
    if (type.startsWith('text/event-stream')) return new Response(await passedOn(answer), { headers })
    const bytes = await answer.bytes()
    return new Response(bytes.length > corkedBytes ? writtenAtOnce(bytes) : bytes, { headers })
  },
})

function writtenAtOnce(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      type: 'direct',
      pull(writer) {
        void writer.write(bytes)
        void writer.end()
      },
    },
    gathered,
  )
}

/** Begins with what is there already, because a head that goes out alone is written header by header too. */
async function passedOn({ body }: Response): Promise<ReadableStream<Uint8Array> | null> {
  const reader = body?.getReader()
  if (!reader) return null
  let read = await reader.read()
  return new ReadableStream<Uint8Array>(
    {
      type: 'direct',
      async pull(writer) {
        while (!read.done) {
          void writer.write(read.value)
          void writer.flush()
          read = await reader.read()
        }
        void writer.end()
      },
    },
    gathered,
  )
}
