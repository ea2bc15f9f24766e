import type { Principal } from '../../canonical/principal.ts'
import { fieldError, GatewayError } from '../../core/errors.ts'
import { formatCredits } from '../../core/money.ts'
import type { LoggedAttempt } from '../../insight/log/log-details.ts'
import { beganAtMs, outcomes } from '../../insight/log/log-row.ts'
import { type Search, searchedTo, searchRequests } from '../../insight/log/request-search.ts'
import type { LogFilter, LoggedCall, LoggedCallStory } from '../../insight/log/request-search-repository.ts'
import type { Posting } from '../../insight/ledger/postings-repository.ts'
import { csvLine } from '../csv.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { choiceOf, choicesOf, spanOf, textOf, valuesOf, wholeOf } from '../list-query.ts'
import { type Authenticated, type HttpRoute, jsonResponse, withPrincipal } from '../pipeline.ts'
import { streamHeaders } from '../stream-headers.ts'

const pageMax = 200
const pageUsual = 50
const dayMs = 86_400_000
/** Rows that an export reads at once. */
const exportRows = 1_000

const common = { method: 'GET', group: 'catalog', access: 'management' } as const

/** The log of calls, for management keys. */
export function requestRoutes(dependencies: HttpDependencies): HttpRoute[] {
  return [
    {
      ...common,
      path: '/headrace/requests',
      name: 'requests_list',
      handle: withPrincipal((exchange) => listRequests(exchange, dependencies)),
    },
    {
      ...common,
      path: '/headrace/requests/export',
      name: 'requests_export',
      handle: withPrincipal((exchange) => exportRequests(exchange, dependencies)),
    },
    {
      ...common,
      path: '/headrace/requests/anonymous',
      name: 'requests_anonymous',
      handle: withPrincipal((exchange) => listAnonymous(exchange, dependencies)),
    },
    {
      ...common,
      path: '/headrace/requests/:id',
      name: 'requests_read',
      handle: withPrincipal((exchange) => readRequest(exchange, dependencies)),
    },
  ]
}

type Parts = Pick<HttpDependencies, 'insight' | 'clock' | 'accounts'>

async function listRequests({ principal, query }: Authenticated, parts: Parts): Promise<Response> {
  const id = textOf(query(), 'id')
  if (id !== null) {
    const found = await findCall(id, principal, parts)
    const data = found === null ? [] : await shownCalls([found], principal, parts)
    return jsonResponse({ data, next_cursor: null, searched_to: null })
  }
  const limit = wholeOf(query(), 'limit', { min: 1, max: pageMax, usual: pageUsual })
  const search = { ...(await searchOf(query(), principal, parts)), limit }
  const { rows, cursor } = await searchRequests(search, parts.insight.search)
  return jsonResponse({
    data: await shownCalls(rows, principal, parts),
    next_cursor: cursor,
    searched_to: cursor === null ? null : searchedTo(cursor).toISOString(),
  })
}

async function searchOf(
  query: URLSearchParams,
  { organizationId }: Principal,
  { insight, clock }: Parts,
): Promise<Omit<Search, 'limit'>> {
  const nowMs = clock.nowMs()
  const span = spanOf(query, { nowMs, usualMs: dayMs })
  const cursor = textOf(query, 'cursor')
  if (cursor !== null && !/^req_[0-9a-z]{24}$/.test(cursor))
    throw fieldError('cursor', 'must be the `next_cursor` of an answer.')
  const filter: LogFilter = {
    organizationId,
    outcomes: choicesOf(query, 'outcome', outcomes),
    statuses: valuesOf(query, 'status').map(toStatusRange),
    models: valuesOf(query, 'model'),
    providers: valuesOf(query, 'provider'),
    keyIds: await insight.names.keyIds(organizationId, valuesOf(query, 'key')),
    userId: textOf(query, 'user'),
    sessionId: textOf(query, 'session'),
    batchId: textOf(query, 'batch'),
    errorTypes: valuesOf(query, 'error_type'),
    operations: valuesOf(query, 'operation'),
  }
  // A call of this very moment is in the log a moment later, and belongs to the page.
  const toMs = query.get('to') ? span.toMs : Number.POSITIVE_INFINITY
  return { filter, ...span, toMs, order: choiceOf(query, 'order', ['desc', 'asc'], 'desc'), cursor }
}

function toStatusRange(text: string): { from: number; to: number } {
  if (/^[1-5]xx$/.test(text)) return { from: Number(text[0]) * 100, to: Number(text[0]) * 100 + 99 }
  if (/^[1-5]\d\d$/.test(text)) return { from: Number(text), to: Number(text) }
  throw fieldError('status', 'must be a status such as 429, or a class such as 5xx.')
}

async function shownCalls(
  rows: readonly LoggedCall[],
  { organizationId }: Principal,
  { insight }: Parts,
): Promise<ShownCall[]> {
  const keyIds = rows.map(({ keyId }) => keyId)
  const names = await insight.names.keyNames(organizationId, keyIds)
  return rows.map((row) => shownCall(row, names, insight.providerNames))
}

type ShownCall = ReturnType<typeof shownCall>

function shownCall(
  row: LoggedCall,
  names: ReadonlyMap<string, string>,
  providers: ReadonlyMap<string, string>,
) {
  return {
    id: row.requestId,
    generation_id: row.generationId,
    created_at: new Date(beganAtMs(row.requestId)).toISOString(),
    outcome: row.outcome,
    status: row.status,
    error_type: row.errorType,
    operation: row.operation,
    model: row.model,
    provider: row.provider,
    provider_name: providers.get(row.deployment ?? '') ?? row.provider,
    deployment: row.deployment,
    key_id: row.keyId === '' ? null : row.keyId,
    key_name: names.get(row.keyId) ?? null,
    user: row.userId,
    session_id: row.sessionId,
    batch_id: row.batchId,
    streamed: row.streamed,
    attempts: row.attempts,
    prompt_tokens: row.inputTokens,
    completion_tokens: row.outputTokens,
    first_byte_ms: row.firstByteMs,
    total_ms: row.totalMs,
    cost_nanocredits: row.costNanocredits === null ? null : row.costNanocredits.toString(),
    is_estimated: row.isEstimated,
  }
}

/** A call by its request id, or by its generation id, which the usage of nearly every answered call has beside the other. */
async function findCall(
  id: string,
  { organizationId }: Principal,
  { insight, accounts }: Parts,
): Promise<LoggedCallStory | null> {
  if (id.startsWith('req_')) return insight.search.findByRequest(organizationId, id)
  if (!id.startsWith('gen-')) return null
  const usage = await accounts.findUsage(id, organizationId)
  const requestId = usage?.requestId ?? null
  const found = requestId === null ? null : await insight.search.findByRequest(organizationId, requestId)
  return found ?? insight.search.findByGeneration(organizationId, id)
}

/** One call's life: what was set aside, each attempt, the marks in the order of time, and what it cost. */
async function readRequest({ principal, params }: Authenticated, parts: Parts): Promise<Response> {
  const { id = '' } = params
  const found = await findCall(id, principal, parts)
  if (found === null)
    throw new GatewayError(
      'not_found',
      `There is no call ${id.slice(0, 100)} in the log. Name it by its request id (req_…) or generation id (gen-…); the log keeps calls for a limited time.`,
    )
  const { generationId, details } = found
  const [shown, usage, postings] = await Promise.all([
    shownCalls([found], principal, parts),
    generationId === null ? null : parts.accounts.findUsage(generationId, principal.organizationId),
    generationId === null ? [] : parts.insight.postings.ofGeneration(principal.organizationId, generationId),
  ])
  return jsonResponse({
    data: {
      ...shown[0],
      client_address: found.clientAddress,
      hold: details.hold_nanocredits === undefined ? null : { amount_nanocredits: details.hold_nanocredits },
      marks: marksOf(details.attempts ?? [], found.totalMs),
      attempts: (details.attempts ?? []).map((attempt, index) => ({
        number: index + 1,
        ...shownAttempt(attempt, found, parts.insight.providerNames),
      })),
      excluded: details.excluded ?? [],
      finish_reason: usage?.finishReason ?? null,
      usage: usage && {
        prompt_tokens: usage.inputTokens,
        completion_tokens: usage.outputTokens,
        cached_tokens: usage.cachedInputTokens,
        reasoning_tokens: usage.reasoningTokens,
        audio_seconds: usage.audioMilliseconds / 1_000,
        characters: usage.characters,
      },
      postings: postings.map(shownPosting),
      has_content: false,
    },
  })
}

interface Mark {
  event: string
  attempt?: number
  ms: number
}

function marksOf(attempts: readonly LoggedAttempt[], totalMs: number): Mark[] {
  const marks = attempts.flatMap((attempt, index) => {
    const stages: readonly (readonly [string, number | null])[] = [
      ['adapter_request', attempt.started_ms],
      ['upstream_headers_received', attempt.headers_ms],
      ['first_token_received', attempt.first_token_ms],
      ['upstream_body_ended', attempt.ended_ms],
    ]
    return stages.flatMap(([event, ms]) => (ms === null ? [] : [{ event, attempt: index + 1, ms }]))
  })
  const inOrder = marks.toSorted((left, right) => left.ms - right.ms)
  // Reading the request itself came before the call, whose times these are; so the end is never before the last mark.
  const endMs = Math.max(totalMs, inOrder.at(-1)?.ms ?? 0)
  return [{ event: 'received', ms: 0 }, ...inOrder, { event: 'ended', ms: endMs }]
}

function shownAttempt(
  { said, ...attempt }: LoggedAttempt,
  { provider }: LoggedCall,
  providers: ReadonlyMap<string, string>,
) {
  const { deployment, provider_name } = attempt
  const name = provider_name ?? providers.get(deployment) ?? provider ?? deployment
  return { ...attempt, provider_name: name, message: said ?? null }
}

/** One side of a transaction, as it is shown. */
export function shownPosting({
  transactionId,
  account,
  kind,
  amountNanocredits,
  createdAtMs,
  reference,
}: Posting) {
  return {
    transaction_id: transactionId,
    kind,
    account,
    amount_nanocredits: amountNanocredits.toString(),
    created_at: new Date(createdAtMs).toISOString(),
    reference,
  }
}

async function listAnonymous({ query }: Authenticated, { insight, clock }: Parts): Promise<Response> {
  const span = spanOf(query(), { nowMs: clock.nowMs(), usualMs: dayMs })
  const limit = wholeOf(query(), 'limit', { min: 1, max: 1_000, usual: 100 })
  const counts = await insight.search.listAnonymous(span, limit)
  return jsonResponse({
    data: counts.map(({ minute, clientAddress, requests }) => ({
      minute: new Date(minute * 60_000).toISOString(),
      client_address: clientAddress,
      requests,
    })),
  })
}

/** The whole filter as a table, read page by page while its reader takes it. */
async function exportRequests(exchange: Authenticated, parts: Parts): Promise<Response> {
  const { principal, query, request } = exchange
  const format = choiceOf(query(), 'format', ['csv', 'ndjson'], 'csv')
  const search = { ...(await searchOf(query(), principal, parts)), limit: exportRows }
  const encoder = new TextEncoder()
  let cursor = search.cursor
  let hasBegun = false
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (request.signal.aborted) return controller.close()
      const page = await searchRequests({ ...search, cursor }, parts.insight.search)
      const calls = await shownCalls(page.rows, principal, parts)
      const lines =
        format === 'csv' ? csvOf(calls, !hasBegun) : calls.map((call) => `${JSON.stringify(call)}\n`)
      hasBegun = true
      cursor = page.cursor
      controller.enqueue(encoder.encode(lines.join('')))
      if (cursor === null) controller.close()
    },
  })
  return new Response(body, {
    headers: {
      ...streamHeaders,
      'content-type': format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
      'content-disposition': `attachment; filename="requests.${format}"`,
    },
  })
}

function csvOf(calls: readonly ShownCall[], hasHead: boolean): string[] {
  const lines = calls.map((call) => csvLine([...Object.values(call), costOf(call)]))
  return hasHead ? [csvLine([...callMembers, 'cost']), ...lines] : lines
}

/** In credits, exactly. */
function costOf({ cost_nanocredits: cost }: ShownCall): string | null {
  return cost === null ? null : formatCredits(BigInt(cost))
}

const callMembers: readonly (keyof ShownCall)[] = [
  'id',
  'generation_id',
  'created_at',
  'outcome',
  'status',
  'error_type',
  'operation',
  'model',
  'provider',
  'provider_name',
  'deployment',
  'key_id',
  'key_name',
  'user',
  'session_id',
  'batch_id',
  'streamed',
  'attempts',
  'prompt_tokens',
  'completion_tokens',
  'first_byte_ms',
  'total_ms',
  'cost_nanocredits',
  'is_estimated',
]
