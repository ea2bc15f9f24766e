import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'

/** The floor of an upload: reads the socket and writes the bytes with fsync, knowing nothing of what they mean. */

const [, , port, file = ''] = Bun.argv

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(port),
  maxRequestBodySize: 300_000_000,
  async fetch(request) {
    if (request.body === null) return new Response('ready')
    const descriptor = openSync(file, 'w')
    for await (const bytes of request.body) writeSync(descriptor, bytes)
    fsyncSync(descriptor)
    closeSync(descriptor)
    return Response.json({ ok: true }, { status: 202 })
  },
})
