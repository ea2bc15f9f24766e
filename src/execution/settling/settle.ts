import type { ShownCharge } from '../../canonical/upstream.ts'
import type { GatewayError } from '../../core/errors.ts'
import { coveredCharge } from './covered-charge.ts'
import type { CallerRest } from './caller-rest.ts'
import type { CallEnding } from '../call/charge.ts'
import type { Answered, Kind, Run } from '../call/call-hooks.ts'

/**
 * Charges a call for its answer and captures the charge, once, in whatever way the answer ended. Resolves when the capture
 * is durable, with what the caller is shown of the charge; with null when the call had been settled before, or when what
 * there is of the answer costs nothing.
 */
export async function settle<K extends Kind>(
  run: Run<K>,
  answered: Answered<K['heard']>,
  ending: CallEnding,
): Promise<ShownCharge | null> {
  const { row, state, callHold } = run
  if (callHold.isSettled) return null
  const { attempt, value } = answered
  attempt.endedMs ??= state.elapsedMs()
  if (ending !== 'completed' && !row.isOwed(value, ending)) {
    callHold.release()
    return null
  }
  const covered = coveredCharge(state, callHold, { attempt, reading: row.reading(answered, run), ending })
  const charge = covered instanceof Promise ? await covered : covered
  const shown = ending !== 'completed' || row.hasShown(value) ? 'part' : 'nothing'
  await callHold.capture(charge.row, shown)
  return charge.shown
}

/** The same of a stream that ended early. Never rejects: its caller is told nothing any more. */
export async function settleEarly<K extends Kind>(
  run: Run<K>,
  answered: Answered<K['heard']>,
  ending: CallEnding,
): Promise<void> {
  try {
    await settle(run, answered, ending)
  } catch (error) {
    const { state, dependencies } = run
    dependencies.warn('a capture after a hang-up is late', {
      generation_id: state.generationId,
      error: String(error),
    })
  }
}

/**
 * How a stream ended that cannot go on, which decides who pays. A provider that a caller kept waiting gives up: then it is
 * the caller who left. A whole answer in another form than the one asked for has been shown, and is paid as well.
 */
export function endingOfBreak(error: GatewayError, { wasJustLong }: CallerRest, isBroken = true): CallEnding {
  return error.type === 'unfit_answer' || (isBroken && wasJustLong) ? 'cancelled' : 'failed'
}
