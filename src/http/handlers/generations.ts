import type { UsageRecord } from '../../billing/ledger/accounts.ts'
import type { Principal } from '../../canonical/principal.ts'
import { usageColumns } from '../../canonical/usage.ts'
import { GatewayError } from '../../core/errors.ts'
import { toCredits } from '../../core/money.ts'
import { findOperation } from '../../execution/operations.ts'
import { parseField } from '../../formats/field-error.ts'
import { beganAtMs } from '../../insight/log/log-row.ts'
import type { LoggedCallStory } from '../../insight/log/request-search-repository.ts'
import { parseJsonBody } from '../../json/json-body.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { jsonResponse, withPrincipal, type HttpRoute } from '../pipeline.ts'
import { readBody, requireJson } from '../request-body.ts'
import { feedbackSchema } from '../schemas/account.ts'

/** Single generations, answered or not, for both kinds of key; and what somebody thinks of them. */
export function generationRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const common = { method: 'GET', group: 'catalog', access: 'any' } as const
  return [
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
        return jsonResponse({ data: await findGeneration(id, principal, dependencies) })
      }),
    },
    {
      ...common,
      path: '/generation/content',
      name: 'generation_content',
      handle: withPrincipal(async ({ principal, query }) => {
        const id = query().get('id') ?? ''
        await findGeneration(id, principal, dependencies)
        throw new GatewayError(
          'not_found',
          `The content of generation ${id.slice(0, 100)} is not kept: this gateway keeps no prompts and no answers.`,
        )
      }),
    },
    {
      ...common,
      method: 'POST',
      access: 'management',
      group: 'settings',
      path: '/generation/feedback',
      name: 'generation_feedback',
      handle: withPrincipal(async ({ principal, request }) => {
        requireJson(request)
        const body = parseJsonBody(await readBody(request, feedbackBytesMax))
        const { generation_id: id, category, comment } = parseField(feedbackSchema, '', body)
        await findGeneration(id, principal, dependencies)
        await dependencies.insight.feedback.insert({
          organizationId: principal.organizationId,
          generationId: id,
          category,
          comment: comment ?? null,
          createdAtMs: dependencies.clock.nowMs(),
        })
        return jsonResponse({ data: { success: true } })
      }),
    },
  ]
}

const feedbackBytesMax = 65_536

/** A generation by its usage row; one that failed has none, and is told from the log of calls. Throws `not_found`. */
async function findGeneration(
  id: string,
  { organizationId, workspaceId }: Principal,
  dependencies: HttpDependencies,
): Promise<Record<string, unknown>> {
  const usage = await dependencies.accounts.findUsage(id, organizationId)
  if (usage) return describeGeneration(usage, dependencies)
  const call = await dependencies.insight.search.findByGeneration(organizationId, id)
  if (call) return describeFailed(call, workspaceId, dependencies)
  throw new GatewayError('not_found', `Generation ${id.slice(0, 100)} not found`)
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
    ...(usage.responseCacheSourceId === null
      ? {}
      : { response_cache_source_id: usage.responseCacheSourceId }),
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

/** A call that no provider answered has no usage; what the log knows of it has the same members. */
function describeFailed(
  call: LoggedCallStory,
  workspaceId: string,
  { catalog, insight: { providerNames } }: HttpDependencies,
): Record<string, unknown> {
  const { details, attempts } = call
  const endpointOf = (deployment: string, model: string) =>
    catalog
      .current()
      .model(model)
      ?.endpoints.find(({ deployment: { id } }) => id === deployment)
  const tried = (details.attempts ?? []).map(({ provider_name, deployment, model, status }) => ({
    provider_name: provider_name ?? providerNames.get(deployment) ?? deployment,
    endpoint_id: endpointOf(deployment, model)?.id ?? `${deployment}/${model}`,
    status,
  }))
  return {
    id: call.generationId,
    api_type: call.operation === null ? null : (findOperation(call.operation)?.apiType ?? null),
    model: call.model ?? '',
    provider_name: tried.at(-1)?.provider_name ?? null,
    created_at: new Date(beganAtMs(call.requestId)).toISOString(),
    origin: '',
    http_referer: null,
    user_agent: null,
    workspace_id: workspaceId,
    provider_responses: tried,
    usage: 0,
    total_cost: 0,
    is_byok: false,
    data_region: 'global',
    streamed: call.streamed,
    cancelled: call.outcome === 'cancelled',
    finish_reason: call.outcome === 'failed' ? 'error' : null,
    native_finish_reason: null,
    service_tier: null,
    latency: call.firstByteMs,
    generation_time: call.totalMs,
    tokens_prompt: 0,
    tokens_completion: 0,
    native_tokens_prompt: 0,
    native_tokens_completion: 0,
    native_tokens_reasoning: 0,
    native_tokens_cached: 0,
    native_tokens_completion_images: null,
    upstream_id: null,
    upstream_inference_cost: null,
    request_id: call.requestId,
    session_id: call.sessionId,
    external_user: call.userId,
    ...unusedMembers,
    headrace: {
      batch_id: call.batchId,
      outcome: call.outcome,
      status: call.status,
      error_type: call.errorType,
      attempts,
      cost_nanocredits: '0',
    },
  }
}
