import type { Clock } from '../core/clock.ts'
import type { CallLine } from './call-line.ts'
import type { Logger } from './logger.ts'

/** How often a line is written for one batch, deployment and error type, and how many of these are remembered. */
export const batchLineEveryMs = 300_000
const batchLinesMax = 10_000

/**
 * Tells the operator that a provider fails items of a batch, with the provider's own words: items have no request lines.
 * One line at the first failure of a batch, deployment and error type, and then one every few minutes while it goes on.
 */
export interface BatchLines {
  /** One item has ended, or is put back to be tried again. */
  record(batchId: string, facts: Pick<CallLine, 'tried'>): void
}

/** What was logged about one batch, deployment and error type. */
interface Told {
  atMs: number
  /** Failed attempts since then. */
  untold: number
}

/** Remembers a bounded number. The one logged longest ago is forgotten, and logged again if it goes on. */
export function createBatchLines({ clock, log }: { clock: Clock; log: Pick<Logger, 'warn'> }): BatchLines {
  const tellings = new Map<string, Told>()

  return {
    record(batchId, { tried }) {
      for (const { outcome, deployment, model, status, errorType, said } of tried) {
        if (outcome !== 'failed') continue
        const name = `${batchId} ${deployment} ${errorType}`
        const nowMs = clock.monotonicMs()
        const told = tellings.get(name)
        if (told && nowMs - told.atMs < batchLineEveryMs) {
          told.untold += 1
          continue
        }
        // Deleting first moves it to the end, so that the first entry is the one logged longest ago.
        tellings.delete(name)
        makeRoom(tellings)
        tellings.set(name, { atMs: nowMs, untold: 0 })
        const failures = 1 + (told?.untold ?? 0)
        log.warn('a provider fails items of a batch', {
          batch_id: batchId,
          deployment,
          model,
          ...(status === null ? {} : { status }),
          error_type: errorType,
          failures,
          ...(said === null ? {} : { said }),
        })
      }
    },
  }
}

function makeRoom(tellings: Map<string, Told>): void {
  for (const oldest of tellings.keys()) {
    if (tellings.size < batchLinesMax) return
    tellings.delete(oldest)
  }
}
