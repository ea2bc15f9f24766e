import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { GatewayError } from '../core/errors.ts'
import { publicFetchMs, publicRedirectsMax } from '../core/limits/calls.ts'
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
  body: AsyncIterable<Uint8Array> & { destroy(): void }
}

/** Fetches what a caller named by URL. Throws `invalid_request` naming `param` for whatever is wrong with the address. */
export type PublicFetch = (url: string, param: string) => Promise<FetchedFile>

/**
 * A fetch that reaches the public internet only. Every hop is checked: the scheme, the name, and each address it
 * resolves to; the connection then goes to the address that was checked, so that a name that resolves differently a
 * moment later gains nothing.
 */
export function createPublicFetch(options: PublicFetchOptions = {}): PublicFetch {
  const resolve = options.resolve ?? resolveAll
  const allowed = new Set(options.allowedHosts ?? [])
  return async (url, param) => {
    let target = parseTarget(url, param)
    const deadline = AbortSignal.timeout(publicFetchMs)
    for (let hop = 0; hop <= publicRedirectsMax; hop += 1) {
      const address = await addressOf(target, { resolve, allowed, param })
      const response = await open(target, address, deadline).catch((cause: unknown) => {
        throw unreachable(param, cause)
      })
      const { statusCode = 0, headers } = response
      if (statusCode === 200) return toFile(response, target, param)
      response.destroy()
      if (statusCode < 300 || statusCode >= 400 || !headers.location) {
        throw refused(param, `the address answered with status ${statusCode}`)
      }
      target = parseTarget(headers.location, param, target)
    }
    throw refused(param, `the address redirects more than ${publicRedirectsMax} times`)
  }
}

interface Guard {
  resolve: (hostname: string) => Promise<readonly string[]>
  allowed: ReadonlySet<string>
  param: string
}

function parseTarget(url: string, param: string, base?: URL): URL {
  const target = URL.parse(url, base?.href)
  if (!target || (target.protocol !== 'http:' && target.protocol !== 'https:')) {
    throw refused(param, 'the address must begin with http:// or https://')
  }
  if (target.username !== '' || target.password !== '')
    throw refused(param, 'the address must not carry credentials')
  return target
}

async function addressOf(target: URL, { resolve, allowed, param }: Guard): Promise<string> {
  const hostname = target.hostname.replace(/^\[|\]$/g, '')
  const isAllowed = allowed.has(target.host) || allowed.has(target.hostname)
  const addresses = isIP(hostname) ? [hostname] : await resolve(hostname).catch(() => [])
  const [first] = addresses
  if (first === undefined) throw refused(param, 'the host name cannot be resolved')
  if (!isAllowed && !addresses.every(isPublicAddress)) throw refused(param, 'the address is not public')
  return first
}

function open(target: URL, address: string, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const family = isIP(address)
  const request = target.protocol === 'https:' ? httpsRequest : httpRequest
  const outgoing = request(
    target,
    {
      method: 'GET',
      signal,
      agent: false,
      headers: { accept: 'audio/*, */*;q=0.5', 'user-agent': 'headrace', connection: 'close' },
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
  return promise
}

function toFile(response: IncomingMessage, target: URL, param: string): FetchedFile {
  return {
    contentType: response.headers['content-type'] ?? null,
    name: decodeName(target.pathname.split('/').at(-1) ?? ''),
    body: {
      [Symbol.asyncIterator]: () => readToEnd(response, param),
      destroy: () => void response.destroy(),
    },
  }
}

/** A server that breaks off, or is slower than the deadline, is the address's fault and none of ours. */
async function* readToEnd(response: IncomingMessage, param: string): AsyncGenerator<Uint8Array> {
  try {
    yield* response as AsyncIterable<Uint8Array>
  } catch (cause) {
    throw new GatewayError(
      'invalid_request',
      `${param}: the address broke off or took too long; send the audio itself, or try again.`,
      { param, cause },
    )
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

function refused(param: string, problem: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `${param}: ${problem}; send the audio itself or a public address.`,
    { param },
  )
}

function unreachable(param: string, cause: unknown): GatewayError {
  return new GatewayError(
    'invalid_request',
    `${param}: the address cannot be reached; check that it is public and answers.`,
    { param, cause },
  )
}
