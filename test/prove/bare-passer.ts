/**
 * What the runtime costs alone: passes the body that an upstream answers with to whoever asks, as it is read, and nothing
 * else. Arguments are its own port, the upstream's address, and the body that the upstream is asked with.
 */
const [port = '0', upstream = '', body = ''] = Bun.argv.slice(2)

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(port),
  idleTimeout: 0,
  async fetch(request) {
    if (request.method === 'GET') return new Response('ready')
    const answer = await fetch(upstream, { method: 'POST', body })
    const reader = answer.body?.getReader()
    const passed = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const read = await reader?.read()
          if (read === undefined || read.done) controller.close()
          else controller.enqueue(read.value)
        },
        cancel: (reason) => reader?.cancel(reason),
      },
      { highWaterMark: 0 },
    )
    return new Response(passed, { headers: { 'content-type': 'audio/pcm' } })
  },
})
