import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { GatewayError } from '../core/errors.ts'
import { isOutOfDescriptors, noDescriptors } from './descriptors.ts'
import { isPublicAddress } from './public-address.ts'

/** Longest wait for the head of one answer on the way to a public address; servers that drip it are not waited for. */
const publicHeadMs = 20_000
/** Redirects followed when fetching from a public address. */
const publicRedirectsMax = 5
/** Interim answers (1xx) before the one that counts; a server that sends them without end fills the memory. */
const publicInterimMax = 8

/** What may be fetched besides public addresses, and how names are resolved. */
export interface PublicFetchOptions {
  /** Hosts that the operator configured and that may be private, such as `minio.internal:9000`. */
  allowedHosts?: readonly string[]
  /** All addresses of a name; the system's resolver by default. */
  resolve?: (hostname: string) => Promise<readonly string[]>
}

/**
 * A file at a public address, to be read. The caller reads it to its end or destroys it; reading throws
 * `invalid_request` when the file breaks off.
 */
export interface FetchedFile {
  contentType: string | null
  /** The last part of the final address's path. */
  name: string
  /** The size that its server states; null when it states none. The file never has more bytes than that. */
  sizeBytes: number | null
  body: AsyncIterable<Uint8Array> & { destroy(): void }
}

/** What to fetch, and the time limit. */
export interface FetchWish {
  /** The kind of file, for the message of an error. */
  what: 'audio' | 'image' | 'file'
  /** The requested media types, as the value of an `accept` header. */
  accept: string
  /** For the whole fetch, including redirects and the body. */
  timeoutMs: number
  /** Aborted when the caller has left: reading stops, and pending reads fail. */
  signal?: AbortSignal
}

/** Fetches a URL that a caller sent. Throws `invalid_request`, naming `param`, for every problem with the address. */
export interface PublicFetch {
  (url: string, param: string, wish: FetchWish): Promise<FetchedFile>
  /**
   * Makes the same checks for an address that a provider will fetch: a caller must not reach, through a provider in the
   * operator's own network, an address that the gateway itself would refuse.
   */
  check(url: string, param: string, options?: CheckOptions): Promise<CheckedAddress>
}

/** How to check an address that a provider will fetch. */
export interface CheckOptions {
  /** The kind of file, for the message of an error; audio by default. */
  what?: FetchWish['what']
  /** Results for hosts that were checked already, which are not resolved again. */
  hosts?: Map<string, Promise<unknown>>
}

/** An address that passed the checks. */
export interface CheckedAddress {
  /** The address in its normal form, which every program reads in the same way. */
  url: string
  /** The host is one of `allowedHosts`, and may be private. */
  isConfigured: boolean
}

/**
 * A fetch that reaches only the public internet: the guard against server-side request forgery (SSRF), in which a caller
 * has the gateway ask an address of the operator's own network. On every hop it checks the scheme, the name, and each address that the
 * name resolves to. Then it connects to the address that was checked, so a name that resolves differently a moment later
 * gains nothing.
 */
export function createPublicFetch(options: PublicFetchOptions = {}): PublicFetch {
  const resolve = options.resolve ?? resolveAll
  const allowed = new Set((options.allowedHosts ?? []).map((host) => host.toLowerCase()))
  const fetch = async (url: string, param: string, wish: FetchWish): Promise<FetchedFile> => {
    const asked = { param, what: wish.what }
    let target = parseTarget(url, asked)
    const deadline = AbortSignal.timeout(wish.timeoutMs)
    const signal = wish.signal ? AbortSignal.any([deadline, wish.signal]) : deadline
    for (let hop = 0; hop <= publicRedirectsMax; hop += 1) {
      const address = await addressOf(target, { resolve, allowed, asked })
      const response = await open(target, address, { accept: wish.accept, signal }).catch(
        (cause: unknown) => {
          throw unreachable(asked, cause)
        },
      )
      const { statusCode = 0, headers } = response
      if (statusCode === 200) return toFile(response, target, { ...asked, signal })
      response.destroy()
      if (statusCode < 300 || statusCode >= 400 || !headers.location) {
        throw refused(asked, `the address answered with status ${statusCode}`)
      }
      target = parseTarget(headers.location, asked, target)
    }
    throw refused(asked, `the address redirects more than ${publicRedirectsMax} times`)
  }
  const check = async (
    url: string,
    param: string,
    { what = 'audio', hosts = new Map<string, Promise<unknown>>() }: CheckOptions = {},
  ): Promise<CheckedAddress> => {
    const asked: Asked = { param, what }
    const target = parseTarget(url, asked)
    const found = hosts.get(target.host) ?? addressOf(target, { resolve, allowed, asked })
    hosts.set(target.host, found)
    await found
    return { url: target.href, isConfigured: isAllowed(target, allowed) }
  }
  return Object.assign(fetch, { check })
}

/** What an error message needs to know about an address. */
interface Asked {
  param: string
  what: FetchWish['what']
}

interface Guard {
  resolve: (hostname: string) => Promise<readonly string[]>
  allowed: ReadonlySet<string>
  asked: Asked
}

function parseTarget(url: string, asked: Asked, base?: URL): URL {
  // With such characters two programs may read two different hosts. A redirect is read only by this program, so it is allowed there.
  if (base === undefined && strangeCharacters.test(url))
    throw refused(asked, 'the address has a blank, a backslash or a control character; encode it')
  const target = URL.parse(url, base?.href)
  if (!target || (target.protocol !== 'http:' && target.protocol !== 'https:')) {
    throw refused(asked, 'the address must begin with http:// or https://')
  }
  if (target.username !== '' || target.password !== '')
    throw refused(asked, 'the address must not carry credentials')
  return target
}

// oxlint-disable-next-line no-control-regex -- what no address has
const strangeCharacters = /[\s\\\u0000-\u001f\u007f]/

async function addressOf(target: URL, { resolve, allowed, asked }: Guard): Promise<string> {
  const hostname = target.hostname.replace(/^\[|\]$/g, '')
  const addresses = isIP(hostname) ? [hostname] : await resolve(hostname).catch(() => [])
  const [first] = addresses
  if (first === undefined) throw refused(asked, 'the host name cannot be resolved')
  if (!isAllowed(target, allowed) && !addresses.every(isPublicAddress))
    throw refused(asked, 'the address is not public')
  return first
}

function isAllowed({ host, hostname }: URL, allowed: ReadonlySet<string>): boolean {
  return allowed.has(host) || allowed.has(hostname)
}

function open(
  target: URL,
  address: string,
  { accept, signal }: Pick<FetchWish, 'accept'> & { signal: AbortSignal },
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const family = isIP(address)
  const request = target.protocol === 'https:' ? httpsRequest : httpRequest
  const outgoing = request(
    target,
    {
      method: 'GET',
      signal,
      agent: false,
      headers: { accept, 'accept-encoding': 'identity', 'user-agent': 'headrace', connection: 'close' },
      // The name was resolved and checked before; the socket gets the checked address.
      lookup: (_hostname, lookupOptions, callback) => {
        if (lookupOptions.all) callback(null, [{ address, family }])
        else callback(null, address, family)
      },
    },
    resolve,
  )
  outgoing.once('error', reject)
  let interim = 0
  outgoing.on('information', () => {
    interim += 1
    if (interim > publicInterimMax) outgoing.destroy(new Error('many interim heads'))
  })
  outgoing.end()
  // Bounds the wait for the response's head, in however small pieces the server sends.
  const timer = setTimeout(() => {
    outgoing.destroy()
    reject(new Error('no head in time'))
  }, publicHeadMs)
  return promise.finally(() => clearTimeout(timer))
}

function toFile(response: IncomingMessage, target: URL, asked: Asked & { signal: AbortSignal }): FetchedFile {
  return {
    contentType: response.headers['content-type'] ?? null,
    name: decodeName(target.pathname.split('/').at(-1) ?? ''),
    sizeBytes: sizeOf(response.headers['content-length']),
    body: {
      [Symbol.asyncIterator]: () => readToEnd(response, asked),
      destroy: () => void response.destroy(),
    },
  }
}

function sizeOf(stated: string | undefined): number | null {
  return stated !== undefined && /^\d{1,15}$/.test(stated) ? Number(stated) : null
}

/** A server that breaks off or exceeds the deadline is a problem of the address, and the caller gets `invalid_request`. */
async function* readToEnd(
  response: IncomingMessage,
  { param, what, signal }: Asked & { signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  // When the signal ends the request, the runtime may report a partial answer as complete; destroying the response prevents that.
  const stop = () => void response.destroy()
  signal.addEventListener('abort', stop, { once: true })
  try {
    yield* response as AsyncIterable<Uint8Array>
    signal.throwIfAborted()
  } catch (cause) {
    throw new GatewayError(
      'invalid_request',
      `${param}: the address broke off or took too long; send the ${what} itself, or try again.`,
      { param, cause },
    )
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** All addresses of a name, by the system's resolver. */
export function resolveAll(hostname: string): Promise<readonly string[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>()
  systemLookup(hostname, { all: true }, (error: Error | null, found: LookupAddress[]) => {
    if (error) reject(error)
    else resolve(found.map(({ address }) => address))
  })
  return promise
}

function refused({ param, what }: Asked, problem: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `${param}: ${problem}; send the ${what} itself or a public address.`,
    { param },
  )
}

function unreachable({ param }: Asked, cause: unknown): GatewayError {
  if (isOutOfDescriptors(cause)) return noDescriptors(cause)
  return new GatewayError(
    'invalid_request',
    `${param}: the address cannot be reached; check that it is public and answers.`,
    { param, cause },
  )
}
