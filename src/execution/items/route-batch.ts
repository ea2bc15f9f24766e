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

/** What may serve a batch. */
export interface BatchRoute {
  /** Never empty; the first is the one that a call would be sent to now. */
  endpoints: readonly Endpoint[]
  /** The endpoints that are no fallback. The lanes of a lower price use these alone. */
  leading: readonly Endpoint[]
  /**
   * What an item may cost at these endpoints, by the prices that they are given with, in nanocredits. An item that
   * cannot be decoded, null, costs nothing, because it will fail by itself.
   */
  estimatorOf(
    endpoints: readonly Endpoint[],
  ): (demand: Demand | null) => { estimate: bigint; worstCase: bigint }
}

/** Routes a batch by model, endpoint and policy when it is accepted. Throws 400 for the model, 422 for its variant, 404 and 403 for policy. */
export function routeBatch(question: BatchQuestion, dependencies: ExecutionDependencies): BatchRoute {
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
  const routed = routeModelOf(asked, model, dependencies)
  const endpoints = routed.ordered.filter((endpoint) => endpoint.batch !== 'none')
  if (endpoints.length === 0) {
    throw new GatewayError('invalid_request', `Model '${model}' does not have a :batch endpoint.`, {
      param: 'model',
    })
  }
  const leading = endpoints.filter((endpoint) => routed.leading.includes(endpoint))
  return { endpoints, leading, estimatorOf: (priced) => estimatorOf(question, priced, dependencies) }
}

/** A variant that routing refuses is a constraint of batches here (422), not a missing resource (404). */
function routeModelOf(
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
