/**
 * Names of the units that billing commits, in one place, so that a crash test can stop the process before and after
 * every one of them and a log line can be found in the code.
 */
export const commitPoints = {
  capture: 'ledger.capture',
  /** A capture that storage refuses for ever becomes a dead letter; refused calls that have no capture are listed here too. */
  deadLetter: 'ledger.dead_letter',
  refund: 'ledger.refund',
  grant: 'credits.grant',
  ensure: 'budget.ensure',
  recall: 'budget.recall',
  take: 'lease.take',
  renew: 'lease.renew',
  giveBack: 'lease.return',
  reap: 'lease.reap',
  rollUp: 'usage.roll_up',
  saveStats: 'model_stats.save',
} as const

/** The name of one unit of billing. */
export type LedgerCommitPoint = (typeof commitPoints)[keyof typeof commitPoints]
