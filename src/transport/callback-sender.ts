import { type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { isPublicAddress } from './public-address.ts'
import { resolveAll } from './public-fetch.ts'

/** How long a receiver may take until the head of its answer. */
const callbackMsMax = 15_000

/** The outcome of a post. `status` null: the receiver gave none, or the address was refused. */
export interface Posted {
  status: number | null
  /** Why the receiver has not taken the message; null when it has. */
  problem: string | null
  /** How long the receiver asks to be left alone; absent when it does not say. */
  retryAfterMs?: number
  /** The beginning of the answer's body, where it is read. */
  text?: string
}

/** Which hosts may be private, and how names are resolved. */
export interface CallbackOptions {
  /** Hosts that the operator configured, with a port or without; they may be private, and reached without TLS. */
  allowedHosts?: readonly string[]
  /** All addresses of a name; the system's resolver by default. */
  resolve?: (hostname: string) => Promise<readonly string[]>
  timeoutMs?: number
  /** How much of an answer's body is read; by default nothing. */
  answerBytesMax?: number
  /** What an address is called in the problems; `callback_url` by default. */
  addressName?: string
}

/**
 * Posts to addresses that callers named. It is guarded like the fetching of media: the name is resolved, each of its
 * addresses must be public, and the connection goes to the address that was checked, so that a name which resolves
 * differently a moment later gains nothing. Redirects are not followed, and of the answer's body at most its beginning is read.
 */
export interface CallbackSender {
  /** Why the address may not be posted to, as a sentence after its name; null when it may. */
  check(url: string): Promise<string | null>
  /** Checks the address anew and posts. Never rejects. */
  post(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<Posted>
}

export function createCallbackSender(options: CallbackOptions = {}): CallbackSender {
  const resolve = options.resolve ?? resolveAll
  const timeoutMs = options.timeoutMs ?? callbackMsMax
  const allowed = new Set((options.allowedHosts ?? []).map((host) => host.toLowerCase()))

  async function find(url: string): Promise<{ target: URL; address: string } | { problem: string }> {
    const target = URL.parse(url)
    // With such characters two programs may read two different hosts.
    if (!target || strangeCharacters.test(url)) return { problem: 'is not an address' }
    const isAllowed = allowed.has(target.host) || allowed.has(target.hostname)
    if (target.protocol !== 'https:' && !(isAllowed && target.protocol === 'http:'))
      return { problem: 'must begin with https://' }
    if (target.username !== '' || target.password !== '') return { problem: 'must not carry credentials' }
    const hostname = target.hostname.replace(/^\[|\]$/g, '')
    const addresses = isIP(hostname) ? [hostname] : await resolve(hostname).catch(() => [])
    const [address] = addresses
    if (address === undefined) return { problem: 'has a host name that cannot be resolved' }
    if (!isAllowed && !addresses.every(isPublicAddress)) return { problem: 'is not a public address' }
    return { target, address }
  }

  return {
    async check(url) {
      const found = await find(url)
      return 'problem' in found ? found.problem : null
    },
    async post(url, body, headers) {
      const found = await find(url)
      if ('problem' in found)
        return { status: null, problem: `${options.addressName ?? 'callback_url'} ${found.problem}` }
      const { answerBytesMax = 0 } = options
      const { status, error, ...more } = await send(found, { body, headers, timeoutMs, answerBytesMax })
      if (status === null) return { status, problem: error }
      return { status, problem: status >= 200 && status < 300 ? null : problemOf(status), ...more }
    },
  }
}

// oxlint-disable-next-line no-control-regex -- what no address has
const strangeCharacters = /[\s\\\u0000-\u001f\u007f]/

function problemOf(status: number): string {
  if (status >= 300 && status < 400) return `the receiver answered ${status}; redirects are not followed`
  return `the receiver answered ${status}`
}

interface Answer extends Pick<Posted, 'status' | 'retryAfterMs' | 'text'> {
  error: string
}

function toAnswer({ statusCode, headers }: IncomingMessage): Answer {
  const seconds = Number(headers['retry-after'])
  return {
    status: statusCode ?? null,
    error: 'the receiver gave no status',
    ...(Number.isFinite(seconds) && seconds > 0 ? { retryAfterMs: seconds * 1_000 } : {}),
  }
}

/** Reads at most so many bytes, and what there is when the answer breaks off. The limit of time is the post's own. */
function readBeginning(response: IncomingMessage, bytesMax: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const pieces: Buffer[] = []
  let bytes = 0
  const end = (): void => {
    resolve(Buffer.concat(pieces).subarray(0, bytesMax).toString())
    response.destroy()
  }
  response.on('data', (piece: Buffer) => {
    pieces.push(piece)
    bytes += piece.length
    if (bytes >= bytesMax) end()
  })
  for (const event of ['end', 'error', 'close']) response.once(event, end)
  return promise
}

function send(
  { target, address }: { target: URL; address: string },
  {
    body,
    headers,
    timeoutMs,
    answerBytesMax,
  }: {
    body: string
    headers: Readonly<Record<string, string>>
    timeoutMs: number
    answerBytesMax: number
  },
): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const family = isIP(address)
  const bytes = Buffer.from(body)
  const outgoing = (target.protocol === 'https:' ? httpsRequest : httpRequest)(
    target,
    {
      method: 'POST',
      agent: false,
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': bytes.length,
        'user-agent': 'headrace',
        connection: 'close',
      },
      // The name was resolved and checked before; the socket gets the checked address.
      lookup: (_hostname, lookupOptions, callback) => {
        if (lookupOptions.all) callback(null, [{ address, family }])
        else callback(null, address, family)
      },
    },
    (response) => {
      const head = toAnswer(response)
      if (answerBytesMax > 0)
        return void readBeginning(response, answerBytesMax).then((text) => resolve({ ...head, text }))
      resolve(head)
      response.destroy()
    },
  )
  outgoing.once('error', () => resolve({ status: null, error: 'the receiver cannot be reached' }))
  outgoing.end(bytes)
  const timer = setTimeout(() => {
    resolve({ status: null, error: `the receiver did not answer within ${timeoutMs / 1000} s` })
    outgoing.destroy()
  }, timeoutMs)
  return promise.finally(() => clearTimeout(timer))
}
