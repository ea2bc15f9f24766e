import { budgetsOf, type BudgetRef } from '../billing/budgets/budget-ids.ts'
import { holdAmountOf, largestOutput, missingPrices } from '../billing/metering/hold-amount.ts'
import type { Hold } from '../billing/budgets/hold.ts'
import type { AudioRequirement } from '../canonical/audio.ts'
import type { Call } from '../canonical/call.ts'
import type { Endpoint } from '../canonical/endpoint.ts'
import type { Step } from '../canonical/steps.ts'
import type { UpstreamRequest } from '../canonical/upstream.ts'
import { GatewayError } from '../core/errors.ts'
import { formatCredits } from '../core/money.ts'
import { exclude, type Exclusion } from '../routing/exclusion.ts'
import { callerCredential } from './caller-login.ts'
import type { CallState } from './call-state.ts'
import type { ExecutionDependencies } from './dependencies.ts'
import { operations } from './operations.ts'
import type { Candidate, Prepared } from './prepared.ts'
import { routedCallOf, routeModel } from './route-model.ts'
import { Settlement } from './settlement.ts'

/** A call that may be made, its first step, and who settles it. */
export interface Plan<First> {
  prepared: Prepared
  /** What the first of the route is asked. */
  first: First
  settlement: Settlement
}

/** What a modality adds to the one path. */
export interface Preparation<State, Answer, Reader> {
  requirements: readonly AudioRequirement[]
  /** The first step at a candidate, as a promise where it takes several turns; fails for what cannot be carried there. */
  firstStep(candidate: Candidate): Step<State, Answer, Reader> | Promise<Step<State, Answer, Reader>>
}

/**
 * Policy, route, hold, then adapt. What is held is enough for the dearest endpoint the route may try; when that is too
 * much, the route is cut to the endpoints the balance can pay before the call is refused. Endpoints that cannot carry
 * what is asked are passed over, and when none is left the caller is told why the first of them cannot, also where the
 * balance is too small: more money would not help. At once when the money is in memory, as it mostly is.
 */
export function prepare<State, Answer, Reader>(
  preparation: Preparation<State, Answer, Reader>,
  state: CallState,
  dependencies: ExecutionDependencies,
): Plan<Step<State, Answer, Reader>> | Promise<Plan<Step<State, Answer, Reader>>> {
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
  const endpoints = routeCall(call, preparation.requirements, state, dependencies)
  const budgets = batch?.budgets ?? budgetsOf(principal, dependencies.billing.databaseNowMs())
  const isLimited = budgets.length > 0 || principal.accountMode === 'prepaid'
  const all = onlyOwn(endpoints.map((endpoint) => candidateOf(endpoint, state, dependencies)))
  const route = isLimited ? withPrices(call, all, dependencies) : all
  const amounts = new Map<Candidate, bigint>()
  const uncountedTokens = dependencies.uncountedInputTokens
  for (const candidate of route) amounts.set(candidate, mostOf(call, candidate, uncountedTokens))
  const request = (amount: bigint) =>
    dependencies.billing.hold({
      budgets,
      amount,
      describe: (available) => describeShortage(call, route, { available, uncountedTokens }),
    })
  const adapt = (held: Held) => planOf({ ...held, budgets }, preparation, state, dependencies)
  const granted = holdFor(route, amounts, request)
  if (!(granted instanceof Promise)) return adapt(granted)
  return granted.then(adapt, async (error: unknown) => {
    throw isShortage(error) ? ((await refusalOf(route, preparation.firstStep)) ?? error) : error
  })
}

/** With a login of the caller's own where the deployment takes one, else with the operator's credential. */
function candidateOf(
  endpoint: Endpoint,
  { scope, serving }: CallState,
  dependencies: ExecutionDependencies,
): Candidate {
  const { deployment, model } = endpoint
  const credential = callerCredential(deployment, scope.callerLogin) ?? serving.credentialOf(deployment)
  return {
    endpoint,
    credential: credential.reference,
    // By the model that would answer: a call may name it otherwise, by a variant, or name another one first.
    promptRatio: dependencies.learning.promptRatio(scope.principal.organizationId, model),
  }
}

/** A caller who pays somewhere by a login of his own is not to pay elsewhere for the same call. */
function onlyOwn(route: readonly Candidate[]): readonly Candidate[] {
  const own = route.filter(({ credential }) => credential.isByok)
  return own.length > 0 ? own : route
}

/** The most a call can cost there. */
function mostOf(
  { demand }: Call,
  { endpoint, credential, promptRatio }: Candidate,
  uncountedTokens: number,
): bigint {
  return credential.isByok ? 0n : holdAmountOf(demand, endpoint, promptRatio, uncountedTokens)
}

function planOf<State, Answer, Reader>(
  { hold, affordable, shortage, budgets }: Held & { budgets: readonly BudgetRef[] },
  { firstStep }: Preparation<State, Answer, Reader>,
  state: CallState,
  { billing }: ExecutionDependencies,
): Plan<Step<State, Answer, Reader>> | Promise<Plan<Step<State, Answer, Reader>>> {
  const settlement = new Settlement(hold, {
    billing,
    scope: state.scope,
    budgets,
    onSettled: () => state.releasePermit(),
  })
  const planning = { hold, budgets, settlement, state }
  try {
    const found = suited(affordable, firstStep, state)
    if (!(found instanceof Promise)) return planFor(found, planning)
    return found
      .then((each) => planFor(each, planning))
      .catch((error) => refuse(error, { settlement, shortage, firstStep }))
  } catch (error) {
    return refuse(error, { settlement, shortage, firstStep })
  }
}

interface Planning {
  hold: Hold
  budgets: readonly BudgetRef[]
  settlement: Settlement
  state: CallState
}

function planFor<First extends Step<unknown, unknown, unknown>>(
  { route, first }: Suited<First>,
  { hold, budgets, settlement, state }: Planning,
): Plan<First> {
  const prepared: Prepared = {
    generationId: state.generationId,
    operation: state.call.operation,
    owner: state.owner(),
    attribution: state.scope.attribution ?? {},
    createdAtMs: state.createdAtMs,
    isStreamed: state.call.kind === 'text' && state.call.stream,
    demand: state.call.demand,
    route,
    hold: { amountNanocredits: hold.amount, budgets },
    request: requestOf(first),
  }
  state.prepared = prepared
  return { prepared, first, settlement }
}

/** Nothing of the route carries the call; where the balance cannot pay what would, that is the reason. */
async function refuse(
  error: unknown,
  {
    settlement,
    shortage,
    firstStep,
  }: { settlement: Settlement; shortage: Held['shortage']; firstStep: (candidate: Candidate) => unknown },
): Promise<never> {
  settlement.release()
  const isCarriedBeyond =
    shortage !== null && isUnsuited(error) && (await refusalOf(shortage.beyond, firstStep)) === null
  throw isCarriedBeyond ? shortage.error : error
}

/** Why none of these can carry the call; null when one can. */
async function refusalOf(
  candidates: readonly Candidate[],
  firstStep: (candidate: Candidate) => unknown,
): Promise<GatewayError | null> {
  let refusal: GatewayError | null = null
  for (const candidate of candidates) {
    try {
      await firstStep(candidate)
      return null
    } catch (error) {
      if (!isUnsuited(error)) throw error
      refusal ??= error
    }
  }
  return refusal
}

/** The route from the first candidate on that can carry the call. */
interface Suited<First> {
  route: readonly Candidate[]
  first: First
}

function suited<First>(
  route: readonly Candidate[],
  firstStep: (candidate: Candidate) => First | Promise<First>,
  state: CallState,
): Suited<First> | Promise<Suited<First>> {
  let refusal: unknown = null
  for (const [index, candidate] of route.entries()) {
    try {
      const first = firstStep(candidate)
      const rest = index === 0 ? route : route.slice(index)
      if (first instanceof Promise) return suitedInTurns(rest, { first, firstStep, state, refusal })
      return { route: rest, first }
    } catch (error) {
      passOver(candidate, error, state)
      refusal ??= error
    }
  }
  throw refusal
}

/** The same of a route for whose candidates the step takes several turns; `first` is the first one's. */
async function suitedInTurns<First>(
  route: readonly Candidate[],
  {
    first,
    firstStep,
    state,
    refusal,
  }: {
    first: Promise<First>
    firstStep: (candidate: Candidate) => First | Promise<First>
    state: CallState
    refusal: unknown
  },
): Promise<Suited<First>> {
  let why = refusal
  for (const [index, candidate] of route.entries()) {
    try {
      const step = await (index === 0 ? first : firstStep(candidate))
      return { route: route.slice(index), first: step }
    } catch (error) {
      passOver(candidate, error, state)
      why ??= error
    }
  }
  throw why
}

/** Notes why a candidate is left out; throws what is no fault of this candidate alone. */
function passOver({ endpoint }: Candidate, error: unknown, state: CallState): void {
  if (!isUnsuited(error)) throw error
  state.excluded = [...state.excluded, exclude(endpoint, 'adapt', error.param ?? error.type)]
}

/** Whether only this endpoint refuses what is asked: another one may be able to carry it. */
export function isUnsuited(error: unknown): error is GatewayError {
  return (
    error instanceof GatewayError &&
    (error.type === 'invalid_request' || error.type === 'no_matching_endpoint')
  )
}

/** As data, where it is data. */
function requestOf(first: Step<unknown, unknown, unknown>): UpstreamRequest | null {
  if (first.type === 'answer') return null
  const { request } = first.exchange
  return request.body === null || Array.isArray(request.body) ? request : null
}

/** Endpoints of the model, and of its fallback models after it, in the order to try. */
function routeCall(
  call: Call,
  requirements: readonly AudioRequirement[],
  state: CallState,
  dependencies: ExecutionDependencies,
): readonly Endpoint[] {
  const asked = routedCallOf(call, requirements, state.scope, state.serving)
  if (call.fallbackModels.length === 0) {
    const routed = routeModel(asked, call.model, dependencies)
    state.excluded = routed.excluded
    return routed.ordered
  }
  const found: Endpoint[] = []
  const excluded: Exclusion[] = []
  let refusal: unknown = null
  for (const model of [call.model, ...call.fallbackModels]) {
    try {
      const routed = routeModel(asked, model, dependencies)
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
function withPrices(
  call: Call,
  route: readonly Candidate[],
  { refusesUnknownPrices }: Pick<ExecutionDependencies, 'refusesUnknownPrices'>,
): Candidate[] {
  const missingAt = (endpoint: Endpoint) => missingPrices(call.demand, endpoint, refusesUnknownPrices)
  const priced = route.filter(
    ({ endpoint, credential }) => credential.isByok || missingAt(endpoint).length === 0,
  )
  const first = route[0]
  if (priced.length > 0 || !first) return priced
  const units = missingAt(first.endpoint).join(', ')
  throw new GatewayError(
    'no_matching_endpoint',
    `${call.model} has no known price for ${units}, so it is not served on a prepaid or limited account; the operator can set one under "prices".`,
    { param: 'model' },
  )
}

interface Held {
  hold: Hold
  affordable: readonly Candidate[]
  /** What of the route the balance cannot pay, and why; null where it can pay all of it. */
  shortage: { error: unknown; beyond: readonly Candidate[] } | null
}

/** Whether the balance does not cover the hold: nothing was asked of anybody. */
export function isShortage(error: unknown): boolean {
  return error instanceof GatewayError && error.type === 'payment_required'
}

function holdFor(
  route: readonly Candidate[],
  amounts: ReadonlyMap<Candidate, bigint>,
  request: (amount: bigint) => Hold | Promise<Hold>,
): Held | Promise<Held> {
  const granted = request(dearest(route, amounts))
  if (!(granted instanceof Promise)) return { hold: granted, affordable: route, shortage: null }
  return granted.then(
    (hold) => ({ hold, affordable: route, shortage: null }),
    async (error: unknown) => {
      const available = availableOf(error)
      const affordable = route.filter((candidate) => (amounts.get(candidate) ?? 0n) <= available)
      if (affordable.length === 0 || affordable.length === route.length) throw error
      const beyond = route.filter((candidate) => !affordable.includes(candidate))
      const hold = await request(dearest(affordable, amounts))
      return { hold, affordable, shortage: { error, beyond } }
    },
  )
}

function dearest(route: readonly Candidate[], amounts: ReadonlyMap<Candidate, bigint>): bigint {
  let most = 0n
  for (const candidate of route) {
    const amount = amounts.get(candidate) ?? 0n
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
  route: readonly Candidate[],
  given: { available: bigint; uncountedTokens: number },
): string {
  const { available } = given
  const fits = route.map(({ endpoint, promptRatio }) =>
    largestOutput(call.demand, endpoint, { ...given, ratio: promptRatio }),
  )
  const largest = Math.max(...fits)
  const limit = operations[call.operation].text?.outputLimit ?? null
  if (limit === null) return `${formatCredits(available)} credits are available.`
  if (largest <= 0)
    return `${formatCredits(available)} credits are available, which does not cover the prompt alone.`
  return `${formatCredits(available)} credits are available; with ${limit} at most ${largest} the call would fit.`
}
