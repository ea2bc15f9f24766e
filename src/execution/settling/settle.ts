import type { ShownCharge } from '../../canonical/upstream.ts'
import type { GatewayError } from '../../core/errors.ts'
import { coveredCharge } from './covered-charge.ts'
import type { CallerRest } from './caller-rest.ts'
import type { CallEnding } from '../call/charge.ts'
import type { Answered, Kind, Run } from '../call/call-hooks.ts'

/**
 * Charges a call for its answer and captures the charge, once, however the answer ended. Resolves when the capture is
 * durable, with what the caller is shown of the charge; with null when the call was settled before, or when the caller
 * owes nothing for this part of an answer.
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

/** The same for a stream that ended early. Never rejects, because the caller cannot be told any more. */
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
 * How a stream that cannot go on is settled, which decides who pays. When a provider gave up because the caller kept it
 * waiting, the caller counts as having left. A whole answer in another form than the requested one has been shown, and
 * is paid for as well.
 */
export function endingOfBreak(error: GatewayError, { wasJustLong }: CallerRest, isBroken = true): CallEnding {
  return error.type === 'unfit_answer' || (isBroken && wasJustLong) ? 'cancelled' : 'failed'
}
