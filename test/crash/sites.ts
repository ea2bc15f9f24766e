import { commitPoints as batchPoints, jobCommitPoints } from '../../src/batches/batch-commit-points.ts'
import { commitPoints as billingPoints } from '../../src/billing/ledger-commit-points.ts'
import { cacheCommitPoints } from '../../src/execution/cached/cached-answer-repository.ts'
import { broadcastCommitPoints } from '../../src/delivery/broadcasts/broadcast-commit-points.ts'
import type { CrashSite } from './crash-plan.ts'

/** Operators' work on accounts: not part of a gateway's own life, so a program of its own does it. */
const accountPoints: ReadonlySet<string> = new Set([
  billingPoints.grant,
  billingPoints.refund,
  billingPoints.deadLetter,
])

/** Passed by batches that a provider runs as jobs of its own. */
export const jobPoints: ReadonlySet<string> = new Set(jobCommitPoints)

/** What a gateway does about broadcasts; to tell something again is an operator's command, and one unit. */
export const toldPoints: readonly string[] = [
  broadcastCommitPoints.claim,
  broadcastCommitPoints.record,
  broadcastCommitPoints.trim,
]

/** What it does about answers that are given again. */
const cachePoints: readonly string[] = Object.values(cacheCommitPoints)

const allPoints: readonly string[] = [
  ...Object.values(billingPoints),
  ...batchPoints,
  ...toldPoints,
  ...cachePoints,
]

/** Every commit point in the code, before and after. */
export const allSites: readonly CrashSite[] = allPoints.flatMap((point) => [
  { point, when: 'before' as const },
  { point, when: 'after' as const },
])

/** Those that work on accounts passes. */
export const accountSites = allSites.filter(({ point }) => accountPoints.has(point))
