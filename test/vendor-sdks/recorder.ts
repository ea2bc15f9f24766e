import { decode } from '@msgpack/msgpack'

/** A request as a vendor would have got it, as one value for each name: `body.voice.id`, `query.model`, `header.x-api-key`. */
export interface Recorded {
  method: string
  /** Below the vendor's host; what names a job or a file there is `:id`. */
  path: string
  facts: ReadonlyMap<string, string>
}

/** A vendor as one intention of one side sees it. */
export interface Route {
  /** The path of the vendor's address, and the address that plays the vendor; null for a plain 400. */
  base: string
  simulated: string | null
}

/** A server that stands where a vendor stands: it keeps what it is sent and has the simulator answer. */
export interface Recorder {
  url: string
  /** What came, oldest first. */
  readonly requests: readonly Recorded[]
  stop(): Promise<void>
}

/** Some SDKs drop the path of an address they are given, so that every intention has a port of its own. */
export function startRecorder(route: Route): Recorder {
  const requests: Recorded[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    async fetch(request) {
      const { pathname: path, search, searchParams } = new URL(request.url)
      const body = new Uint8Array(await request.arrayBuffer())
      requests.push(await read({ request, path, query: searchParams, body }))
      if (route.simulated === null) return Response.json(refusal, { status: 400 })
      return forwarded(request, `${route.simulated}${below(path, route.base)}${search}`, body)
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, requests, stop: () => server.stop(true) }
}

const refusal = { error: { message: 'recorded, not answered', type: 'invalid_request_error' } }

const below = (path: string, base: string): string => (path.startsWith(base) ? path.slice(base.length) : path)

async function forwarded(request: Request, url: string, body: Uint8Array): Promise<Response> {
  const headers = new Headers(request.headers)
  for (const name of ['host', 'connection', 'accept-encoding', 'content-length', 'transfer-encoding'])
    headers.delete(name)
  const { method } = request
  const answer = await fetch(url, {
    method,
    headers,
    ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
  })
  return new Response(answer.body, { status: answer.status, headers: answer.headers })
}

interface Incoming {
  request: Request
  path: string
  query: URLSearchParams
  body: Uint8Array<ArrayBuffer>
}

/** Of the connection or of the client itself; no vendor needs them. */
const ofTheClient =
  /^(?:host|connection|user-agent|accept-encoding|accept-language|content-length|transfer-encoding|x-stainless-.*|x-fern-.*|sec-fetch-mode|cookie|x-.*-client(?:-name|-version)?|x-.*-session-id|x-pplx-integration|x-source|x-title|x-gladia-version|x-ms-client-request-id|source_type|x-request-sdk|x-source-channel|zai-sdk-ver|idempotency-key|x-idempotency-key|traceparent|x-request-id)$/

/** What clients say that take anything, or what nearly every answer is. */
const generalAccept = /^(?:\*\/\*|application\/(?:json|octet-stream)|text\/event-stream)/

/** What a name in a path looks like that a vendor made up. */
const madeUp = /^(?=.*(?:\d|[a-z][A-Z]|[A-Z][a-z]))[\w-]{8,}$/

async function read({ request, path, query, body }: Incoming): Promise<Recorded> {
  const facts = new Map<string, string>()
  const add = (name: string, value: string) => {
    const before = facts.get(name)
    facts.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  for (const [name, value] of query) add(`query.${name}`, value)
  for (const [name, value] of request.headers) {
    if (ofTheClient.test(name) || (name === 'content-type' && body.length === 0)) continue
    if (name === 'content-type') add('header.content-type', value.split(';')[0]?.trim() ?? '')
    else if (name !== 'accept' || !generalAccept.test(value)) add(`header.${name}`, value)
  }
  await readBody(body, request.headers.get('content-type') ?? '', add)
  if (path.endsWith('/')) add('path', 'ends with a slash')
  const names = path
    .replace(/\/$/, '')
    .split('/')
    .map((name) => (madeUp.test(name) ? ':id' : decodeURIComponent(name)))
  return { method: request.method, path: names.join('/'), facts }
}

type Add = (name: string, value: string) => void

async function readBody(body: Uint8Array<ArrayBuffer>, type: string, add: Add): Promise<void> {
  if (body.length === 0) return
  if (type.startsWith('multipart/')) {
    const form = await new Response(body, { headers: { 'content-type': type } }).formData()
    for (const [name, value] of form) {
      if (typeof value === 'string') flattenText(`body.${name}`, value, add)
      else add(`body.${name}`, '<file>')
    }
  } else if (type.startsWith('application/x-www-form-urlencoded')) {
    for (const [name, value] of new URLSearchParams(new TextDecoder().decode(body)))
      add(`body.${name}`, value)
  } else if (type.includes('msgpack')) flatten('body', decode(body), add)
  else if (type.includes('json')) flatten('body', JSON.parse(new TextDecoder().decode(body)), add)
  else add('body', '<bytes>')
}

/** A field of a form, which may itself hold JSON. */
function flattenText(name: string, value: string, add: Add): void {
  if (!/^[{[]/.test(value)) return add(name, tidied(value))
  try {
    flatten(name, JSON.parse(value), add)
  } catch {
    add(name, value)
  }
}

/** Names that a vendor or the gateway makes up for each call. */
const madeUpName = /\b(?:gen-(?:stt|tts)-[\w-]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/g
const loopbackAddress = /https?:\/\/127\.0\.0\.1:\d+[^"\s]*/g
/** Sound in base64 and the like, which both sides have from the same file. */
const longText = 400

function flatten(name: string, value: unknown, add: Add): void {
  if (value instanceof Uint8Array) return add(name, '<bytes>')
  if (Array.isArray(value)) {
    if (value.length === 0) add(`${name}[]`, '')
    for (const one of value) flatten(`${name}[]`, one, add)
  } else if (typeof value === 'object' && value !== null) {
    for (const [member, inner] of Object.entries(value)) flatten(`${name}.${member}`, inner, add)
    if (Object.keys(value).length === 0) add(name, '{}')
  } else add(name, typeof value === 'string' ? tidied(value) : String(value))
}

function tidied(text: string): string {
  if (text.length > longText) return '<long>'
  return text.replaceAll(loopbackAddress, '<address>').replaceAll(madeUpName, '<made up>')
}
