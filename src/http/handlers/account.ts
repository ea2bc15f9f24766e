import { usageColumns } from '../../canonical/usage.ts'
import type { UsageRecord } from '../../billing/ledger/accounts.ts'
import type { Principal } from '../../canonical/principal.ts'
import { GatewayError } from '../../core/errors.ts'
import { toCredits } from '../../core/money.ts'
import { findOperation } from '../../execution/operations.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { jsonResponse, withPrincipal, type HttpRoute } from '../pipeline.ts'

/** Credits, the key in use, and single generations; for both kinds of key. */
export function accountRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const common = { method: 'GET', group: 'catalog', access: 'any' } as const
  return [
    {
      ...common,
      path: '/credits',
      name: 'credits',
      handle: withPrincipal(async ({ principal }) => {
        const { totalCredits, totalUsage } = await dependencies.accounts.readCredits(principal.organizationId)
        return jsonResponse({
          data: { total_credits: toCredits(totalCredits), total_usage: toCredits(totalUsage) },
        })
      }),
    },
    {
      ...common,
      path: '/key',
      name: 'key',
      handle: withPrincipal(async ({ principal }) =>
        jsonResponse({ data: await describeKey(principal, dependencies) }),
      ),
    },
    {
      ...common,
      path: '/generation',
      name: 'generation',
      handle: withPrincipal(async ({ principal, query }) => {
        const id = query().get('id')
        if (!id)
          throw new GatewayError('invalid_request', 'id: name the generation, such as ?id=gen-….', {
            param: 'id',
          })
        const usage = await dependencies.accounts.findUsage(id, principal.organizationId)
        if (!usage) throw new GatewayError('not_found', `Generation ${id.slice(0, 100)} not found`)
        return jsonResponse({ data: describeGeneration(usage, dependencies) })
      }),
    },
  ]
}

async function describeKey(
  principal: Principal,
  dependencies: HttpDependencies,
): Promise<Record<string, unknown>> {
  const { keyLimitNanocredits: limit, keyLimitReset: reset } = principal
  const [key, used, remaining] = await Promise.all([
    dependencies.keys.load(principal.organizationId, principal.keyHash),
    dependencies.accounts.readKeyUsage(principal.keyId),
    dependencies.accounts.readKeyRemaining(principal),
  ])
  const perMinute = principal.rates.key.requestsPerMinute
  return {
    label: key.label,
    is_management_key: principal.keyKind === 'management',
    is_provisioning_key: principal.keyKind === 'management',
    is_free_tier: false,
    limit: limit === null ? null : toCredits(limit),
    limit_remaining: remaining === null ? null : toCredits(remaining),
    limit_reset: reset,
    include_byok_in_limit: false,
    usage: toCredits(used.total),
    usage_daily: toCredits(used.daily),
    usage_weekly: toCredits(used.weekly),
    usage_monthly: toCredits(used.monthly),
    byok_usage: 0,
    byok_usage_daily: 0,
    byok_usage_weekly: 0,
    byok_usage_monthly: 0,
    allowed_data_regions: ['global'],
    free_model_daily_requests: { limit: 0, remaining: 0, used: 0 },
    creator_user_id: null,
    organization_id: principal.organizationId,
    workspace_id: null,
    expires_at: key.expiresAtMs === null ? null : new Date(key.expiresAtMs).toISOString(),
    rate_limit: {
      requests: perMinute ?? -1,
      interval: perMinute === null ? '10s' : '60s',
      note: 'Deprecated by the contract; kept because clients require it. -1 means unlimited.',
    },
  }
}

function describeGeneration(usage: UsageRecord, dependencies: HttpDependencies): Record<string, unknown> {
  const endpoint = dependencies.catalog
    .current()
    .model(usage.model)
    ?.endpoints.find(({ id }) => id === usage.endpointId)
  const cost = toCredits(usage.costNanocredits)
  return {
    id: usage.generationId,
    api_type: findOperation(usage.operation)?.apiType ?? null,
    model: usage.model,
    provider_name: endpoint?.deployment.providerName ?? usage.provider,
    created_at: new Date(usage.createdAtMs).toISOString(),
    origin: originOf(usage.httpReferer),
    http_referer: usage.httpReferer,
    user_agent: usage.userAgent,
    workspace_id: usage.workspaceId,
    provider_responses: providerResponses(usage, endpoint?.deployment.providerName),
    usage: cost,
    total_cost: cost,
    is_byok: false,
    data_region: 'global',
    streamed: usage.streamed,
    cancelled: usage.cancelled,
    finish_reason: usage.finishReason,
    native_finish_reason: usage.nativeFinishReason,
    service_tier: usage.serviceTier,
    latency: usage.latencyMs,
    generation_time: usage.generationMs,
    tokens_prompt: usage.inputTokens,
    tokens_completion: usage.outputTokens,
    native_tokens_prompt: usage.inputTokens,
    native_tokens_completion: usage.outputTokens,
    native_tokens_reasoning: usage.reasoningTokens,
    native_tokens_cached: usage.cachedInputTokens,
    native_tokens_completion_images: null,
    upstream_id: usage.upstreamId,
    upstream_inference_cost: null,
    request_id: usage.requestId,
    session_id: usage.sessionId,
    external_user: usage.userId,
    ...unusedMembers,
    headrace: {
      batch_id: usage.batchId,
      app_title: usage.appTitle,
      is_estimated: usage.isEstimated,
      is_unpriced: usage.isUnpriced,
      reported: usage.reported,
      audio_seconds: usage.audioMilliseconds / 1000,
      audio_features: usage.audioFeatures,
      ...countsBesides(usage),
      cost_nanocredits: usage.costNanocredits.toString(),
    },
  }
}

/** Quantities other than tokens and time, by their names in the ledger. */
function countsBesides(usage: UsageRecord): Record<string, number> {
  const besides = Object.entries(usageColumns).filter(([column]) => !/_(?:tokens|milliseconds)$/.test(column))
  return Object.fromEntries(besides.map(([column, count]) => [column, usage[count]]))
}

/** The application's site, from its header; empty when it sent none, because clients need a string. */
function originOf(referer: string | null): string {
  return referer === null ? '' : (URL.parse(referer)?.origin ?? '')
}

/** All attempts of the call. A call with one attempt was answered by it, with status 200. */
function providerResponses(
  { tries, provider, endpointId, latencyMs }: UsageRecord,
  name: string = provider,
): Record<string, unknown>[] {
  const only = { provider: name, endpoint: endpointId, status: 200, latency: latencyMs ?? undefined }
  return (tries ?? [only]).map((one) => ({
    provider_name: one.provider,
    endpoint_id: one.endpoint,
    status: one.status,
    ...(one.latency === undefined ? {} : { latency: one.latency }),
  }))
}

/** Members that clients require to be present and that have no meaning here. */
const unusedMembers = {
  app_id: null,
  cache_discount: null,
  moderation_latency: null,
  preset_id: null,
  router: null,
  web_search_engine: null,
  num_media_prompt: null,
  num_media_completion: null,
  num_input_audio_prompt: null,
  num_search_results: null,
  num_fetches: null,
}
