import { crc32 } from 'node:zlib'

/** How the servers of logins answer: with a page, with 500, or not at all. */
export type LoginFault = 'html' | '500' | 'silent'

/** Servers of logins of every cloud on one port, and providers that look at the login of each call. */
export interface FakeCloud {
  readonly url: string
  /** Its host with the port. */
  readonly host: string
  /** Logins that were given out. */
  readonly exchanges: number
  /** Calls that came to the providers, and those whose login had ended or was not given out here. */
  readonly asked: number
  readonly expired: number
  readonly refused: number
  fail(fault: LoginFault | null): void
  /** Logins are given out after so many milliseconds. */
  delay(ms: number): void
  /** Seconds for which a login is valid. */
  life(seconds: number): void
  /** By so much the clock of its servers differs from this machine's. */
  clock(offsetMs: number): void
  /** Providers refuse calls with this status and all headers of the call in their message; null ends that. */
  refuse(status: number | null): void
  /** Streams last so long. */
  streamFor(ms: number): void
  stop(): Promise<void>
}

/** Starts it, with logins of an hour. */
export function startFakeCloud(): FakeCloud {
  let [exchanges, asked, expired, refused] = [0, 0, 0, 0]
  let fault: LoginFault | null = null
  let refusal: number | null = null
  let [delayMs, lifeSeconds, offsetMs, streamMs] = [0, 3_600, 0, 0]
  /** By what a call says of its login, when that ends by this machine's monotonic clock. */
  const ends = new Map<string, number>()

  const given = (): string => {
    exchanges += 1
    const name = `${exchanges}`.padStart(4, '0')
    ends.set(name, performance.now() + lifeSeconds * 1000)
    return name
  }
  const dated = (response: Response): Response => {
    response.headers.set('date', new Date(Date.now() + offsetMs).toUTCString())
    return response
  }
  const moment = () => new Date(Date.now() + offsetMs + lifeSeconds * 1000).toISOString()
  const keys = (): Response => {
    const name = given()
    return Response.json({
      AccessKeyId: `ASIA${name}`,
      SecretAccessKey: `secret-of-${name}`,
      Token: `session-of-${name}`,
      Expiration: moment(),
    })
  }
  const keysXml = (): Response => {
    const name = given()
    const inner = `<AccessKeyId>ASIA${name}</AccessKeyId><SecretAccessKey>secret-of-${name}</SecretAccessKey><SessionToken>session-of-${name}</SessionToken><Expiration>${moment()}</Expiration>`
    return new Response(`<R><Credentials>${inner}</Credentials></R>`)
  }
  const token = (): Response =>
    Response.json({ access_token: `token-of-${given()}`, expires_in: lifeSeconds, token_type: 'Bearer' })

  const logins: Readonly<Record<string, () => Response>> = {
    'PUT /latest/api/token': () => new Response('metadata-token'),
    'GET /latest/meta-data/iam/security-credentials/': () => new Response('gateway-role'),
    'GET /latest/meta-data/iam/security-credentials/gateway-role': keys,
    'GET /v1/credentials': keys,
    'POST /': keysXml,
    'GET /computeMetadata/v1/instance/service-accounts/default/token': token,
    'POST /token': token,
    'GET /metadata/identity/oauth2/token': token,
    'POST /t1/oauth2/v2.0/token': token,
    'POST /oidc/v1/token': token,
  }

  const answerLogin = async (login: () => Response): Promise<Response> => {
    if (fault === 'silent') await Bun.sleep(60_000)
    if (fault === 'html')
      return new Response('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } })
    if (fault === '500') return new Response('down', { status: 500 })
    if (delayMs > 0) await Bun.sleep(delayMs)
    return dated(login())
  }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const login = logins[`${request.method} ${pathname}`]
      if (login !== undefined) return answerLogin(login)
      await request.arrayBuffer()
      if (pathname.startsWith('/own/')) return Response.json(chatAnswer)
      asked += 1
      if (refusal !== null) {
        const message = `not with these: ${JSON.stringify(request.headers)}`
        return Response.json({ message, error: { message } }, { status: refusal })
      }
      const authorization = request.headers.get('authorization') ?? ''
      const name = /ASIA(\d{4})|token-of-(\d{4})/.exec(authorization)
      const endMs = ends.get(name?.[1] ?? name?.[2] ?? '')
      if (endMs === undefined) refused += 1
      else if (performance.now() >= endMs) expired += 1
      else return answerOf(pathname, streamMs)
      return Response.json(
        { message: 'The security token included in the request is invalid.' },
        { status: 403 },
      )
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    host: `127.0.0.1:${server.port}`,
    get exchanges() {
      return exchanges
    },
    get asked() {
      return asked
    },
    get expired() {
      return expired
    },
    get refused() {
      return refused
    },
    fail: (next) => void (fault = next),
    delay: (ms) => void (delayMs = ms),
    life: (seconds) => void (lifeSeconds = seconds),
    clock: (offset) => void (offsetMs = offset),
    refuse: (status) => void (refusal = status),
    streamFor: (ms) => void (streamMs = ms),
    stop: () => server.stop(true),
  }
}

const chatAnswer = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
}
const usage = { inputTokens: 3, outputTokens: 1, totalTokens: 4 }

/** The answer in the format of the path. */
function answerOf(path: string, streamMs: number): Response {
  if (path.endsWith('/converse-stream')) return converseStream(streamMs)
  if (path.endsWith('/converse'))
    return Response.json({
      output: { message: { role: 'assistant', content: [{ text: 'yes' }] } },
      stopReason: 'end_turn',
      usage,
      metrics: { latencyMs: 1 },
    })
  if (path.includes(':generateContent'))
    return Response.json({
      candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'yes' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
    })
  return Response.json(chatAnswer)
}

/** A word a second. */
function converseStream(lastsMs: number): Response {
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(frameOf('messageStart', { role: 'assistant' }))
      for (let passedMs = 0; passedMs < lastsMs; passedMs += 1_000) {
        controller.enqueue(frameOf('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'yes ' } }))
        await Bun.sleep(1_000)
      }
      controller.enqueue(frameOf('contentBlockStop', { contentBlockIndex: 0 }))
      controller.enqueue(frameOf('messageStop', { stopReason: 'end_turn' }))
      controller.enqueue(frameOf('metadata', { usage, metrics: { latencyMs: 1 } }))
      controller.close()
    },
  })
  return new Response(body, { headers: { 'content-type': 'application/vnd.amazon.eventstream' } })
}

/** A frame by hand: lengths, checksums, headers of text. */
function frameOf(type: string, payload: object): Uint8Array {
  const names = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }
  const head = Buffer.concat(
    Object.entries(names).map(([name, value]) => {
      const lead = Buffer.from([name.length, ...Buffer.from(name), 7, 0, value.length])
      return Buffer.concat([lead, Buffer.from(value)])
    }),
  )
  const body = Buffer.from(JSON.stringify(payload))
  const frame = Buffer.alloc(16 + head.length + body.length)
  frame.writeUInt32BE(frame.length, 0)
  frame.writeUInt32BE(head.length, 4)
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
  head.copy(frame, 12)
  body.copy(frame, 12 + head.length)
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4)
  return frame
}
