import type { UpstreamRequest } from '../../src/canonical/upstream.ts'
import { joinPieces } from '../../src/core/body.ts'

/** A request as far as two clients that mean the same must agree on it. */
export interface SentRequest {
  method: string
  path: string
  /** Without its parameters; null where there is no body. */
  type: string | null
  /** Parsed JSON, the parts of a form, or text. */
  body: unknown
}

/** What a client sends when its calls are answered with these values, one after the other. */
export async function sentTo(
  replies: readonly { body: unknown; headers?: Record<string, string> }[],
  call: (origin: string) => PromiseLike<unknown>,
): Promise<SentRequest[]> {
  const seen: SentRequest[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const reply = replies[Math.min(seen.length, replies.length - 1)]
      seen.push(await readSent(request))
      const headers = Object.entries(reply?.headers ?? {}).map(
        ([name, value]) => [name, value.replace('ORIGIN', new URL(request.url).origin)] as [string, string],
      )
      return Response.json(reply?.body ?? {}, { headers: Object.fromEntries(headers) })
    },
  })
  try {
    await call(server.url.origin)
  } finally {
    await server.stop(true)
  }
  return seen
}

/** The same of a request that an adapter has made, below a base path. */
export function sentByAdapter(
  base: string,
  { method, path, headers, body }: UpstreamRequest,
): Promise<SentRequest> {
  let bytes: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | null = null
  if (body !== null) bytes = 'open' in body ? body.open() : joinPieces(body)
  return readSent(new Request(`http://adapter.test${base}${path}`, { method, headers, body: bytes }))
}

async function readSent(request: Request): Promise<SentRequest> {
  const { pathname, searchParams } = new URL(request.url)
  searchParams.sort()
  const search = searchParams.size === 0 ? '' : `?${searchParams.toString()}`
  const type = request.headers.get('content-type')?.split(';')[0] ?? null
  return { method: request.method, path: pathname + search, type, body: await readBody(request, type) }
}

async function readBody(request: Request, type: string | null): Promise<unknown> {
  if (type === 'multipart/form-data') {
    const parts: Record<string, unknown> = {}
    for (const [name, value] of await request.formData())
      parts[name] = typeof value === 'string' ? value : [value.name, await value.text()]
    return parts
  }
  const text = await request.text()
  if (type !== 'application/json') return text === '' ? null : text
  return text === '' ? null : JSON.parse(text)
}
