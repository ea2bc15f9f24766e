import { callerLoginOf } from '../../access/authenticator.ts'
import { liveBodyBytesMax, sessionIdLengthMax, textBodyCopies } from '../../core/limits/http.ts'
import { operations } from '../../execution/operations.ts'
import type { Attribution } from '../../execution/call/prepared.ts'
import type { Outcome, RequestScope } from '../../execution/call/scope.ts'
import { toBuffer } from '../../json/bytes.ts'
import { leanOf } from '../../json/set-aside-texts.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { type Authenticated, commonHeaders, type HttpRoute, withPrincipal } from '../pipeline.ts'
import { readCountedBody, requireJson } from '../request-body.ts'
import { toResponseBody } from '../response-body.ts'
import { cacheWishOf, setCacheHeaders } from '../response-cache-headers.ts'
import { streamHeaders } from '../stream-headers.ts'
import { requireUtf8 } from '../../json/json-body.ts'

/** The kept length of the headers with an application's name and address; the rest is cut off. */
const attributionLengthMax = 256

/** The operations whose bodies are text. */
const textOperations = Object.values(operations).flatMap((operation) =>
  operation.text === null ? [] : [{ operation, text: operation.text }],
)

/** One handler for all of them, because they differ only in their decoders. */
export function textRoutes(dependencies: HttpDependencies): HttpRoute[] {
  return textOperations.flatMap(({ operation, text }) => {
    const route = {
      method: 'POST',
      path: operation.path,
      group: 'inference',
      convention: text.convention,
      name: operation.name,
      access: 'inference',
      handle: answerText({ operation, text }, dependencies, { isCompaction: false }),
    } as const
    if (text.compaction === undefined) return [route]
    const handle = answerText({ operation, text }, dependencies, { isCompaction: true })
    return [route, { ...route, path: `${operation.path}/compact`, name: `${operation.name}_compact`, handle }]
  })
}

/** `isCompaction`: every body of the route asks for a compaction. */
function answerText(
  { text }: (typeof textOperations)[number],
  dependencies: HttpDependencies,
  { isCompaction }: { isCompaction: boolean },
): HttpRoute['handle'] {
  const room = { bodyMemory: dependencies.bodyMemory, copies: textBodyCopies }
  return withPrincipal(async (exchange) => {
    requireJson(exchange.request)
    // Once for all that reads it.
    let bytes: Uint8Array = toBuffer(await readCountedBody(exchange, liveBodyBytesMax, room))
    requireUtf8(bytes)
    const leaning = leanOf(bytes)
    let lean = leaning && (await leaning)
    const { headers } = exchange.request
    const compacted =
      text.compaction !== undefined && (isCompaction || text.compaction.mayConcern(bytes))
        ? await dependencies.compactor.prepare(text.compaction, bytes, {
            organizationId: exchange.principal.organizationId,
            lean,
            isAsked: isCompaction,
          })
        : null
    if (compacted !== null) {
      bytes = compacted.body
      lean = await leanOf(bytes)
    }
    const sessionIdHeader = headers.get('x-session-id') ?? sessionOfAgent(headers)
    // The contract's name of this header differs from Anthropic's.
    const betaHeader = headers.get('anthropic-beta') ?? headers.get('x-anthropic-beta')
    const call = text.decode(bytes, { sessionIdHeader, betaHeader, lean })
    const scope = scopeOf(exchange)
    const wish = cacheWishOf(headers)
    if (compacted !== null && compacted.show !== null)
      return renderOutcome(await compacted.show(await dependencies.executor.text(call, scope)), exchange)
    if (wish === null || !dependencies.responseCache.takes(call, bytes, scope))
      return renderOutcome(await dependencies.executor.text(call, scope), exchange)
    const result = await dependencies.responseCache.answer(call, { body: bytes, scope, wish }, (own) =>
      dependencies.executor.text(call, own),
    )
    const response = renderOutcome(result.outcome, exchange)
    setCacheHeaders(response.headers, result)
    return response
  })
}

/** Claude Code's name for its conversation. The header is not part of the contract, so an invalid value is ignored. */
function sessionOfAgent(headers: Headers): string | null {
  const session = headers.get('x-claude-code-session-id')
  return session !== null && session.length <= sessionIdLengthMax ? session : null
}

/**
 * Counts a prompt's tokens without asking a model, for operations whose format has such a call. The count is the
 * estimate used for holds, corrected by the counts in the model's earlier answers.
 */
export function tokenCountRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const room = { bodyMemory: dependencies.bodyMemory, copies: textBodyCopies }
  return textOperations.flatMap(({ operation, text: { decode, convention, tokenCount } }) => {
    if (tokenCount === null) return []
    const handle = withPrincipal(async (exchange) => {
      requireJson(exchange.request)
      const bytes = await readCountedBody(exchange, liveBodyBytesMax, room)
      requireUtf8(bytes)
      const lean = await leanOf(bytes)
      const call = decode(bytes, { sessionIdHeader: null, lean })
      const inputTokens = dependencies.executor.countTokens(call, scopeOf(exchange))
      return Response.json(tokenCount.write(inputTokens), { headers: commonHeaders(exchange) })
    })
    const path = `${operation.path}${tokenCount.path}`
    return [
      {
        method: 'POST',
        path,
        group: 'inference',
        convention,
        name: tokenCount.name,
        access: 'inference',
        handle,
      },
    ]
  })
}

/** What execution needs to know of an exchange. */
export function scopeOf(exchange: Authenticated): RequestScope {
  const { headers } = exchange.request
  return {
    principal: exchange.principal,
    requestId: exchange.requestId,
    signal: exchange.request.signal,
    priority: 'live',
    metadata: metadataSwitch(headers),
    callerLogin: callerLoginOf(headers),
    attribution: attributionOf(headers),
    batch: null,
    facts: exchange.facts,
  }
}

/** From the contract's headers; `X-Title` is an older name. */
function attributionOf(headers: Headers): Attribution {
  const referer = headers.get('http-referer')
  const title = headers.get('x-openrouter-title') ?? headers.get('x-title')
  const agent = headers.get('user-agent')
  const attribution: { -readonly [Name in keyof Attribution]: Attribution[Name] } = {}
  if (referer) attribution.http_referer = referer.slice(0, attributionLengthMax)
  if (title) attribution.app_title = title.slice(0, attributionLengthMax)
  if (agent) attribution.user_agent = agent.slice(0, attributionLengthMax)
  return attribution
}

function metadataSwitch(headers: Headers): RequestScope['metadata'] {
  if (headers.get('x-openrouter-metadata') === 'enabled') return 'openrouter'
  if (headers.get('x-openrouter-experimental-metadata') === 'enabled') return 'openrouter'
  return headers.get('x-headrace-metadata') === 'enabled' ? 'headrace' : 'none'
}

/** The response of an outcome; the exchange ends with its body. */
export function renderOutcome(outcome: Outcome, exchange: Authenticated): Response {
  const { body, contentType, provider } = outcome
  const isStream = body instanceof ReadableStream
  const response = new Response(
    isStream ? body : toResponseBody(body),
    headOf(contentType, provider, isStream),
  )
  const { headers } = response
  headers.set('x-request-id', exchange.requestId)
  headers.set('x-generation-id', outcome.generationId)
  exchange.hasCommonHeaders = true
  if (isStream) exchange.ended = outcome.ended
  return response
}

interface ReadyHead {
  readonly contentType: string
  readonly provider: string
  readonly isStream: boolean
  readonly headers: Headers
}

const readyHeads: ReadyHead[] = []
const readyHeadsMax = 50

/**
 * The head of all answers of a provider with a content type, both of which are few: the copy that a response makes of it
 * costs less than a new one.
 */
function headOf(contentType: string, provider: string, isBody: boolean): ReadyHead {
  for (const head of readyHeads)
    if (head.contentType === contentType && head.provider === provider && head.isStream === isBody)
      return head
  const headers = new Headers({ ...commonHeaders({ requestId: '' }), 'content-type': contentType })
  if (provider !== '') headers.set('x-provider-name', provider)
  // An event stream that is here to its end has the head of every other one.
  const isStream = isBody || contentType === 'text/event-stream'
  if (isStream) for (const [name, value] of Object.entries(streamHeaders)) headers.set(name, value)
  const head = { contentType, provider, isStream: isBody, headers }
  if (readyHeads.length < readyHeadsMax) readyHeads.push(head)
  return head
}
