/**
 * What the runtime costs alone: a proxy that reads a body, sends it on and passes the answer back, without keys, prices,
 * a ledger or a log. No gateway on this runtime can cost less; arguments are the port and the two upstreams' ports.
 */

const [port = '0', staticPort = '0', pacedPort = '0'] = Bun.argv.slice(2)
const headers = { 'content-type': 'application/json', authorization: 'Bearer bench-upstream-key' }

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
      headers,
      body: await request.bytes(),
    })
    const type = answer.headers.get('content-type') ?? 'application/json'
    const body = type.startsWith('text/event-stream') ? answer.body : await answer.bytes()
    return new Response(body, { headers: { 'content-type': type } })
  },
})
