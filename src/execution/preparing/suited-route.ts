import type { BudgetRef } from '../../billing/budgets/budget-ids.ts'
import type { Hold } from '../../billing/budgets/hold.ts'
import type { Step } from '../../canonical/steps.ts'
import type { UpstreamRequest } from '../../canonical/upstream.ts'
import type { GatewayError } from '../../core/errors.ts'
import { exclude } from '../../routing/exclusion.ts'
import type { CallState } from '../call/call-state.ts'
import { isUnsuited } from '../call/failures.ts'
import type { Asking, Begun, Kind, Run, StepOf } from '../call/call-hooks.ts'
import type { Candidate, Prepared } from '../call/prepared.ts'
import { CallHold } from '../call/call-hold.ts'

/** What was set aside for a call, and the candidates that it pays for. */
export interface Held {
  hold: Hold
  affordable: readonly Candidate[]
  /** The candidates that the balance cannot pay, and the error that says so; null where it can pay all of them. */
  shortage: { error: unknown; beyond: readonly Candidate[] } | null
}

/**
 * Turns the call into a run whose route begins with the first candidate that can carry it. When none can, gives the
 * hold back and throws the reason.
 */
export function adaptFirst<K extends Kind>(
  { hold, affordable, shortage }: Held,
  budgets: readonly BudgetRef[],
  begun: Begun<K>,
): Run<K> | Promise<Run<K>> {
  const { state, dependencies } = begun
  const callHold = new CallHold(hold, {
    billing: dependencies.billing,
    scope: state.scope,
    budgets,
    place: state,
  })
  const held = { amountNanocredits: hold.amount, budgets }
  try {
    const found = suited(affordable, begun)
    if (found instanceof Promise) return adaptLater(found, { held, callHold, shortage }, begun)
    return runOf(found, held, callHold, begun)
  } catch (error) {
    return refuse(error, { callHold, shortage, begun })
  }
}

async function adaptLater<K extends Kind>(
  found: Promise<Suited<K>>,
  { held, callHold, shortage }: { held: Prepared['hold']; callHold: CallHold; shortage: Held['shortage'] },
  begun: Begun<K>,
): Promise<Run<K>> {
  try {
    return runOf(await found, held, callHold, begun)
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

/**
 * No affordable candidate can carry the call. Throws the shortage when a dearer candidate could, else the given error.
 */
async function refuse<K extends Kind>(
  error: unknown,
  { callHold, shortage, begun }: { callHold: CallHold; shortage: Held['shortage']; begun: Begun<K> },
): Promise<never> {
  callHold.release()
  const isCarriedBeyond =
    shortage !== null && isUnsuited(error) && (await refusalOf(shortage.beyond, begun)) === null
  throw isCarriedBeyond ? shortage.error : error
}

/** Why none of these candidates can carry the call; null when one can. */
export async function refusalOf<K extends Kind>(
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
  let index = 0
  for (const candidate of route) {
    try {
      const first = firstStepAt(candidate, begun)
      const rest = index === 0 ? route : route.slice(index)
      if (first instanceof Promise) return suitedInTurns(rest, first, { begun, refusal })
      return { route: rest, first }
    } catch (error) {
      passOver(candidate, error, begun.state)
      refusal ??= error
      index += 1
    }
  }
  throw refusal
}

/**
 * The same for a route whose candidates take several turns for their first step; `first` is the step of the first one.
 */
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

/** Notes why a candidate is left out; throws an error that does not concern this candidate alone. */
function passOver({ endpoint }: Candidate, error: unknown, state: CallState): void {
  if (!isUnsuited(error)) throw error
  state.excluded = [...state.excluded, exclude(endpoint, 'adapt', error.param ?? error.type)]
}

/** The request where it is plain data; null for an answer, or for a body that is a file. */
function requestOf(first: Step<unknown, unknown, unknown>): UpstreamRequest | null {
  if (first.type === 'answer') return null
  const { request } = first.exchange
  return request.body === null || Array.isArray(request.body) ? request : null
}

/** What the candidate is asked, made when it is needed for the first time. Throws what the row's `ask` throws. */
export function askingAt<K extends Kind>(candidate: Candidate, begun: Begun<K>): Asking<K> {
  for (const known of begun.asked) if (known.candidate === candidate) return known
  const asking = begun.row.ask(candidate, begun)
  begun.asked.push(asking)
  return asking
}
