import { assert } from '../core/assert.ts'
import { firstToAnswer } from './attempts/attempts.ts'
import { CallState } from './call/call-state.ts'
import type { ExecutionDependencies } from './dependencies.ts'
import type { CallHooks, Kind, Run } from './call/call-hooks.ts'
import { prepare } from './preparing/prepare.ts'
import type { RequestScope } from './call/scope.ts'
import { settle } from './settling/settle.ts'

/**
 * The one path of every call: prepare, ask until somebody answers, charge, capture, and give the answer out. Rejects with
 * a GatewayError. A call that is over has been captured or has given its hold back, in whatever way it ended.
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

/** A call that may be made: its money is set aside. Whoever prepares it carries it out. */
export function prepareCall<K extends Kind>(
  row: CallHooks<K>,
  call: K['call'],
  scope: RequestScope,
  dependencies: ExecutionDependencies,
): Run<K> | Promise<Run<K>> {
  const state = new CallState(call, scope, dependencies)
  return prepare({ row, call, state, dependencies, asked: [] })
}

/** Makes a prepared call, once. Settles it in whatever way it ends. */
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

/** From now on candidates are asked for this call. */
function askOnlyFor<K extends Kind>(call: K['call'], run: Run<K>): void {
  run.call = call
  run.asked = []
  run.first = null
}

/** A caller who left in the middle pays for what was shown; nobody pays for what was not. */
async function giveUp<K extends Kind>(run: Run<K>): Promise<void> {
  const { answered, callHold, state } = run
  try {
    if (answered && state.scope.signal.aborted) await settle(run, answered, 'cancelled')
  } finally {
    callHold.release()
  }
}
