import { creditsBudget } from '../../billing/budgets/budget-ids.ts'
import { fieldError } from '../../core/errors.ts'
import { formatCredits } from '../../core/money.ts'
import { listPostings, type PostingsQuestion } from '../../insight/ledger/list-postings.ts'
import type { PostingsPlace } from '../../insight/ledger/postings-repository.ts'
import { csvLine } from '../csv.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { choiceOf, choicesOf, spanOf, textOf, wholeOf } from '../list-query.ts'
import { type Authenticated, type HttpRoute, jsonResponse, withPrincipal } from '../pipeline.ts'
import { streamHeaders } from '../stream-headers.ts'
import { shownPosting } from './requests.ts'

const pageMax = 200
const pageUsual = 50
/** Postings that an export reads at once. */
const exportRows = 1_000
const monthMs = 31 * 86_400_000
const kinds = ['grant', 'capture', 'refund', 'correction'] as const

type Parts = Pick<HttpDependencies, 'insight' | 'clock' | 'accounts'>

/** The books of the organization, for management keys. */
export function ledgerRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const common = { method: 'GET', group: 'catalog', access: 'management' } as const
  return [
    {
      ...common,
      path: '/headrace/ledger/balance',
      name: 'ledger_balance',
      handle: withPrincipal((exchange) => readBalance(exchange, dependencies)),
    },
    {
      ...common,
      path: '/headrace/ledger/postings',
      name: 'ledger_postings',
      handle: withPrincipal((exchange) => readPostings(exchange, dependencies)),
    },
    {
      ...common,
      path: '/headrace/ledger/postings/export',
      name: 'ledger_export',
      handle: withPrincipal((exchange) => exportPostings(exchange, dependencies)),
    },
  ]
}

/** What was granted, less what was captured, less what calls that run now have set aside. */
async function readBalance({ principal }: Authenticated, { insight, accounts }: Parts): Promise<Response> {
  const { organizationId, accountMode } = principal
  const isPrepaid = accountMode === 'prepaid'
  const [{ totalCredits, totalUsage }, held] = await Promise.all([
    accounts.readCredits(organizationId),
    isPrepaid ? insight.postings.heldCredits(creditsBudget(organizationId).budgetId) : null,
  ])
  return jsonResponse({
    data: {
      account_mode: accountMode,
      granted_nanocredits: totalCredits.toString(),
      captured_nanocredits: totalUsage.toString(),
      held_nanocredits: held === null ? null : held.toString(),
      balance_nanocredits: held === null ? null : (totalCredits - totalUsage - held).toString(),
    },
  })
}

async function readPostings({ principal, query }: Authenticated, parts: Parts): Promise<Response> {
  const transaction = textOf(query(), 'transaction')
  if (transaction !== null) {
    const postings = await parts.insight.postings.ofGeneration(principal.organizationId, transaction)
    return jsonResponse({ data: postings.map(shownPosting), next_cursor: null, searched_to: null })
  }
  const limit = wholeOf(query(), 'limit', { min: 1, max: pageMax, usual: pageUsual })
  const question = { ...questionOf(query(), principal.organizationId, parts), limit }
  const { postings, next } = await listPostings(question, parts.insight.postings)
  return jsonResponse({
    data: postings.map(shownPosting),
    next_cursor: next === null ? null : `${next.day}_${next.transactionId}`,
    searched_to: next === null ? null : new Date((next.day + 1) * 86_400_000).toISOString(),
  })
}

function questionOf(
  query: URLSearchParams,
  organizationId: string,
  { clock }: Parts,
): Omit<PostingsQuestion, 'limit'> {
  return {
    organizationId,
    // Of the day that has begun everything is shown.
    ...spanOf(query, { nowMs: clock.nowMs() + 1, usualMs: monthMs }),
    kinds: choicesOf(query, 'kind', kinds),
    place: placeOf(textOf(query, 'cursor')),
  }
}

function placeOf(cursor: string | null): PostingsPlace | null {
  if (cursor === null) return null
  const [, day, transactionId] = /^(\d{1,6})_(.+)$/.exec(cursor) ?? []
  if (day === undefined || transactionId === undefined)
    throw fieldError('cursor', 'must be the `next_cursor` of an answer.')
  return { day: Number(day), transactionId }
}

/** All postings of the filter, read page by page while their reader takes them. */
function exportPostings({ principal, query, request }: Authenticated, parts: Parts): Response {
  const format = choiceOf(query(), 'format', ['csv', 'ndjson'], 'csv')
  const question = questionOf(query(), principal.organizationId, parts)
  const encoder = new TextEncoder()
  let { place } = question
  let hasBegun = false
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (request.signal.aborted) return controller.close()
      const page = await listPostings({ ...question, place, limit: exportRows }, parts.insight.postings)
      const lines = page.postings
        .map(shownPosting)
        .map((posting) =>
          format === 'csv'
            ? csvLine([...Object.values(posting), formatCredits(BigInt(posting.amount_nanocredits))])
            : `${JSON.stringify(posting)}\n`,
        )
      if (format === 'csv' && !hasBegun) lines.unshift(csvLine([...postingMembers, 'amount']))
      hasBegun = true
      place = page.next
      controller.enqueue(encoder.encode(lines.join('')))
      if (place === null) controller.close()
    },
  })
  return new Response(body, {
    headers: {
      ...streamHeaders,
      'content-type': format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
      'content-disposition': `attachment; filename="postings.${format}"`,
    },
  })
}

const postingMembers = ['transaction_id', 'kind', 'account', 'amount_nanocredits', 'created_at', 'reference']
