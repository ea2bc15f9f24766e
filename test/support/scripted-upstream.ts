/** One request an upstream was sent. */
export interface UpstreamSeen {
  method: string
  path: string
  headers: Headers
  body: string
  /** Aborted when whoever asked has left. */
  signal: AbortSignal
}

/** An upstream on loopback that answers what a test says, for answers the simulator never gives. */
export interface ScriptedUpstream {
  readonly url: string
  readonly seen: UpstreamSeen[]
  /** From now on answers so; one function for all requests. */
  answer(respond: (seen: UpstreamSeen) => Response | Promise<Response>): void
  stop(): Promise<void>
}

/** Starts it; until told otherwise it answers 500. */
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
      // Latin-1 keeps every byte of an upload apart.
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
