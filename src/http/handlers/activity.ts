import { fieldError, GatewayError } from '../../core/errors.ts'
import { toCredits } from '../../core/money.ts'
import type { ColumnFilter, UsageColumn } from '../../insight/spend/sums-repository.ts'
import { cutSpan } from '../../insight/spend/time-buckets.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { choicesOf, textOf } from '../list-query.ts'
import { type Authenticated, type HttpRoute, jsonResponse, withPrincipal } from '../pipeline.ts'
import { requireOwnWorkspace } from './keys.ts'

const dayMs = 86_400_000
/** Completed days (UTC) that the contract shows. */
const daysShown = 30

type Parts = Pick<HttpDependencies, 'insight' | 'clock' | 'keys'>

/** Usage by day and endpoint, for management keys. */
export function activityRoutes(dependencies: HttpDependencies): HttpRoute[] {
  return [
    {
      method: 'GET',
      group: 'settings',
      access: 'management',
      path: '/activity',
      name: 'activity',
      handle: withPrincipal((exchange) => listActivity(exchange, dependencies)),
    },
  ]
}

/** An unknown key, by the name that it has in this question. */
function refuseHash(thrown: unknown): never {
  if (thrown instanceof GatewayError && thrown.type === 'not_found')
    throw new GatewayError('not_found', thrown.message, { param: 'api_key_hash' })
  throw thrown
}

async function listActivity({ principal, query }: Authenticated, parts: Parts): Promise<Response> {
  const { insight, clock, keys } = parts
  const given = query()
  const byWorkspace = choicesOf(given, 'group_by', ['workspace']).length > 0
  requireOwnWorkspace(textOf(given, 'workspace_id') ?? undefined, principal)
  const span = daysOf(textOf(given, 'date'), clock.nowMs())
  const filters: ColumnFilter<UsageColumn>[] = []
  const hash = textOf(given, 'api_key_hash')
  if (hash !== null) {
    const { keyId } = await keys.load(principal.organizationId, hash).catch(refuseHash)
    filters.push({ column: 'key_id', isNegated: false, values: [keyId] })
  }
  const member = textOf(given, 'user_id')
  if (member !== null) filters.push({ column: 'member_id', isNegated: false, values: [member] })
  const columns: UsageColumn[] = byWorkspace ? ['model', 'provider', 'workspace_id'] : ['model', 'provider']
  const buckets = cutSpan({ ...span, bucket: 'day', zone: 'UTC' })
  const asked = { organizationId: principal.organizationId, runs: buckets.runs, columns, filters }
  const sums = await insight.sums.sumUsage(asked)
  const inOrder = sums.toSorted(
    (left, right) => right.bucket - left.bucket || Number(right.costNanocredits - left.costNanocredits),
  )
  return jsonResponse({
    data: inOrder.map(({ bucket, values: [model = '', provider = '', workspaceId], ...sum }) => ({
      date: new Date(buckets.starts[bucket] ?? 0).toISOString().slice(0, 10),
      model,
      model_permaslug: model,
      // Usage is summed by provider and model, which here are what an endpoint of the contract is.
      endpoint_id: `${provider}/${model}`,
      provider_name: insight.providerNames.get(provider) ?? provider,
      usage: toCredits(sum.costNanocredits),
      byok_usage_inference: 0,
      requests: sum.requests,
      prompt_tokens: sum.inputTokens,
      completion_tokens: sum.outputTokens,
      reasoning_tokens: sum.reasoningTokens,
      ...(workspaceId === undefined ? {} : { workspace_id: workspaceId }),
    })),
  })
}

/** One day, or the completed ones that the contract shows. */
function daysOf(date: string | null, nowMs: number): { fromMs: number; toMs: number } {
  const todayMs = Math.floor(nowMs / dayMs) * dayMs
  if (date === null) return { fromMs: todayMs - daysShown * dayMs, toMs: todayMs }
  const atMs = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(date) : Number.NaN
  const isShown = atMs < todayMs && atMs >= todayMs - daysShown * dayMs
  if (!isShown)
    throw fieldError('date', `must be one of the last ${daysShown} completed days (UTC), such as 2026-11-23.`)
  return { fromMs: atMs, toMs: atMs + dayMs }
}
