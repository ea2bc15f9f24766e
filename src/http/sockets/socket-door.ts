import type { Principal } from '../../canonical/principal.ts'
import { GatewayError } from '../../core/errors.ts'
import { liveBodyBytesMax } from '../../core/limits/http.ts'
import { newId } from '../../core/ids.ts'
import { operations } from '../../execution/operations.ts'
import { openAiConvention } from '../../formats/openai-convention.ts'
import type { SocketTurns } from '../../formats/text/socket-format.ts'
import type { TextOperation } from '../../formats/text/text-operation-row.ts'
import { leanOf } from '../../json/set-aside-texts.ts'
import { noDescriptors } from '../../transport/descriptors.ts'
import { errorResponse } from '../error-response.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { createExchange, type HttpExchange, type HttpRoute, runRoute, withPrincipal } from '../pipeline.ts'
import { SocketConnection } from './socket-connection.ts'

/** Headers that belong to one connection or one body, and not to the calls that come over a socket. */
const connectionHeaders = /^(?:connection|upgrade|keep-alive|transfer-encoding|content-.*|sec-websocket-.*)$/

/** Whether a client asks for a WebSocket instead of an answer. Other protocols that it offers are ignored. */
export function offersSocket({ headers }: Request): boolean {
  const offer = headers.get('upgrade')
  return offer !== null && offer.split(',').some((name) => name.trim().toLowerCase() === 'websocket')
}

/** The answer to a WebSocket where none is served. */
export function noSocketHere(path: string): GatewayError {
  return new GatewayError(
    'no_socket',
    `${path.slice(0, 120)} has no WebSocket. Send the same request as HTTP; sockets are at GET /v1/responses.`,
  )
}

/**
 * The route of a WebSocket at the path of an operation; null for an operation whose turns do not go over sockets. `post` is
 * the operation's own route there: each turn is a call of it.
 */
export function socketRoute(post: HttpRoute, dependencies: HttpDependencies): HttpRoute | null {
  const text = Object.values(operations).find(({ name }) => name === post.name)?.text
  if (!text?.turns) return null
  const { decode, turns, compaction } = text
  return {
    method: 'GET',
    path: post.path,
    group: post.group,
    name: `${post.name}_socket`,
    // Not a call of inference yet: a connection must not count against a key's rate.
    access: 'any',
    handle: withPrincipal((exchange) => {
      requireCaller(exchange.principal, dependencies)
      const connection = connect(exchange, { post, decode, turns, compaction }, dependencies)
      if (!dependencies.upgrade(exchange.request, connection)) throw notUpgraded()
      dependencies.sockets.add(connection, exchange.principal.keyId)
      return new Response(null, { status: 101 })
    }),
  }
}

function requireCaller(principal: Principal, { sockets, descriptors, activity }: HttpDependencies): void {
  if (principal.keyKind !== 'inference') {
    throw new GatewayError(
      'permission_denied',
      'A management key cannot call inference; use an inference key.',
    )
  }
  if (!descriptors.admit(activity.running) || !sockets.admit(principal.keyId)) throw noDescriptors()
}

/** Where the turns of a socket go. */
interface Served {
  post: HttpRoute
  decode: TextOperation['decode']
  compaction: TextOperation['compaction']
  turns: SocketTurns
}

function connect(exchange: HttpExchange, served: Served, dependencies: HttpDependencies): SocketConnection {
  const { request, asker } = exchange
  const { url } = request
  const headers = [...request.headers].filter(([name]) => !connectionHeaders.test(name))
  const { clientAddress } = asker
  const parts: HttpDependencies = {
    ...dependencies,
    clientAddressOf: () => clientAddress,
    peerAddressOf: () => clientAddress,
    onAnswered: () => undefined,
  }
  const connection: SocketConnection = new SocketConnection({
    turns: served.turns,
    history: dependencies.sockets.history.open(),
    call: (body, turn, signal) => {
      const own = [...headers, ['content-type', 'application/json'], ['content-length', String(body.length)]]
      const made = new Request(url, { method: 'POST', headers: own as [string, string][], body, signal })
      const route = turn.isWarmUp ? warmUpRoute(served, dependencies) : served.post
      return runRoute({ ...route, convention: openAiConvention }, createExchange(made, {}, parts), parts)
    },
    refuse: (error) =>
      errorResponse(error, { group: 'inference', writeError: openAiConvention.writeError }, new Headers()),
    onClosed: () => dependencies.sockets.delete(connection),
  })
  return connection
}

/** A turn that asks no model: its call is read and checked like any other, and costs nothing. */
function warmUpRoute(
  { post, decode, turns, compaction }: Served,
  { clock, compactor }: HttpDependencies,
): HttpRoute {
  const opened = async (body: Uint8Array, organizationId: string): Promise<Uint8Array> => {
    if (compaction === undefined || !compaction.mayConcern(body)) return body
    const options = { organizationId, lean: await leanOf(body), isAsked: false }
    return (await compactor.prepare(compaction, body, options))?.body ?? body
  }
  return {
    ...post,
    name: `${post.name}_warm_up`,
    handle: withPrincipal(async ({ request, principal }) => {
      const bytes = await request.bytes()
      if (bytes.length > liveBodyBytesMax)
        throw new GatewayError(
          'payload_too_large',
          `The conversation is larger than ${liveBodyBytesMax} bytes.`,
        )
      const body = await opened(bytes, principal.organizationId)
      const call = decode(body, { sessionIdHeader: null, lean: await leanOf(body) })
      const nowMs = clock.nowMs()
      const facts = { id: newId('gen', nowMs), created: Math.floor(nowMs / 1000) }
      const events = turns.writeWarmUp(call, facts).map((event) => `data: ${event}\n\n`)
      return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } })
    }),
  }
}

function notUpgraded(): GatewayError {
  return new GatewayError('invalid_request', 'This is no valid WebSocket handshake (RFC 6455).')
}
