import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { GatewayError } from '../core/errors.ts'
import { publicHeadMs, publicRedirectsMax } from '../core/limits/calls.ts'
import { isOutOfDescriptors, noDescriptors } from './descriptors.ts'
import { isPublicAddress } from './public-address.ts'

/** What may be fetched besides public addresses, and how names are resolved. */
export interface PublicFetchOptions {
  /** Hosts that the operator configured and that may be private, such as `minio.internal:9000`. */
  allowedHosts?: readonly string[]
  /** All addresses of a name; the system's resolver by default. */
  resolve?: (hostname: string) => Promise<readonly string[]>
}

/**
 * A file at a public address, being read. Whoever gets it reads it to its end or destroys it; reading throws
 * `invalid_request` when it breaks off.
 */
export interface FetchedFile {
  contentType: string | null
  /** The last part of the final address's path. */
  name: string
  /** As its server says; null where it does not. More than that never comes. */
  sizeBytes: number | null
  body: AsyncIterable<Uint8Array> & { destroy(): void }
}

/** What is fetched, and how long it may take. */
export interface FetchWish {
  /** In the words of an error's remedy. */
  what: 'audio' | 'image' | 'file'
  /** The media types that are asked for, as a header `accept`. */
  accept: string
  /** For the whole of it, redirects and body included. */
  timeoutMs: number
  /** Whoever asked has left: nothing more is read, and what waits fails. */
  signal?: AbortSignal
}

/** Fetches what a caller named by URL. Throws `invalid_request` naming `param` for whatever is wrong with the address. */
export interface PublicFetch {
  (url: string, param: string, wish: FetchWish): Promise<FetchedFile>
  /**
   * The same checks for an address that goes on to a provider, which fetches it: nobody is to reach through a provider of
   * the operator's own network what he may not reach through the gateway.
   */
  check(url: string, param: string, options?: CheckOptions): Promise<CheckedAddress>
}

/** How an address is checked that goes on to a provider. */
export interface CheckOptions {
  /** In the words of an error's remedy; audio by default. */
  what?: FetchWish['what']
  /** What was found of hosts already, which are then not resolved again. */
  hosts?: Map<string, Promise<unknown>>
}

/** What is known of an address that may be fetched. */
export interface CheckedAddress {
  /** The same address as every program reads it. */
  url: string
  /** The operator allowed its host, which may be private. */
  isConfigured: boolean
}

/**
 * A fetch that reaches the public internet only. Every hop is checked: the scheme, the name, and each address it
 * resolves to; the connection then goes to the address that was checked, so that a name that resolves differently a
 * moment later gains nothing.
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

/** What an error says of an address. */
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
  // One program reads another host than the next where such characters stand; of a redirect only this one reads.
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
      // The name was resolved and checked; this answers the socket's own question with the same address.
      lookup: (_hostname, lookupOptions, callback) => {
        if (lookupOptions.all) callback(null, [{ address, family }])
        else callback(null, address, family)
      },
    },
    resolve,
  )
  outgoing.once('error', reject)
  outgoing.end()
  // Whatever comes before the head, in however small pieces, must come to an end.
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

/** A server that breaks off, or is slower than the deadline, is the address's fault and none of ours. */
async function* readToEnd(
  response: IncomingMessage,
  { param, what, signal }: Asked & { signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  // The runtime ends the request by the signal, and may take what came of its answer for all of it.
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

function resolveAll(hostname: string): Promise<readonly string[]> {
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
