import { leasesPerRoundMax } from '../../core/limits/billing.ts'
import { commitPoints } from '../ledger-commit-points.ts'
import { answerOf, type Ledger } from '../ledger/ledger-repository.ts'
import { closeLease, drainLease, type LeaseRow } from './lease-repository.ts'
import type { LedgerStatement } from '../ledger/ledger-statement.ts'

/** Pages of a dead process's leases freed in one round: a hundred thousand leases. */
const reapPagesMax = 1_000

/** Figures since the start. */
export interface ReaperStats {
  leasesReaped: number
  /** The sum of the holds of calls whose process died. Those calls spent at most this, and it is billed to no account. */
  abandonedNanocredits: bigint
}

/**
 * Ends the leases of other processes. An expired lease loses at once what it does not hold; the held part returns when
 * the longest call that may still run has ended. A lease whose owner is known to be dead ends at once. Every step is
 * conditional on the row being as it was read, so any number of processes may reap at the same time.
 */
export class Reaper {
  readonly stats: ReaperStats = { leasesReaped: 0, abandonedNanocredits: 0n }
  readonly #ledger: Ledger
  readonly #isMine: (leaseId: string) => boolean

  /** `isMine`: leases that this process itself still knows are left alone. */
  constructor(ledger: Ledger, isMine: (leaseId: string) => boolean) {
    this.#ledger = ledger
    this.#isMine = isMine
  }

  /** One bounded round. Rejects when storage cannot be read; the next round makes up for it. */
  async reap(): Promise<void> {
    for (const ownerId of await this.#ledger.listOtherOwners(leasesPerRoundMax)) {
      if (await this.#ledger.isOwnerDead(ownerId)) await this.#endAllOf(ownerId)
    }
    const expired = await this.#ledger.listExpiredLeases(leasesPerRoundMax)
    await Promise.all(
      expired.filter((lease) => !this.#isMine(lease.leaseId)).map((lease) => this.#end(lease)),
    )
  }

  /** Pages until none is left, so that after a crash a restart frees everything before its first call. */
  async #endAllOf(ownerId: string): Promise<void> {
    for (let page = 0; page < reapPagesMax; page += 1) {
      const leases = await this.#ledger.listLeasesOf(ownerId, leasesPerRoundMax)
      const ended = await Promise.all(leases.map((lease) => this.#close(lease, true)))
      if (leases.length < leasesPerRoundMax || !ended.includes(true)) return
    }
  }

  async #end(lease: LeaseRow): Promise<boolean> {
    if (lease.state === 'draining' || lease.held === 0n) return this.#close(lease, false)
    return this.#commit(lease, drainLease(lease))
  }

  async #close(lease: LeaseRow, isOwnerDead: boolean): Promise<boolean> {
    const condition = lease.state === 'draining' ? 'held over' : 'expired'
    const isEnded = await this.#commit(lease, closeLease(lease, isOwnerDead ? 'at once' : condition))
    if (isEnded) this.stats.abandonedNanocredits += lease.held
    return isEnded
  }

  async #commit(lease: LeaseRow, statements: readonly LedgerStatement[]): Promise<boolean> {
    if (lease.state === 'closed') return false
    const outcome = await this.#ledger.commit(commitPoints.reap, statements)
    const isEnded = answerOf(outcome).type === 'committed'
    if (isEnded) this.stats.leasesReaped += 1
    return isEnded
  }
}
