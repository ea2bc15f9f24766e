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
import { isUnsuited } from './failures.ts'
import { askingAt, type Begun, type Kind, type Run, type StepOf } from './call-hooks.ts'
import { operations } from './operations.ts'
import type { Candidate, Prepared } from './prepared.ts'
import { routedCallOf, routeModel } from './route-model.ts'
import { CallHold } from './call-hold.ts'

/**
 * Policy, route, hold, then adapt. What is held is enough for the dearest endpoint the route may try; when that is too
 * much, the route is cut to the endpoints the balance can pay before the call is refused. Endpoints that cannot carry
 * what is asked are passed over, and when none is left the caller is told why the first of them cannot, also where the
 * balance is too small: more money would not help. At once when the money is in memory, as it mostly is.
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
  const endpoints = routeCall(call, row.requirements(begun.call, state), state, dependencies)
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
  const adapt = (held: Held) => adaptFirst(held, budgets, begun)
  const granted = holdFor(route, amounts, request)
  if (!(granted instanceof Promise)) return adapt(granted)
  return granted.then(adapt, async (error: unknown) => {
    throw isShortage(error) ? ((await refusalOf(route, begun)) ?? error) : error
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

function adaptFirst<K extends Kind>(
  { hold, affordable, shortage }: Held,
  budgets: readonly BudgetRef[],
  begun: Begun<K>,
): Run<K> | Promise<Run<K>> {
  const { state, dependencies } = begun
  const callHold = new CallHold(hold, {
    billing: dependencies.billing,
    scope: state.scope,
    budgets,
    onSettled: () => state.releasePermit(),
  })
  const held = { amountNanocredits: hold.amount, budgets }
  try {
    const found = suited(affordable, begun)
    if (!(found instanceof Promise)) return runOf(found, held, callHold, begun)
    return found
      .then((each) => runOf(each, held, callHold, begun))
      .catch((error) => refuse(error, { callHold, shortage, begun }))
  } catch (error) {
    return refuse(error, { callHold, shortage, begun })
  }
}

function runOf<K extends Kind>(
  { route, first }: Suited<K>,
  hold: Prepared['hold'],
  callHold: CallHold,
  { row, call, state, dependencies, asked }: Begun<K>,
): Run<K> {
  const prepared: Prepared = {
    generationId: state.generationId,
    operation: call.operation,
    owner: state.owner(),
    attribution: state.scope.attribution ?? {},
    createdAtMs: state.createdAtMs,
    isStreamed: call.kind === 'text' && call.stream,
    demand: call.demand,
    route,
    hold,
    request: requestOf(first),
  }
  state.prepared = prepared
  return { row, call, state, dependencies, asked, prepared, callHold, first, answered: null }
}

/** Nothing of the route carries the call; where the balance cannot pay what would, that is the reason. */
async function refuse<K extends Kind>(
  error: unknown,
  { callHold, shortage, begun }: { callHold: CallHold; shortage: Held['shortage']; begun: Begun<K> },
): Promise<never> {
  callHold.release()
  const isCarriedBeyond =
    shortage !== null && isUnsuited(error) && (await refusalOf(shortage.beyond, begun)) === null
  throw isCarriedBeyond ? shortage.error : error
}

/** Why none of these can carry the call; null when one can. */
async function refusalOf<K extends Kind>(
  candidates: readonly Candidate[],
  begun: Begun<K>,
): Promise<GatewayError | null> {
  let refusal: GatewayError | null = null
  for (const candidate of candidates) {
    try {
      await firstStepAt(candidate, begun)
      return null
    } catch (error) {
      if (!isUnsuited(error)) throw error
      refusal ??= error
    }
  }
  return refusal
}

function firstStepAt<K extends Kind>(candidate: Candidate, begun: Begun<K>): StepOf<K> | Promise<StepOf<K>> {
  return begun.row.firstStep(askingAt(candidate, begun), begun)
}

/** The route from the first candidate on that can carry the call. */
interface Suited<K extends Kind> {
  route: readonly Candidate[]
  first: StepOf<K>
}

function suited<K extends Kind>(
  route: readonly Candidate[],
  begun: Begun<K>,
): Suited<K> | Promise<Suited<K>> {
  let refusal: unknown = null
  for (const [index, candidate] of route.entries()) {
    try {
      const first = firstStepAt(candidate, begun)
      const rest = index === 0 ? route : route.slice(index)
      if (first instanceof Promise) return suitedInTurns(rest, first, { begun, refusal })
      return { route: rest, first }
    } catch (error) {
      passOver(candidate, error, begun.state)
      refusal ??= error
    }
  }
  throw refusal
}

/** The same of a route for whose candidates the step takes several turns; `first` is the first one's. */
async function suitedInTurns<K extends Kind>(
  route: readonly Candidate[],
  first: Promise<StepOf<K>>,
  { begun, refusal }: { begun: Begun<K>; refusal: unknown },
): Promise<Suited<K>> {
  let why = refusal
  for (const [index, candidate] of route.entries()) {
    try {
      const step = await (index === 0 ? first : firstStepAt(candidate, begun))
      return { route: route.slice(index), first: step }
    } catch (error) {
      passOver(candidate, error, begun.state)
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
