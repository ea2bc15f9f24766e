/** One exchange between a program and the gateway, as it passed the observer. */
export interface Observed {
  method: string
  path: string
  headers: Headers
  body: string
  status: number
  /** The whole answer, also of a stream. */
  answer: string
}

/** Stands between a program and the gateway, passes everything on as it comes, and keeps what passed. */
export interface Observer {
  readonly url: string
  readonly seen: Observed[]
  stop(): Promise<void>
}

/** Starts it on loopback in front of the gateway at `root`. */
export function startObserver(root: string): Observer {
  const seen: Observed[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const body = await request.text()
      const { method, headers } = request
      const passed = new Headers(headers)
      passed.delete('host')
      passed.set('accept-encoding', 'identity')
      const init = method === 'GET' || method === 'HEAD' ? {} : { body }
      const response = await fetch(`${root}${pathname}${search}`, { method, headers: passed, ...init })
      const observed = { method, path: pathname, headers, body, status: response.status, answer: '' }
      seen.push(observed)
      const { status } = response
      const kept = response.body === null ? null : keepingText(response.body, observed)
      return new Response(kept, { status, headers: response.headers })
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, seen, stop: () => server.stop(true) }
}

/** The same bytes as they come; what they say is added to the answer. */
function keepingText(body: ReadableStream<Uint8Array>, observed: Observed): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) return controller.close()
      observed.answer += decoder.decode(value, { stream: true })
      controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
