import { type BudgetRef, budgetsOf } from '../../billing/budgets/budget-ids.ts'
import type { HoldRequest } from '../../billing/budgets/granter.ts'
import { holdAmountOf, largestOutput, missingPrices } from '../../billing/metering/hold-amount.ts'
import type { Hold } from '../../billing/budgets/hold.ts'
import type { Call } from '../../canonical/call.ts'
import { atTier, type Endpoint } from '../../canonical/endpoint.ts'
import { GatewayError } from '../../core/errors.ts'
import { formatCredits } from '../../core/money.ts'
import { callerCredential } from '../call/caller-login.ts'
import type { CallState } from '../call/call-state.ts'
import type { ExecutionDependencies } from '../dependencies.ts'
import type { Begun, Kind, Run } from '../call/call-hooks.ts'
import { operations } from '../operations.ts'
import type { Candidate } from '../call/prepared.ts'
import type { BatchScope } from '../call/scope.ts'
import { adaptFirst, type Held, refusalOf } from './suited-route.ts'
import { routeCall, routedCallOf } from './route-model.ts'

/**
 * Applies the policy, routes, holds, then adapts. The hold is enough for the dearest endpoint that the route may try;
 * where the balance does not cover it, the route is cut to the endpoints that the balance can pay. A balance that cannot
 * pay the model that was asked for gets no other one instead: fallbacks are for failures. Endpoints that
 * cannot carry the call are passed over. When none is left, the caller is told why the first of them cannot, also where
 * the balance is too small: more money would not help. Returns without a promise when the money is in memory, as it
 * mostly is.
 */
export function prepare<K extends Kind>(begun: Begun<K>): Run<K> | Promise<Run<K>> {
  const { state, dependencies, row } = begun
  if (!dependencies.billing.canAccept()) {
    throw new GatewayError(
      'storage_unavailable',
      'Usage cannot be recorded right now, so no call is made; try again shortly.',
      {
        retryAfterSeconds: 2,
      },
    )
  }
  const { call, scope } = state
  const { principal, batch } = scope
  const asked = routedCallOf(call, row.requirements(begun.call, state), scope, state.serving)
  const { ordered, leading, excluded } = routeCall(asked, dependencies)
  state.excluded = excluded
  const budgets = batch?.budgets ?? budgetsOf(principal, dependencies.billing.databaseNowMs())
  const isLimited = budgets.length > 0 || principal.accountMode === 'prepaid'
  const all = onlyOwn(candidatesOf(ordered, state, dependencies))
  const leads = leading === ordered ? all : leadingOf(all, leading)
  const route = isLimited ? withPrices(call, { all, leads }, dependencies) : all
  const amounts = new Map<Candidate, bigint>()
  const uncountedTokens = dependencies.uncountedInputTokens
  for (const candidate of route)
    amounts.set(candidate, mostOf(call, heldAs(candidate, batch), uncountedTokens))
  const granted = holdFor({ route, leads }, amounts, new CallHoldRequest(begun, leads, budgets))
  if (granted instanceof Promise) return adaptLater(granted, { route, budgets }, begun)
  return adaptFirst(granted, budgets, begun)
}

async function adaptLater<K extends Kind>(
  granted: Promise<Held>,
  { route, budgets }: { route: readonly Candidate[]; budgets: readonly BudgetRef[] },
  begun: Begun<K>,
): Promise<Run<K>> {
  let held: Held
  try {
    held = await granted
  } catch (error) {
    throw isShortage(error) ? ((await refusalOf(route, begun)) ?? error) : error
  }
  return adaptFirst(held, budgets, begun)
}

/** The hold of one call, and what would fit where there is too little for it. */
class CallHoldRequest<K extends Kind> implements HoldRequest {
  readonly budgets: readonly BudgetRef[]
  amount = 0n
  readonly #begun: Begun<K>
  readonly #leads: readonly Candidate[]

  constructor(begun: Begun<K>, leads: readonly Candidate[], budgets: readonly BudgetRef[]) {
    this.budgets = budgets
    this.#begun = begun
    this.#leads = leads
  }

  /** Not again before it has settled. */
  hold(amount: bigint): Hold | Promise<Hold> {
    this.amount = amount
    return this.#begun.dependencies.billing.hold(this)
  }

  describe(available: bigint): string {
    const { state, dependencies } = this.#begun
    const uncountedTokens = dependencies.uncountedInputTokens
    return describeShortage(state.call, this.#leads, { available, uncountedTokens })
  }
}

function candidatesOf(
  endpoints: readonly Endpoint[],
  state: CallState,
  dependencies: ExecutionDependencies,
): readonly Candidate[] {
  const [only] = endpoints
  if (endpoints.length === 1 && only !== undefined) return [candidateOf(only, state, dependencies)]
  return endpoints.map((endpoint) => candidateOf(endpoint, state, dependencies))
}

/** The candidate uses the caller's own login where the deployment takes one, else the operator's credential. */
export function candidateOf(
  endpoint: Endpoint,
  { scope, serving }: CallState,
  dependencies: ExecutionDependencies,
): Candidate {
  const { deployment, model } = endpoint
  const credential = callerCredential(deployment, scope.callerLogin) ?? serving.credentialOf(deployment)
  return {
    endpoint,
    credential: credential.reference,
    // The ratio is that of the model that would answer: the call may name it by a variant, or name another model first.
    promptRatio: dependencies.learning.promptRatio(scope.principal.organizationId, model),
  }
}

/** A caller who pays one provider by their own login must not pay another provider for the same call. */
function onlyOwn(route: readonly Candidate[]): readonly Candidate[] {
  for (const { credential } of route) if (credential.isByok) return route.filter(isByok)
  return route
}

function isByok({ credential }: Candidate): boolean {
  return credential.isByok
}

/** All of them where the caller's own login has left none of the leading ones. */
function leadingOf(all: readonly Candidate[], leading: readonly Endpoint[]): readonly Candidate[] {
  const leads = all.filter(({ endpoint }) => leading.includes(endpoint))
  return leads.length === 0 ? all : leads
}

/** The candidate as its hold is reckoned: at the tier's own prices where the batch never asks for a dearer one. */
function heldAs(candidate: Candidate, batch: BatchScope | null): Candidate {
  const tier = batch?.tier
  return tier?.isHeldAlone ? { ...candidate, endpoint: atTier(candidate.endpoint, tier.name) } : candidate
}

/** The most that a call can cost at this candidate. */
function mostOf(
  { demand }: Call,
  { endpoint, credential, promptRatio }: Candidate,
  uncountedTokens: number,
): bigint {
  return credential.isByok ? 0n : holdAmountOf(demand, endpoint, promptRatio, uncountedTokens)
}

// On a prepaid or budgeted account a unit without a price would be spent without a bound.
function withPrices(
  call: Call,
  { all, leads }: { all: readonly Candidate[]; leads: readonly Candidate[] },
  { refusesUnknownPrices }: Pick<ExecutionDependencies, 'refusesUnknownPrices'>,
): Candidate[] {
  const { demand } = call
  const priced: Candidate[] = []
  for (const candidate of all) {
    const { endpoint, credential } = candidate
    if (credential.isByok || missingPrices(demand, endpoint, refusesUnknownPrices).length === 0)
      priced.push(candidate)
  }
  const [first] = leads
  if (!first || (leads === all ? priced.length > 0 : hasAny(priced, leads))) return priced
  const units = missingPrices(demand, first.endpoint, refusesUnknownPrices).join(', ')
  throw new GatewayError(
    'no_matching_endpoint',
    `${call.model} has no known price for ${units}, so it is not served on a prepaid or limited account; the operator can set one under "prices".`,
    { param: 'model' },
  )
}

/** Whether the balance does not cover the hold; no provider was asked. */
export function isShortage(error: unknown): boolean {
  return error instanceof GatewayError && error.type === 'payment_required'
}

function hasAny(candidates: readonly Candidate[], wanted: readonly Candidate[]): boolean {
  return candidates.some((candidate) => wanted.includes(candidate))
}

function holdFor(
  { route, leads }: { route: readonly Candidate[]; leads: readonly Candidate[] },
  amounts: ReadonlyMap<Candidate, bigint>,
  asker: { hold(amount: bigint): Hold | Promise<Hold> },
): Held | Promise<Held> {
  const granted = asker.hold(dearest(route, amounts))
  if (granted instanceof Promise) return holdLater(granted, { route, leads }, amounts, asker)
  return { hold: granted, affordable: route, shortage: null }
}

async function holdLater(
  granted: Promise<Hold>,
  { route, leads }: { route: readonly Candidate[]; leads: readonly Candidate[] },
  amounts: ReadonlyMap<Candidate, bigint>,
  asker: { hold(amount: bigint): Hold | Promise<Hold> },
): Promise<Held> {
  try {
    return { hold: await granted, affordable: route, shortage: null }
  } catch (error) {
    const available = availableOf(error)
    const affordable = route.filter((candidate) => (amounts.get(candidate) ?? 0n) <= available)
    if (affordable.length === route.length || !hasAny(affordable, leads)) throw error
    const beyond = route.filter((candidate) => !affordable.includes(candidate))
    const hold = await asker.hold(dearest(affordable, amounts))
    return { hold, affordable, shortage: { error, beyond } }
  }
}

function dearest(route: readonly Candidate[], amounts: ReadonlyMap<Candidate, bigint>): bigint {
  let most = 0n
  for (const candidate of route) {
    const amount = amounts.get(candidate) ?? 0n
    if (amount > most) most = amount
  }
  return most
}

/**
 * Reads the available amount of a lasting shortage and of one that ends soon: the balance may cover a cheaper endpoint
 * now.
 */
function availableOf(error: unknown): bigint {
  const available = error instanceof GatewayError ? error.metadata?.['available_nanocredits'] : null
  if (typeof available !== 'string') throw error
  return BigInt(available)
}

function describeShortage(
  call: Call,
  leads: readonly Candidate[],
  given: { available: bigint; uncountedTokens: number },
): string {
  const { available } = given
  const fits = leads.map(({ endpoint, promptRatio }) =>
    largestOutput(call.demand, endpoint, { ...given, ratio: promptRatio }),
  )
  const largest = Math.max(...fits)
  const limit = operations[call.operation].text?.outputLimit ?? null
  if (limit === null) return `${formatCredits(available)} credits are available.`
  if (largest <= 0)
    return `${formatCredits(available)} credits are available, which does not cover the prompt alone.`
  return `${formatCredits(available)} credits are available; with ${limit} at most ${largest} the call would fit.`
}
