import type { InvariantsRepository } from './invariants-repository.ts'

/** A broken invariant, for `headrace doctor` and for tests. */
export interface InvariantFinding {
  invariant: InvariantName
  /** Which row: a transaction, lease, generation, budget or account. */
  subject: string
  detail: string
}
/** What must be true of the money at any moment. */
export type InvariantName =
  | 'postings sum to zero'
  | 'captured and held are within granted'
  | 'every charge has one capture'
  | 'holds have an owner'
  | 'balance is the sum of postings'
  | 'usage is what was rolled up and the tail'
  | 'granted is what leases, batches and captures account for'

/** All broken invariants of the money, at most `limit` findings for each; empty when all is well. */
export async function checkInvariants(
  repository: InvariantsRepository,
  limit = 100,
): Promise<InvariantFinding[]> {
  const [unbalanced, overdrawn, uncaptured, leases, budgets, credits, rollups] = await Promise.all([
    repository.listUnbalancedTransactions(limit),
    repository.listOverdrawnLeases(limit),
    repository.listUnmatchedCharges(limit),
    repository.listHeldLeases(limit),
    repository.listMisgrantedBudgets(limit),
    repository.listMisbalancedCredits(limit),
    repository.listMisrolledUsage(limit),
  ])
  const findings: InvariantFinding[] = []
  const add = (invariant: InvariantName, rows: readonly { subject: string; detail: string }[]): void => {
    for (const row of rows) findings.push({ invariant, ...row })
  }
  add('postings sum to zero', unbalanced)
  add('captured and held are within granted', overdrawn)
  add('every charge has one capture', uncaptured)
  add('granted is what leases, batches and captures account for', budgets)
  add('balance is the sum of postings', credits)
  add('usage is what was rolled up and the tail', rollups)
  for (const lease of leases) {
    if (await repository.isOwnerDead(lease.ownerId)) add('holds have an owner', [lease])
  }
  return findings
}
