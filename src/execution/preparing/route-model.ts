import type { Call } from '../../canonical/call.ts'
import type { AudioRequirement } from '../../canonical/audio.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { Principal } from '../../canonical/principal.ts'
import type { Requirement } from '../../routing/requirement.ts'
import { route, type Route } from '../../routing/route.ts'
import { type Operation, operations } from '../operations.ts'
import type { ExecutionDependencies } from '../dependencies.ts'
import type { Serving } from '../serving.ts'
import type { Exclusion } from '../../routing/exclusion.ts'
import { conversationKey } from '../call/conversation-key.ts'

/** Who asks for what, as far as routing is concerned. */
export interface RoutedCall {
  /** Null when only the model is in question, as when a batch is accepted. */
  call: Call | null
  operation: Operation
  requirements: readonly AudioRequirement[]
  principal: Principal
  /** A batch's `provider.only`, which bounds every item whatever the item's own body says. */
  providerOnly: readonly string[] | null
  serving: Serving
}

/** Endpoints of one model for one call, in the order to try. Throws what `route` throws. */
export function routeModel(routed: RoutedCall, model: string, dependencies: ExecutionDependencies): Route {
  const { call } = routed
  return route({
    call: call && asRouted(call),
    model,
    modality: routed.operation.modality,
    requirements: requirementsOf(routed, model),
    organizationId: routed.principal.organizationId,
    constraints: routed.principal.constraints,
    providerOnly: routed.providerOnly,
    catalog: routed.serving.catalog,
    health: dependencies.health,
    sticky: dependencies.sticky,
    random: dependencies.random,
    runningOf: dependencies.limiter.runningOf,
    conversationKey,
  })
}

const noRequirements: readonly Requirement[] = []

function requirementsOf({ requirements }: RoutedCall, model: string): readonly Requirement[] {
  return requirements.length === 0
    ? noRequirements
    : requirements.map((requirement) => toRequirement(requirement, model))
}

/** Endpoints of a call's model, and of its fallback models after it, in the order to try. Throws what `route` throws. */
export function routeCall(routed: RoutedCall & { call: Call }, dependencies: ExecutionDependencies): Route {
  const { model, fallbackModels } = routed.call
  if (fallbackModels.length === 0) return routeModel(routed, model, dependencies)
  const ordered: Endpoint[] = []
  const excluded: Exclusion[] = []
  let leading: readonly Endpoint[] | null = null
  let refusal: unknown = null
  for (const each of [model, ...fallbackModels]) {
    try {
      const found = routeModel(routed, each, dependencies)
      ordered.push(...found.ordered)
      excluded.push(...found.excluded)
      leading ??= found.leading
    } catch (error) {
      refusal ??= error
    }
  }
  if (leading === null) throw refusal
  return { ordered, leading, excluded }
}

/** Endpoints of these models. A model that routing refuses has none here; `prepare` tells the caller of the refusal. */
export function endpointsOf(
  routed: RoutedCall,
  models: readonly string[],
  dependencies: ExecutionDependencies,
): readonly Endpoint[] {
  return models.flatMap((model) => {
    try {
      return routeModel(routed, model, dependencies).ordered
    } catch {
      return []
    }
  })
}

/**
 * Endpoints list the parameters that they honour only for chat completions and embeddings. For other formats the writer
 * of the request finds what the provider cannot be sent, and `require_parameters` is checked there.
 */
function asRouted(call: Call): Call {
  const isTold = operations[call.operation].text?.hasToldParameters ?? true
  return isTold || !call.preferences.requireParameters ? call : { ...call, parameters: [] }
}

/** What routing needs of a live call or batch item. */
export function routedCallOf(
  call: Call,
  requirements: readonly AudioRequirement[],
  scope: { principal: Principal; batch: { providerOnly: readonly string[] | null } | null },
  serving: Serving,
): RoutedCall & { call: Call } {
  return {
    call,
    operation: operations[call.operation],
    requirements,
    principal: scope.principal,
    providerOnly: scope.batch?.providerOnly ?? null,
    serving,
  }
}

function toRequirement(requirement: AudioRequirement, model: string): Requirement {
  return {
    field: requirement.name,
    supports: (endpoint) => requirement.isMet(endpoint),
    refuse: (endpoints) => requirement.refuse(model, endpoints),
  }
}
