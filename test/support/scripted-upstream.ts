/** One request that an upstream received. */
export interface UpstreamSeen {
  method: string
  path: string
  headers: Headers
  body: string
  /** Aborted when the client has left. */
  signal: AbortSignal
}

/** An upstream on loopback with answers written by a test, for answers that the simulator never gives. */
export interface ScriptedUpstream {
  readonly url: string
  readonly seen: UpstreamSeen[]
  /** Sets the answer to all later requests. */
  answer(respond: (seen: UpstreamSeen) => Response | Promise<Response>): void
  stop(): Promise<void>
}

/** Starts it; by default it answers 500. */
export function startScriptedUpstream(): ScriptedUpstream {
  const seen: UpstreamSeen[] = []
  let respond: (request: UpstreamSeen) => Response | Promise<Response> = () =>
    new Response(null, { status: 500 })
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      // Latin-1 preserves every byte of an upload.
      const body = Buffer.from(await request.arrayBuffer()).toString('latin1')
      const one = {
        method: request.method,
        path: pathname,
        headers: request.headers,
        body,
        signal: request.signal,
      }
      seen.push(one)
      return respond(one)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    seen,
    answer: (next) => void (respond = next),
    stop: () => server.stop(true),
  }
}
