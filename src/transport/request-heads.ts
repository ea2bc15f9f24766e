import type { Credential, UpstreamTarget } from '../canonical/credential.ts'
import type { UpstreamRequest } from '../canonical/upstream.ts'
import type { Origin } from './connection.ts'
import { flat } from '../core/remembered.ts'
import { addressOf } from './credentials.ts'
import { requestHeaders } from './request-headers.ts'

/** Request heads that are kept ready for one credential. */
const preparedHeadsMax = 16

/** A request's head without the length of its body. */
export interface PreparedHead {
  url: URL
  /** Where the request goes; null until it was sent for the first time. */
  origin: Origin | null
  /** Latin-1 text; ends with a line break. */
  text: string
}

/** A head, and what it was made of. */
interface Entry {
  request: Pick<UpstreamRequest, 'method' | 'path' | 'inPlaceOf' | 'rebase' | 'auth' | 'headers'>
  baseUrl: string
  head: PreparedHead
}

/**
 * The heads of recent requests, because most requests to a provider differ in their body alone. They are kept with their
 * credential and go when it goes, so that no request can get another credential's head.
 */
export class RequestHeads {
  readonly #entries = new WeakMap<Credential, Entry[]>()

  /** A head that no other request can have, because it is signed; null as for `of`. */
  static once(request: UpstreamRequest, target: UpstreamTarget): PreparedHead | null {
    return writeHead(request, target)
  }

  /** Null for a request that is not for a socket: its address has a user, or its head cannot be written. */
  of(request: UpstreamRequest, target: UpstreamTarget): PreparedHead | null {
    const { credential, baseUrl } = target
    let entries = this.#entries.get(credential)
    if (entries === undefined) {
      entries = []
      this.#entries.set(credential, entries)
    }
    for (const entry of entries)
      if (entry.baseUrl === baseUrl && isSameHead(entry.request, request)) return entry.head
    const head = writeHead(request, target)
    if (head === null) return null
    const { method, path, inPlaceOf, rebase, auth, headers } = request
    const kept = {
      method,
      path,
      headers: { ...headers },
      ...(inPlaceOf === undefined ? {} : { inPlaceOf }),
      ...(rebase === undefined ? {} : { rebase }),
      ...(auth === undefined ? {} : { auth }),
    }
    if (entries.length === preparedHeadsMax) entries.shift()
    entries.push({ request: kept, baseUrl, head })
    return head
  }
}

function isSameHead(left: Entry['request'], right: UpstreamRequest): boolean {
  return (
    left.path === right.path &&
    left.method === right.method &&
    left.inPlaceOf === right.inPlaceOf &&
    left.rebase === right.rebase &&
    left.auth === right.auth &&
    haveSameHeaders(left.headers, right.headers)
  )
}

/** In the same order too, which is a cheaper comparison and holds for requests of one adapter. */
function haveSameHeaders(left: UpstreamRequest['headers'], right: UpstreamRequest['headers']): boolean {
  let count = 0
  for (const name in right) {
    if (left[name] !== right[name]) return false
    count += 1
  }
  for (const _ in left) count -= 1
  return count === 0
}

/** Headers that are about the connection; they are written here alone. */
const connectionHeaders = new Set(['host', 'connection', 'keep-alive', 'content-length', 'transfer-encoding'])
const fieldPattern = /^[\t\x20-\x7e\x80-\xff]*$/

function writeHead(request: UpstreamRequest, target: UpstreamTarget): PreparedHead | null {
  const url = URL.parse(addressOf(request, target))
  if (url === null || url.username !== '' || url.password !== '') return null
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null
  let text = `${request.method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n`
  let headers: Headers
  try {
    headers = new Headers(requestHeaders(request, target))
  } catch {
    return null
  }
  if (!headers.has('accept')) text += 'accept: */*\r\n'
  for (const [name, value] of headers) {
    if (connectionHeaders.has(name)) continue
    if (!fieldPattern.test(value)) return null
    text += `${name}: ${value}\r\n`
  }
  return { url, origin: null, text: flat(text) }
}
