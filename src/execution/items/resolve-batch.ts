import { holdAmountOf } from '../../billing/metering/hold-amount.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { Principal } from '../../canonical/principal.ts'
import type { Demand } from '../../canonical/usage.ts'
import { GatewayError } from '../../core/errors.ts'
import { operationOfBatchEndpoint, operations } from '../operations.ts'
import type { ExecutionDependencies } from '../dependencies.ts'
import { routeModel } from '../preparing/route-model.ts'

/** Output tokens expected of an item until the organization's answers of its model have been learned. */
const expectedOutputTokens = 1_000

/** What a batch asks for, before any of its items is looked at. */
export interface BatchQuestion {
  principal: Principal
  endpoint: string
  model: string
  providerOnly: readonly string[] | null
}

/** What serves a batch, and what its items may cost. */
export interface BatchResolution {
  endpointIds: readonly string[]
  /** Nanocredits. An item that cannot be decoded, null, costs nothing, because it will fail by itself. */
  estimateItem(demand: Demand | null): { estimate: bigint; worstCase: bigint }
  providerSlug: string | null
  lane: 'emulated'
}

/** Resolves model, endpoint and policy when a batch is accepted. Throws 400 for the model, 422 for its variant, 404 and 403 for policy. */
export function resolveBatch(question: BatchQuestion, dependencies: ExecutionDependencies): BatchResolution {
  const { principal, model } = question
  const operation = operationOfBatchEndpoint(question.endpoint)
  if (!operation) {
    const known = Object.values(operations).flatMap(({ batchEndpoint }) => batchEndpoint ?? [])
    throw new GatewayError(
      'invalid_request',
      `endpoint: "${question.endpoint}" is not served by batches here; use ${known.join(' or ')}.`,
      {
        param: 'endpoint',
      },
    )
  }
  const asked = {
    call: null,
    operation,
    requirements: [],
    principal,
    providerOnly: question.providerOnly,
    serving: dependencies.serving(),
  }
  const routed = routeBatch(asked, model, dependencies)
  const endpoints = routed.ordered.filter((endpoint) => endpoint.batch !== 'none')
  const [first] = endpoints
  if (!first) {
    throw new GatewayError('invalid_request', `Model '${model}' does not have a :batch endpoint.`, {
      param: 'model',
    })
  }
  const providers = new Set(endpoints.map((endpoint) => endpoint.deployment.provider))
  return {
    endpointIds: endpoints.map((endpoint) => endpoint.id),
    providerSlug: providers.size === 1 ? first.deployment.provider : null,
    lane: 'emulated',
    estimateItem: estimatorOf(question, endpoints, dependencies),
  }
}

/** A variant that routing refuses is a constraint of batches here (422), not a missing resource (404). */
function routeBatch(
  ...[asked, model, dependencies]: Parameters<typeof routeModel>
): ReturnType<typeof routeModel> {
  try {
    return routeModel(asked, model, dependencies)
  } catch (thrown) {
    const isVariant = thrown instanceof GatewayError && thrown.metadata?.['failed_routing_step'] === 'variant'
    if (!isVariant) throw thrown
    const { message, metadata } = thrown
    throw new GatewayError('unprocessable', message, { param: 'model', metadata: metadata ?? {} })
  }
}

/** Prices items with what is known now of the model and the organization's answers. */
function estimatorOf(
  question: BatchQuestion,
  endpoints: readonly Endpoint[],
  { learning, uncountedInputTokens }: ExecutionDependencies,
) {
  const { organizationId } = question.principal
  // By the model of each endpoint: the batch may name an alias of the operator, behind which several models stand.
  const learned = endpoints.map((endpoint) => ({
    endpoint,
    ratio: learning.promptRatio(organizationId, endpoint.model),
    expected: learning.outputTokens(organizationId, endpoint.model) ?? expectedOutputTokens,
  }))
  return (demand: Demand | null) => {
    if (demand === null) return { estimate: 0n, worstCase: 0n }
    let estimate = 0n
    let worstCase = 0n
    for (const { endpoint, ratio, expected } of learned) {
      const outputTokensMax = Math.min(demand.outputTokensMax ?? expected, expected)
      const expectedDemand = { ...demand, outputTokensMax }
      const likely = (holdAmountOf(expectedDemand, endpoint, ratio, uncountedInputTokens) * 12n) / 10n
      const most = holdAmountOf(demand, endpoint, ratio, uncountedInputTokens)
      if (likely > estimate) estimate = likely
      if (most > worstCase) worstCase = most
    }
    return { estimate: estimate < worstCase ? estimate : worstCase, worstCase }
  }
}
