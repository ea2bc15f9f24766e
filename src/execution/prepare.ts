import { budgetsOf } from '../billing/budgets/budget-ids.ts'
import { holdAmountOf, largestOutput } from '../billing/metering/hold-amount.ts'
import type { Hold } from '../billing/budgets/hold.ts'
import { missingPrices } from '../billing/metering/price.ts'
import type { AudioRequirement } from '../canonical/audio.ts'
import type { Call } from '../canonical/call.ts'
import type { Endpoint } from '../canonical/endpoint.ts'
import { GatewayError } from '../core/errors.ts'
import { formatCredits } from '../core/money.ts'
import type { Exclusion } from '../routing/exclusion.ts'
import type { CallState } from './call-state.ts'
import type { ExecutionParts } from './parts.ts'
import { operations } from './operations.ts'
import { routedCallOf, routeModel } from './route-model.ts'
import { Settlement } from './settlement.ts'

/** A call that may be made: where, and with what set aside for it. */
export interface Plan {
  /** In the order to try; never empty. */
  endpoints: readonly Endpoint[]
  settlement: Settlement
}

/**
 * Policy, route, then hold: enough for the dearest endpoint the route may try. When that is too much, the route is cut
 * to the endpoints the balance can pay before the call is refused. At once when the money is in memory, as it mostly is.
 */
export function prepare(
  call: Call,
  requirements: readonly AudioRequirement[],
  state: CallState,
  parts: ExecutionParts,
): Plan | Promise<Plan> {
  if (!parts.billing.canAccept()) {
    throw new GatewayError(
      'storage_unavailable',
      'Usage cannot be recorded right now, so no call is made; try again shortly.',
      {
        retryAfterSeconds: 2,
      },
    )
  }
  const { principal, batch } = state.scope
  const routed = routeCall(call, requirements, state, parts)
  const budgets = batch?.budgets ?? budgetsOf(principal, parts.billing.databaseNowMs())
  const isLimited = budgets.length > 0 || principal.accountMode === 'prepaid'
  const endpoints = isLimited ? withPrices(call, routed) : routed
  const amounts = new Map<Endpoint, bigint>()
  // By the model that would answer: a call may name it otherwise, by a variant, or name another one first.
  const ratioOf = ({ model }: Endpoint) => parts.learning.promptRatio(principal.organizationId, model)
  for (const endpoint of endpoints)
    amounts.set(endpoint, holdAmountOf(call.demand, endpoint, ratioOf(endpoint)))
  const request = (amount: bigint) =>
    parts.billing.hold({
      budgets,
      amount,
      describe: (available) => describeShortage(call, endpoints, available, ratioOf),
    })
  const granted = holdFor(endpoints, amounts, request)
  return granted instanceof Promise
    ? granted.then((held) => planOf(held, state, parts))
    : planOf(granted, state, parts)
}

function planOf({ hold, affordable }: Held, state: CallState, parts: ExecutionParts): Plan {
  state.candidates = affordable
  return {
    endpoints: affordable,
    settlement: new Settlement(hold, {
      billing: parts.billing,
      scope: state.scope,
      onSettled: () => state.releasePermit(),
    }),
  }
}

/** Endpoints of the model, and of its fallback models after it, in the order to try. */
function routeCall(
  call: Call,
  requirements: readonly AudioRequirement[],
  state: CallState,
  parts: ExecutionParts,
): readonly Endpoint[] {
  const asked = routedCallOf(call, requirements, state.scope)
  if (call.fallbackModels.length === 0) {
    const routed = routeModel(asked, call.model, parts)
    state.excluded = routed.excluded
    return routed.ordered
  }
  const found: Endpoint[] = []
  const excluded: Exclusion[] = []
  let refusal: unknown = null
  for (const model of [call.model, ...call.fallbackModels]) {
    try {
      const routed = routeModel(asked, model, parts)
      found.push(...routed.ordered)
      excluded.push(...routed.excluded)
    } catch (error) {
      refusal ??= error
    }
  }
  state.excluded = excluded
  if (found.length === 0) throw refusal
  return found
}

// On a prepaid or budgeted account a unit without a price would be spent without a bound.
function withPrices(call: Call, endpoints: readonly Endpoint[]): Endpoint[] {
  const priced = endpoints.filter((endpoint) => missingPrices(call.demand, endpoint).length === 0)
  const first = endpoints[0]
  if (priced.length > 0 || !first) return priced
  const units = missingPrices(call.demand, first).join(', ')
  throw new GatewayError(
    'no_matching_endpoint',
    `${call.model} has no known price for ${units}, so it is not served on a prepaid or limited account; the operator can set one under "prices".`,
    { param: 'model' },
  )
}

interface Held {
  hold: Hold
  affordable: readonly Endpoint[]
}

function holdFor(
  endpoints: readonly Endpoint[],
  amounts: ReadonlyMap<Endpoint, bigint>,
  request: (amount: bigint) => Hold | Promise<Hold>,
): Held | Promise<Held> {
  const granted = request(dearest(endpoints, amounts))
  if (!(granted instanceof Promise)) return { hold: granted, affordable: endpoints }
  return granted.then(
    (hold) => ({ hold, affordable: endpoints }),
    async (error: unknown) => {
      const available = availableOf(error)
      const affordable = endpoints.filter((endpoint) => (amounts.get(endpoint) ?? 0n) <= available)
      if (affordable.length === 0 || affordable.length === endpoints.length) throw error
      return { hold: await request(dearest(affordable, amounts)), affordable }
    },
  )
}

function dearest(endpoints: readonly Endpoint[], amounts: ReadonlyMap<Endpoint, bigint>): bigint {
  let most = 0n
  for (const endpoint of endpoints) {
    const amount = amounts.get(endpoint) ?? 0n
    if (amount > most) most = amount
  }
  return most
}

/** Also of a shortage that is over soon: a cheaper endpoint may be affordable at once. */
function availableOf(error: unknown): bigint {
  const available = error instanceof GatewayError ? error.metadata?.['available_nanocredits'] : null
  if (typeof available !== 'string') throw error
  return BigInt(available)
}

function describeShortage(
  call: Call,
  endpoints: readonly Endpoint[],
  available: bigint,
  ratioOf: (endpoint: Endpoint) => number,
): string {
  const fits = endpoints.map((endpoint) =>
    largestOutput(call.demand, endpoint, { available, ratio: ratioOf(endpoint) }),
  )
  const largest = Math.max(...fits)
  const limit = operations[call.operation].text?.outputLimit ?? null
  if (limit === null) return `${formatCredits(available)} credits are available.`
  if (largest <= 0)
    return `${formatCredits(available)} credits are available, which does not cover the prompt alone.`
  return `${formatCredits(available)} credits are available; with ${limit} at most ${largest} the call would fit.`
}
