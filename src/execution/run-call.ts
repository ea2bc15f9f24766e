import { assert } from '../core/assert.ts'
import { firstToAnswer } from './attempts/attempts.ts'
import { CallState } from './call/call-state.ts'
import type { ExecutionDependencies } from './dependencies.ts'
import type { CallHooks, Kind, Run } from './call/call-hooks.ts'
import { prepare } from './preparing/prepare.ts'
import type { RequestScope } from './call/scope.ts'
import { settle } from './settling/settle.ts'

/**
 * The one path of every call: prepare it, ask providers until one answers, charge, capture, and return the answer.
 * Rejects with a GatewayError. However the call ends, its hold is captured or released.
 */
export function runCall<K extends Kind>(
  row: CallHooks<K>,
  call: K['call'],
  scope: RequestScope,
  dependencies: ExecutionDependencies,
): Promise<K['outcome']> {
  const preparing = prepareCall(row, call, scope, dependencies)
  return preparing instanceof Promise ? preparing.then(carryOut) : carryOut(preparing)
}

/** Prepares a call and sets its money aside. The caller passes the run to `carryOut`, which settles the hold. */
export function prepareCall<K extends Kind>(
  row: CallHooks<K>,
  call: K['call'],
  scope: RequestScope,
  dependencies: ExecutionDependencies,
): Run<K> | Promise<Run<K>> {
  const state = new CallState(call, scope, dependencies)
  return prepare({ row, call, state, dependencies, asked: [] })
}

/** Makes a prepared call, once. Settles it however it ends. */
export async function carryOut<K extends Kind>(run: Run<K>): Promise<K['outcome']> {
  const { row } = run
  try {
    const fetching = row.fetch?.(run) ?? null
    if (fetching !== null) askOnlyFor(await fetching, run)
    const answering = firstToAnswer(run)
    const { leaves } = row
    if (leaves.type === 'stream') return await leaves.open(answering, run)
    const answered = await answering
    const charge = await settle(run, answered, 'completed')
    assert(charge, 'a whole answer is settled once')
    return leaves.outcome(answered, charge, run)
  } catch (error) {
    await giveUp(run)
    throw row.failureOf ? row.failureOf(error) : error
  }
}

/** Replaces the run's call; what was prepared for the call before is made again. */
function askOnlyFor<K extends Kind>(call: K['call'], run: Run<K>): void {
  run.call = call
  run.asked = []
  run.first = null
}

/** A caller who left during the answer pays for the part that was shown. Any other unfinished call costs nothing. */
async function giveUp<K extends Kind>(run: Run<K>): Promise<void> {
  const { answered, callHold, state } = run
  try {
    if (answered && state.scope.signal.aborted) await settle(run, answered, 'cancelled')
  } finally {
    callHold.release()
  }
}
